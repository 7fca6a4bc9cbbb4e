// Package compact is about the summary that takes the place of a conversation: what its model is asked for, what its
// answer has to be, and what becomes of the entries that it stands for. It is pure.
package compact

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Typed is the prompt by which people see that a summary was asked for.
const Typed = "/compact"

// asks is what the model reads in its place.
const asks = `Summarize this conversation. What was said so far is taken out of your sight when you have, and your summary is all that is left of it for going on with the work. Say

- what the person asked for, in their own words where they matter, and what of it is still open;
- what they said that holds for later too: what you are always or never to do;
- what was done and decided, and why; which files, commands, addresses and results matter, by their exact names;
- what was tried and did not work.

Leave out what is of no use later. Call no tool, and answer with the summary alone.`

// Meaning is what the model reads in the place of Typed.
func Meaning() *sdk.Meaning { return &sdk.Meaning{Text: asks} }

// Agent is an agent as it writes a summary: of the whole conversation, by itself, in plain text.
func Agent(a sdk.Agent) sdk.Agent {
	a.Finish, a.Team, a.Agents, a.Messages = nil, nil, nil, 0
	return a
}

// Read is what the model's answer means, in whose text calls stand where its dialect has them there: calls of tools are not made,
// and said to be none.
func Read(c sdk.Completion, inText []sdk.ReadCall) (r sdk.Reading) {
	tool := ""
	switch {
	case len(c.Calls) > 0:
		tool = c.Calls[0].Tool
	case len(inText) > 0:
		tool = inText[0].Tool
	default:
		return r
	}
	r.Warnings = []string{"a call of " + tool + " was not made: a summary was asked for, and no tool was offered"}
	return r
}

// Callable are the tools, by name alone, that an agent with tools of plugins may write calls of where it is offered any.
func Callable(all []sdk.Tool) []sdk.Tool {
	for _, name := range sdk.ModelTools() {
		all = append(all, sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}})
	}
	return all
}

// Rule is the verdict on the answer, by how many failures the turn has. Nothing is archived for one that is no summary.
func Rule(c sdk.Completion, failures int) sdk.Ruling {
	why := ""
	switch {
	case failures > 0 || c.Finish == "calls":
		why = "the model called tools"
	case c.Finish == "length":
		why = "the answer was cut off: it reached the longest that the model or max_tokens allows"
	case c.Finish == "filter":
		why = "the provider's content filter ended the answer"
	case strings.TrimSpace(c.Text) == "":
		why = "the model answered without a word"
	default:
		return sdk.Ruling{Status: sdk.StatusOK, Stop: sdk.StopAnswer, Reason: "the model summarized the conversation"}
	}
	return sdk.Ruling{Status: sdk.StatusFailed, Stop: sdk.StopFailed, Reason: "there is no summary, and all is as it was: " + why}
}

// Writes are those of a summary: its entry, and the looks by which all that it stands for is archived: what was said
// until the turn of a loop, its own prompt and answer included, and summaries before it. Since are the paths that were written
// since its model was asked, of which it knew nothing. What has not ended, or did so since, stays, with all of its turn.
func Writes(entries []sdk.Entry, since map[string]bool, loop sdk.Loop, turn int, text string) []sdk.Write {
	said := before(entries, since, loop.ID, turn)
	s := sdk.Summary{Loop: loop.ID, Turn: turn, Prompts: -1, Answers: -1} // those of its own are no part of it
	writes := make([]sdk.Write, 1, len(entries)+1)
	for i := range entries {
		e := &entries[i]
		if e.Visibility == sdk.Archived || !said.has(e) {
			continue
		}
		writes = append(writes, sdk.Write{Path: e.Path, Visibility: sdk.Archived, Look: true, Writer: sdk.WriterSystem, Loop: loop.ID, Turn: turn})
		switch e.Scheme() {
		case "prompt":
			s.Prompts++
		case "assistant":
			s.Answers++
		case "log":
			if e.Phase != sdk.PhaseNone {
				s.Calls++
			}
			if name := skillOf(e); name != "" && !slices.Contains(s.Skills, name) {
				s.Skills = append(s.Skills, name)
			}
		}
	}
	s.Prompts, s.Answers = max(s.Prompts, 0), max(s.Answers, 0)
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	writes[0] = sdk.Write{
		Path: sdk.SummaryPath(loop.Sequence), Body: &text, Attributes: attributes(s), Writer: sdk.WriterSystem, State: sdk.StateResolved, Loop: loop.ID, Turn: turn,
	}
	return writes
}

// skillOf is the skill whose text an action loaded; mostly none.
func skillOf(e *sdk.Entry) string {
	if !strings.Contains(string(e.Attributes), `"skill"`) {
		return ""
	}
	a, _ := sdk.ActionOf(*e) // what can be read of it is enough
	name, _ := a.Metadata["skill"].(string)
	if a.Plugin != sdk.OwnPlugin || a.State != sdk.StateResolved {
		return ""
	}
	return name
}
