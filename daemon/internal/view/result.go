package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// maxResult is the most of one result that a model sees, in bytes.
const maxResult = 1 << 20

// resultLimit is the smaller of 1 MB and a quarter of the context (design,
// section 7), in bytes: a token is counted as four characters.
func resultLimit(context int) int {
	if context <= 0 {
		return maxResult
	}
	return max(min(maxResult, context/4*charsPerToken), 400)
}

// outcome is what an action's attributes hold of interest here.
type outcome struct {
	CallID   string `json:"call_id"`
	Tool     string `json:"tool"`
	Plugin   string `json:"plugin"`
	Error    string `json:"error"`
	Metadata struct {
		Skill  string `json:"skill"`
		Folder string `json:"folder"`
	} `json:"metadata"`
}

// ownPlugin is what the daemon's own tools are said to be of.
const ownPlugin = "bothy"

// skill is the skill whose text a result holds, and where the whole of it can
// be read.
func (o outcome) skill(e *sdk.Entry) (name, file string) {
	if o.Plugin != ownPlugin || e.State != sdk.StateResolved || o.Metadata.Skill == "" {
		return "", ""
	}
	if o.Metadata.Folder == "" {
		return o.Metadata.Skill, e.Path
	}
	return o.Metadata.Skill, o.Metadata.Folder + "/SKILL.md"
}

func renderResult(e *sdk.Entry, rest string, limit int) *piece {
	first, after, _ := strings.Cut(rest, "/")
	number, ok := strings.CutPrefix(first, "turn_")
	turn, err := strconv.Atoi(number)
	if !ok || err != nil {
		return nil
	}
	if strings.HasPrefix(after, "error/dialect") {
		return &piece{warning: e.Body, turn: turn}
	}
	var o outcome
	if json.Unmarshal(e.Attributes, &o) != nil || o.CallID == "" {
		return nil
	}
	m := sdk.Message{Role: sdk.RoleTool, CallID: o.CallID, Tool: toolName(o.Tool), Failed: e.State != sdk.StateResolved}
	switch {
	case !e.State.Ended():
		m.Text = unknownOutcome
	case e.Visibility == sdk.Archived:
		m.Text = fmt.Sprintf("[This result was archived; it is kept at %s. Call the tool again if you need it.]", e.Path)
	default:
		where := e.Path
		if name, file := o.skill(e); name != "" {
			m.Skill, where = name, file
		}
		m.Text = shorten(resultText(e, o), limit, where)
	}
	return &piece{message: m, turn: turn}
}

const unknownOutcome = "This call was interrupted. Its outcome is unknown: look at what it may have changed before you make it again."

// noResult answers a call that has no action at all, for a server refuses a
// conversation in which a call is not answered.
func noResult(call sdk.Call) sdk.Message {
	return sdk.Message{Role: sdk.RoleTool, CallID: call.ID, Tool: call.Tool, Failed: true, Text: unknownOutcome}
}

// resultText is a result as a model reads it: the output, and when it failed
// the reason, unless the output says so itself.
func resultText(e *sdk.Entry, o outcome) string {
	text := e.Body
	if e.State != sdk.StateResolved {
		reason := o.Error
		if reason == "" && text == "" {
			reason = "the call did not succeed"
		}
		if reason != "" && !strings.Contains(text, reason) {
			if text != "" {
				text = strings.TrimRight(text, "\n") + "\n\n"
			}
			text += "Error"
			if e.Outcome != "" {
				text += " (" + string(e.Outcome) + ")"
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
	tail := cutForward(text, len(text)-keep*2/5)
	middle := text[len(head) : len(text)-len(tail)]
	from := 1 + strings.Count(head, "\n")
	to := from + strings.Count(middle, "\n")
	return fmt.Sprintf("%s\n[%d of %d bytes were left out here, lines %d to %d. The whole is kept at %s. To see more, ask for less at a time: a range of lines, or a narrower command.]\n%s",
		head, len(middle), len(text), from, to, where, tail)
}

// cutBack returns the start of text, at most n bytes, ended at a line where
// one ends near, and never inside a character.
func cutBack(text string, n int) string {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > n*3/4 {
		n = i
	}
	return text[:n]
}

// cutForward returns the end of text from about n on, begun at a line where
// one begins near, and never inside a character.
func cutForward(text string, n int) string {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	if i := strings.IndexByte(text[n:], '\n'); i >= 0 && i < (len(text)-n)/4 {
		n += i + 1
	}
	return text[n:]
}
