package sent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// rendered are the schemes of what a turn saw and said, which are rendered when they are read.
var rendered = []string{"system", "user", "reasoning", "model", "content"}

// Rendered is the turn whose text a path names, such as user://3; false is any other path, which is read from the store.
func Rendered(path string) (scheme string, turn int, is bool) {
	scheme, number, found := strings.Cut(path, "://")
	turn, err := strconv.Atoi(number)
	return scheme, turn, found && err == nil && turn > 0 && strconv.Itoa(turn) == number && slices.Contains(rendered, scheme)
}

// Names reports whether a path is one that Entry renders.
func (r *Reader) Names(path string) bool {
	_, _, is := Rendered(path)
	return is
}

// Entry renders what a path names that Rendered takes: system:// and user:// what the model was sent, reasoning:// and content://
// what it thought and what it said outside of calls, model:// what is known of the answer, as JSON.
func (r *Reader) Entry(ctx context.Context, run sdk.Run, path string) (sdk.Entry, error) {
	scheme, turn, is := Rendered(path)
	if !is {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no entry %s", path)
	}
	if scheme == "system" || scheme == "user" {
		p, err := r.Packet(ctx, run, turn)
		if err != nil {
			return sdk.Entry{}, err
		}
		attributes, err := json.Marshal(struct {
			Hash string         `json:"hash"`
			Same bool           `json:"same"`
			Gone []rpc.GoneText `json:"gone,omitempty"`
		}{p.Hash, p.Same, p.Gone})
		return entry(run, p.Loop, turn, path, side(&p, scheme == "system"), attributes), err
	}
	said, err := r.reply(ctx, run, turn)
	if err != nil {
		return sdk.Entry{}, err
	}
	reply, err := sdk.ReplyOf(said.Attributes)
	if err != nil {
		return sdk.Entry{}, fmt.Errorf("read %s: %w", said.Path, err)
	}
	var text string
	switch scheme {
	case "reasoning":
		text = reply.Reasoning
	case "content":
		text = strings.TrimSpace(reply.Said(said.Body))
	case "model":
		if text, err = facts(reply); err != nil {
			return sdk.Entry{}, err
		}
	}
	if text == "" {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "the answer of turn %d of the run %s has nothing that %s names", turn, run.Alias, path)
	}
	return entry(run, said.Loop, turn, path, text, nil), nil
}

// reply is the entry of what a model answered in a turn.
func (r *Reader) reply(ctx context.Context, run sdk.Run, turn int) (sdk.Entry, error) {
	found, err := r.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Path: sdk.ReplyPath(turn)})
	switch {
	case err != nil && sdk.OutcomeOf(err) != sdk.NotFound:
		return sdk.Entry{}, err
	case len(found) == 0:
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "no model answered in turn %d of the run %s", turn, run.Alias)
	}
	return found[0], nil
}

func entry(run sdk.Run, loop int64, turn int, path, body string, attributes json.RawMessage) sdk.Entry {
	return sdk.Entry{
		Path: path, Body: body, Attributes: attributes, Visibility: sdk.Archived, State: sdk.StateResolved, Writer: sdk.WriterSystem,
		Scope: fmt.Sprintf("run:%d", run.ID), Hash: digest(body), Loop: loop, Turn: turn, Version: 1,
	}
}

// side are the texts of one side of a packet: the system text, or all other messages, each under who speaks when there are
// several.
func side(p *rpc.Packet, system bool) string {
	var messages []sdk.Message
	for _, m := range p.Messages {
		if (m.Role == sdk.RoleSystem) == system {
			messages = append(messages, m)
		}
	}
	if len(messages) == 1 && messages[0].Calls == nil {
		return messages[0].Text
	}
	return Text(messages)
}

// Text is messages for people: each under who speaks, with what it calls or answers.
func Text(messages []sdk.Message) string {
	var b strings.Builder
	for i := range messages {
		m := &messages[i]
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "[%s", m.Role)
		if m.Role == sdk.RoleTool {
			fmt.Fprintf(&b, " %s, %s", m.Tool, m.CallID)
		}
		b.WriteString("]\n" + m.Text)
		for _, medium := range m.Media {
			fmt.Fprintf(&b, "\n[%s %s]", medium.Kind, medium.URI)
		}
		for _, call := range m.Calls {
			fmt.Fprintf(&b, "\n[calls %s, %s]\n%s", call.Tool, call.ID, call.Arguments)
		}
	}
	return b.String()
}

// facts are what is known of an answer beside its texts.
func facts(r sdk.Reply) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Model    string     `json:"model"`
		Finish   string     `json:"finish,omitempty"`
		Calls    int        `json:"calls"`
		Usage    *sdk.Usage `json:"usage,omitempty"`
		Context  int        `json:"context,omitempty"`
		Estimate int        `json:"estimate,omitempty"`
		Partial  bool       `json:"partial,omitempty"`
	}{r.Model, r.Finish, len(r.Calls) + len(r.Found), r.Usage, r.Context, r.Estimate, r.Partial})
	return strings.TrimSuffix(b.String(), "\n"), err
}
