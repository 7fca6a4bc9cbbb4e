package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

const (
	mostOutput = 16 << 10 // bytes of a result that the editor gets
	mostLive   = 8 << 10  // and of what a command prints, while it works: each piece has all of it anew
	mostInput  = 64 << 10
	mostTitle  = 120
)

// call is what the editor was told of a call.
type call struct {
	action    *timeline.Action
	told      bool
	status    acp.ToolCallStatus
	arguments string
	live      string                // the end of what it printed so far, in its order
	diffs     []acp.ToolCallContent // what it changed in files
	elsewhere string                // who answered its question, where that was not the editor
	screen    screen                // where the editor shows it as a terminal
}

// statusOf is how far a call is.
func statusOf(a *timeline.Action) acp.ToolCallStatus {
	switch {
	case a.State == sdk.StateResolved:
		return acp.ToolCallStatusCompleted
	case a.State.Ended():
		return acp.ToolCallStatusFailed
	case a.State != sdk.StateProposed && a.Phase == sdk.PhaseStarted:
		return acp.ToolCallStatusInProgress
	}
	return acp.ToolCallStatusPending
}

// action tells of a call what a row changed.
func (t *teller) action(row sdk.JournalRow, a *timeline.Action) {
	if a == nil || a.IsError() {
		return
	}
	c := t.calls[a.Path]
	if c == nil {
		c = &call{action: a}
		t.calls[a.Path] = c
	}
	printed := row.Kind == sdk.KindEntryChunk && row.Body != nil
	if printed {
		c.live = sdk.Tail(c.live+*row.Body, mostLive)
	}
	status, arguments := statusOf(a), string(a.ExactArguments())
	same := c.told && status == c.status && arguments == c.arguments
	if same && !printed {
		return
	}
	if same && c.screen.begun {
		t.print(c, *row.Body)
		return
	}
	again := c.told && arguments == c.arguments
	c.told, c.status, c.arguments = true, status, arguments
	t.tellCall(c, !again)
	if printed && c.screen.begun {
		t.print(c, *row.Body)
	}
	if c.screen.begun && a.State.Ended() {
		t.exit(c)
	}
}

// tellCall tells of a call as it is. Whole is with what was called.
func (t *teller) tellCall(c *call, whole bool) {
	a := c.action
	c.screen.begun = c.screen.begun || whole && t.hasScreen(c)
	content := t.content(c)
	if !whole {
		t.update(acp.SessionUpdate{ToolCallUpdate: &acp.SessionToolCallUpdate{ToolCallId: acp.ToolCallId(a.Path), Status: &c.status, Content: content}})
		return
	}
	head := t.s.headOf(a.Tool, a.ExactArguments())
	t.update(acp.SessionUpdate{ToolCall: &acp.SessionUpdateToolCall{
		ToolCallId: acp.ToolCallId(a.Path), Title: head.title, Kind: head.kind, Locations: head.places, RawInput: head.input, Status: c.status, Content: content, Meta: t.screenInfo(c),
	}})
}

// head is what a call is, whatever becomes of it.
type head struct {
	title  string
	kind   acp.ToolKind
	places []acp.ToolCallLocation
	input  any
}

// headOf describes a call: that of a tool that runs commands by the command.
func (s *session) headOf(name string, arguments json.RawMessage) head {
	t := s.b.tool(name)
	h := head{kind: kindOf(t, name)}
	if h.kind != acp.ToolKindExecute {
		h.places = places(arguments, s.project)
	}
	h.title = show.Shorten(titleOf(t, name, arguments, h.places, s.project), mostTitle)
	if len(arguments) <= mostInput && json.Valid(arguments) {
		h.input = arguments
	}
	return h
}

// titleOf says in a line what a call is about: a command, the files that it names, or its arguments.
func titleOf(t sdk.Tool, name string, arguments json.RawMessage, places []acp.ToolCallLocation, project string) string {
	if command := textArgument(arguments, t.Command); command != "" {
		return show.Line(show.OneLine(command))
	}
	title := show.Line(name)
	for _, l := range places {
		inside, _ := filepath.Rel(project, l.Path) // it lies there
		title += " " + show.Line(inside)
	}
	if about := show.Arguments(arguments); len(places) == 0 && about != "{}" && about != "" {
		title += " " + about
	}
	return title
}

// textArgument is the argument of a name that is a text.
func textArgument(arguments json.RawMessage, name string) (text string) {
	names, values, _ := show.Members(arguments)
	if i := slices.Index(names, name); name != "" && i >= 0 {
		_ = json.Unmarshal(values[i], &text) // another kind of value is no text
	}
	return text
}

// content is what a call shows: what it would change while it is asked about, what it prints
// while it works, and then what came of it.
func (t *teller) content(c *call) (all []acp.ToolCallContent) {
	a := c.action
	if c.elsewhere != "" {
		all = append(all, plain("Answered elsewhere: "+c.elsewhere+"."))
	}
	if c.screen.begun {
		all = append(all, terminal(c))
	}
	switch {
	case a.State == sdk.StateProposed && a.Proposal != nil:
		return append(all, diffs(a.Proposal.Diff, t.s.project)...)
	case !a.State.Ended() && c.screen.begun:
		return all
	case !a.State.Ended() && a.Child != nil:
		return append(all, plain(t.work(a)))
	case !a.State.Ended():
		return append(all, output(c.live)...)
	}
	made, tool := c.diffs, t.s.b.tool(a.Tool)
	if len(made) == 0 && kindOf(tool, a.Tool) == acp.ToolKindEdit { // a tool may have told by itself
		made = diffs(a.Body, t.s.project)
	}
	all = append(all, made...)
	body := a.Body
	if body == a.Error {
		body = "" // the end says it
	}
	if !c.screen.begun && (len(made) == 0 || a.State != sdk.StateResolved || tool.Command != "") {
		all = append(all, output(body)...)
	}
	if a.State != sdk.StateResolved {
		all = append(all, plain(show.Ending(&a.Action)))
	}
	return all
}

// plain is a text of the bridge's own, or one that was made harmless.
func plain(text string) acp.ToolCallContent { return acp.ToolContent(acp.TextBlock(text)) }

// output is what a program printed, as a block of code: the middle of a long one is left out.
func output(text string) []acp.ToolCallContent {
	text = strings.TrimRight(show.Output(middleCut(text, mostOutput)), "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []acp.ToolCallContent{plain(fenced(text))}
}

// diffs are the hunks of a difference as the protocol has them: each with the text before and
// after. Those of files that are none of the project are left out.
func diffs(diff, project string) (all []acp.ToolCallContent) {
	for _, h := range hunks(diff) {
		if path := absolute(h.path, project); path != "" {
			all = append(all, acp.ToolCallContent{Diff: &acp.ToolCallContentDiff{Path: path, OldText: h.old, NewText: h.text}})
		}
	}
	return all
}

// middleCut leaves the middle of a long text out, between lines.
func middleCut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	begin, end := text[:most/2], sdk.Tail(text, most/2)
	if at := strings.LastIndexByte(begin, '\n'); at >= 0 {
		begin = begin[:at]
	}
	if at := strings.IndexByte(end, '\n'); at >= 0 {
		end = end[at+1:]
	}
	return strings.ToValidUTF8(begin, "") + "\n… " + show.Plural(len(text)-len(begin)-len(end), "byte") + " left out\n" + end
}
