package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// maxResult is the most of one result that a model sees, in bytes.
const maxResult = 1 << 20

// resultLimit is the smaller of 1 MB and a quarter of the context, in bytes: a
// token is counted as four characters.
func resultLimit(context int) int {
	if context <= 0 {
		return maxResult
	}
	return max(min(maxResult, context/4*charsPerToken), 400)
}

// loadedSkill is the skill whose text a result holds, and where the whole of it
// can be read.
func loadedSkill(a *sdk.Action) (name, file string) {
	name, _ = a.Metadata["skill"].(string)
	if a.Plugin != sdk.OwnPlugin || a.State != sdk.StateResolved || name == "" {
		return "", ""
	}
	if folder, _ := a.Metadata["folder"].(string); folder != "" {
		return name, folder + "/SKILL.md"
	}
	return name, a.Path
}

func renderResult(e *sdk.Entry, limit int, key string) *piece {
	path, ok := sdk.ParseActionPath(e.Path)
	if !ok {
		return nil
	}
	if path.IsCorrection() {
		return renderCorrection(e, path.Turn)
	}
	if path.IsDialect() {
		return &piece{warning: e.Body, turn: path.Turn}
	}
	a, _ := sdk.ActionOf(*e) // what can be read of it is enough
	if a.Parent != "" {      // the model has not made it
		body := shorten(a.Body, limit/4, a.Path)
		if a.IsForeign() && body != "" {
			body = fence(key, e, &a, shorten(unhide(a.Body), limit/4, a.Path))
		}
		return &piece{call: &sdk.Action{
			Path: a.Path, State: a.State, Body: body, ActionCall: sdk.ActionCall{Parent: a.Parent, Follows: a.Follows, Otherwise: a.Otherwise},
		}}
	}
	if a.Person {
		return renderPerson(e, &a, path.Turn, limit, key)
	}
	if a.CallID == "" {
		return nil
	}
	m := sdk.Message{Role: sdk.RoleTool, CallID: a.CallID, Tool: toolName(a.Tool), Failed: e.State != sdk.StateResolved}
	switch {
	case !e.State.Ended():
		m.Text = unknownOutcome
	case e.Visibility == sdk.Archived:
		m.Text = fmt.Sprintf("[This result was archived; it is kept at %s. Call the tool again if you need it.]", e.Path)
	default:
		where := e.Path
		if name, file := loadedSkill(&a); name != "" {
			m.Skill, where = name, file
		}
		m.Text = shownResult(e, &a, limit, where, key)
	}
	for _, in := range a.Instructions {
		m.Text += nestedText(in)
	}
	return &piece{message: m, turn: path.Turn, path: e.Path, status: e.Status(), mark: sdk.FenceMark(key, e.Path+"#result")}
}

// renderCorrection shows what the engine has to say of an answer, as a prompt behind it. Nobody else speaks so.
func renderCorrection(e *sdk.Entry, turn int) *piece {
	if e.Writer != sdk.WriterSystem {
		return nil
	}
	return &piece{message: sdk.Message{Role: sdk.RoleUser, Text: e.Body}, loop: e.Loop, turn: turn, path: e.Path}
}

// renderPerson shows what a person did themselves, once it has ended. Only the engine
// writes an action's phase, so that nobody else speaks for the person.
func renderPerson(e *sdk.Entry, a *sdk.Action, turn, limit int, key string) *piece {
	if e.Phase == sdk.PhaseNone || e.Writer != sdk.WriterSystem || !e.State.Ended() {
		return nil
	}
	text := fmt.Sprintf("The person called the tool %s themselves, with the arguments %s.", a.Tool, a.ExactArguments())
	var of struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(a.ExactArguments(), &of) == nil && of.Command != "" {
		text = fmt.Sprintf("The person ran this themselves, with the tool %s:\n%s", a.Tool, of.Command)
	}
	result := fmt.Sprintf("[This result was archived; it is kept at %s.]", e.Path)
	if e.Visibility != sdk.Archived {
		result = shownResult(e, a, limit, e.Path, key)
	}
	return &piece{message: sdk.Message{Role: sdk.RoleUser, Text: text + "\n\nThis came of it:\n" + result}, turn: turn, path: e.Path, person: true}
}

const unknownOutcome = "This call was interrupted. Its outcome is unknown: look at what it may have changed before you make it again."

// noResult answers a call that has no action at all, for a server refuses a
// conversation in which a call is not answered.
func noResult(call sdk.Call) sdk.Message {
	return sdk.Message{Role: sdk.RoleTool, CallID: call.ID, Tool: call.Tool, Failed: true, Text: unknownOutcome}
}

// shownResult is a result as far as the model sees it: what came from outside stands in a fence.
func shownResult(e *sdk.Entry, a *sdk.Action, limit int, where, key string) string {
	if !a.IsForeign() {
		return shorten(resultText(a), limit, where)
	}
	return fence(key, e, a, shorten(unhide(resultText(a)), limit, where))
}

// resultText is a result as a model reads it: the output, and when it failed
// the reason, unless the output says so itself.
func resultText(a *sdk.Action) string {
	text := a.Body
	if a.State != sdk.StateResolved {
		reason := a.Error
		if reason == "" && text == "" {
			reason = "the call did not succeed"
		}
		if reason != "" && !strings.Contains(text, reason) {
			if text != "" {
				text = strings.TrimRight(text, "\n") + "\n\n"
			}
			text += "Error"
			if a.Outcome != "" {
				text += " (" + string(a.Outcome) + ")"
			}
			text += ": " + reason
		}
	}
	if text == "" {
		return "(no output)" // servers refuse an empty result
	}
	return text
}

// shorten keeps head and tail of a text that is longer than limit bytes. The
// mark between them says what went, where it is, and how to see it.
func shorten(text string, limit int, where string) string {
	if len(text) <= limit {
		return text
	}
	const room = 300 // for the mark
	keep := max(limit-room, limit/2)
	head := cutBack(text, keep*3/5)
	tail := cutForward(text, keep*2/5)
	middle := text[len(head) : len(text)-len(tail)]
	from := 1 + strings.Count(head, "\n")
	to := from + strings.Count(middle, "\n")
	return fmt.Sprintf("%s\n[%d of %d bytes were left out here, lines %d to %d. The whole is kept at %s. To see more, ask for less at a time: a range of lines, or a narrower command.]\n%s",
		head, len(middle), len(text), from, to, where, tail)
}

// cutBack returns the start of text, at most n bytes, ended at a line where
// one ends near, and never inside a character.
func cutBack(text string, n int) string {
	text = sdk.Head(text, n)
	if i := strings.LastIndexByte(text, '\n'); i > len(text)*3/4 {
		text = text[:i]
	}
	return text
}

// cutForward returns the end of text, at most n bytes, begun at a line where
// one begins near, and never inside a character.
func cutForward(text string, n int) string {
	text = sdk.Tail(text, n)
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)/4 {
		text = text[i+1:]
	}
	return text
}
