package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// takeGroup does what somebody wrote. Who is not listed gets no answer, and nothing is fetched for them.
func (f *front) takeGroup(ctx context.Context, g group) error {
	m := g[0]
	person := m.person()
	if person == "" || m.From.Bot || m.Chat.Type == "channel" {
		return nil
	}
	known, err := f.listed(ctx, m)
	if err != nil || !known {
		return err
	}
	if g = f.records.of(m.place()).taken(g); len(g) == 0 {
		return nil
	}
	m = g[0]
	if is, err := f.reply(ctx, m, g.words()); is || err != nil {
		return err
	}
	text, addressed := f.addressed(g)
	if !addressed {
		return nil
	}
	if m.Album == "" && !m.borrowed() {
		if name, rest, is := command(text, f.me.Username); is {
			return f.command(ctx, m, name, rest)
		}
	}
	files, others := g.files()
	if len(others) > 0 {
		if err := f.tell(ctx, m.place(), "I cannot take "+strings.Join(others, " and ")+": write it, please."); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" && len(files) == 0 {
		return nil
	}
	return f.prompt(ctx, g, text, files)
}

// addressed is what the group of messages says to the bot. In a chat of many that is what names it, or replies to it.
func (f *front) addressed(g group) (text string, is bool) {
	m := g[0]
	if m.alone() {
		return g.words(), true
	}
	name := "@" + f.me.Username
	for _, part := range g {
		for _, e := range part.marks() {
			word := part.part(e)
			if e.Type == "mention" && strings.EqualFold(word, name) {
				return strings.TrimSpace(strings.Replace(g.words(), word, "", 1)), true
			}
			if e.Type == "bot_command" && strings.HasSuffix(strings.ToLower(word), strings.ToLower(name)) {
				return g.words(), true
			}
		}
	}
	return g.words(), m.ReplyTo != nil && m.ReplyTo.From.ID == f.me.ID
}

// part is what an entity marks; empty where it marks nothing.
func (m *message) part(e entity) string {
	code := utf16.Encode([]rune(m.words()))
	if e.Offset < 0 || e.Length < 0 || e.Offset > len(code) || e.Length > len(code)-e.Offset {
		return ""
	}
	return string(utf16.Decode(code[e.Offset : e.Offset+e.Length]))
}

// from says whom a message is from.
func (m *message) from() *sdk.From {
	from := &sdk.From{Person: m.person(), Message: number(m.ID)}
	if !m.alone() {
		from.Conversation = number(m.Chat.ID)
	}
	if p := m.place(); p.Thread != 0 {
		from.Thread = number(p.Thread)
	}
	return from
}

// prompt gives the daemon what a group says. When it returns without an error the daemon has it, or never will.
func (f *front) prompt(ctx context.Context, g group, text string, files []attachment) error {
	m := g[0]
	r := f.records.of(m.place())
	run, err := f.resumed(ctx, r)
	if err != nil {
		return f.trouble(ctx, m.place(), err)
	}
	p := rpc.Prompt{Project: f.project, Run: run.Alias, Prompt: text, Agent: r.Agent, Model: r.Model, Key: number(m.ID), From: m.from()}
	if m.borrowed() {
		p.Quoted = len(text) // somebody else's words
	}
	if err := f.attach(ctx, m, &p, files); err != nil {
		return f.trouble(ctx, m.place(), err)
	}
	var accepted rpc.Accepted
	err = f.daemon.Call(ctx, rpc.MethodAct, p, &accepted)
	if o := sdk.OutcomeOf(err); len(p.Media) > 0 && (o == sdk.Validation || o == sdk.Overflow) { // a model that sees nothing, or not that, has the files all the same
		p.Media = nil
		err = f.daemon.Call(ctx, rpc.MethodAct, p, &accepted)
	}
	if sdk.OutcomeOf(err) == sdk.Conflict && len(g) > 1 {
		return f.apart(ctx, g, p, err)
	}
	if err != nil {
		return f.trouble(ctx, m.place(), err)
	}
	return f.given(ctx, g, accepted)
}

// apart gives a group in two where the daemon has its first message already, without those that came later: the first
// ones as they were given, and the others by themselves.
func (f *front) apart(ctx context.Context, g group, p rpc.Prompt, conflict error) error {
	for n := len(g) - 1; n > 0; n-- {
		first := g[:n]
		p.Prompt, _ = f.addressed(first)
		p.Quoted = min(p.Quoted, len(p.Prompt))
		err := f.daemon.Call(ctx, rpc.MethodAct, p, nil)
		if sdk.OutcomeOf(err) == sdk.Conflict {
			continue
		}
		if err != nil {
			return f.trouble(ctx, g[0].place(), err)
		}
		if err := f.takeGroup(ctx, first); err != nil {
			return err
		}
		return f.takeGroup(ctx, g[n:])
	}
	return f.trouble(ctx, g[0].place(), conflict)
}

// trouble tells a person why something was not done. It is an error where it will be done later.
func (f *front) trouble(ctx context.Context, to place, err error) error {
	if isLost(ctx, err) {
		return err
	}
	return f.tell(ctx, to, fmt.Sprintf("That was not taken: %v", err))
}
