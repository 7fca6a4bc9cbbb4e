package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// runReport writes a run as a text for people: each prompt with its turns, each
// turn with what was said, called and noted in it. On a terminal lines are
// folded to its width; a file or a pipe gets them as they are.
type runReport struct {
	d     rpc.RunDetail
	width int // 0: lines are not folded
	told  map[string]bool
	noted map[int64]bool
	full  bool // nothing is shortened
	b     strings.Builder
}

// all tells the whole run.
func (t *runReport) all() string {
	t.head()
	t.plan()
	for _, l := range t.d.Loops {
		if l.Status != sdk.StatusQueued {
			t.loop(l)
		}
	}
	t.calls()
	t.waiting()
	t.life()
	t.total()
	return t.b.String()
}

// line writes text behind an indent, folded, its further lines below it.
func (t *runReport) line(by int, text string) {
	pad := strings.Repeat(" ", by)
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if l == "" {
			t.b.WriteString("\n")
			continue
		}
		for _, piece := range show.Fold(l, t.width-by) {
			t.b.WriteString(pad + piece + "\n")
		}
	}
}

// hang is line for text whose further lines stand deeper than its first.
func (t *runReport) hang(by, deeper int, text string) {
	if text == "" {
		return
	}
	first, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	for i, piece := range show.Fold(first, t.width-by-deeper) {
		t.line(by+min(i, 1)*deeper, piece)
	}
	if more {
		t.line(by+deeper, rest)
	}
}

func (t *runReport) head() {
	d := t.d
	fmt.Fprintf(&t.b, "run %s (%d) in %s\n", d.Run, d.ID, d.Project)
	own := d.Turn - d.Inherited
	if len(d.Loops) > 0 {
		t.hang(0, 4, fmt.Sprintf("agent %s, model %s, %s after %s", d.Agent, d.Model, show.Status(d.Status), show.Plural(own, "turn")))
	} else {
		t.line(0, fmt.Sprintf("no prompts; %s of tool calls", show.Plural(own, "turn")))
	}
	var costs []string
	if price := show.Price(d.Price); price != "" {
		costs = append(costs, price)
	}
	if d.MaxCost > 0 {
		costs = append(costs, fmt.Sprintf("a prompt may cost %s (guard max_cost)", show.Money(d.MaxCost)))
	}
	t.hang(0, 4, strings.Join(costs, "; "))
	if d.Parent != nil {
		t.hang(0, 4, fmt.Sprintf("forked from run %s after turn %d, whose story it shares up to there", parentName(*d.Parent), d.Inherited))
	}
	if d.Delegator != nil {
		t.hang(0, 4, fmt.Sprintf("delegated by run %s (%s)", parentName(*d.Delegator), show.ActionName(d.DelegatedBy)))
	}
	if len(d.Forks) > 0 {
		t.hang(0, 4, "forked by "+strings.Join(each(d.Forks, func(f rpc.RunName) string { return f.Run }), ", "))
	}
}

// plan tells how far the run's plan is.
func (t *runReport) plan() {
	for i, line := range show.Plan(t.d.Plan) {
		if i == 0 {
			t.b.WriteString("\n")
		}
		t.hang(2*min(i, 1), 4, line.String())
	}
}

func (t *runReport) loop(l sdk.Loop) {
	t.b.WriteString("\n")
	t.hang(0, 4, t.prompt(l)+": "+l.Prompt)
	for _, turn := range t.d.Turns {
		if turn.Loop == l.ID {
			t.turn(turn)
		}
	}
	for _, n := range t.d.Notes {
		if n.Loop == l.ID {
			t.note(n) // of no turn that is there
		}
	}
	if l.Result != nil {
		t.line(2, "result")
		t.arguments(l.Result)
	}
	t.hang(2, 4, t.end(l))
}

// prompt is which prompt of the run a loop worked on, by the number that --prompt takes.
func (t *runReport) prompt(l sdk.Loop) string {
	text := fmt.Sprintf("prompt %d%s", l.Sequence, t.resumes(l))
	if l.ReadOnly {
		text += ", only reading"
	}
	return text
}

// resumes says which prompt a loop goes on with.
func (t *runReport) resumes(l sdk.Loop) string {
	var options struct {
		Resumes int64 `json:"resumes"`
	}
	if len(l.Options) == 0 || json.Unmarshal(l.Options, &options) != nil || options.Resumes == 0 {
		return ""
	}
	for _, other := range t.d.Loops {
		if other.ID == options.Resumes {
			return fmt.Sprintf(" (resumes %d)", other.Sequence)
		}
	}
	return " (resumes an earlier one)"
}

// end says how a loop ended; a reason that stands above already, as the error
// of its last turn, is not repeated.
func (t *runReport) end(l sdk.Loop) string {
	if l.Ended.IsZero() {
		return fmt.Sprintf("%s since %s", show.Status(l.Status), show.When(l.Created))
	}
	text := show.Ended(sdk.LoopEnd{Status: l.Status, Stop: l.Stop})
	if reason := strings.TrimSpace(l.Reason); reason != "" && !t.stands(reason) {
		text += ": " + reason
	}
	return text + fmt.Sprintf(", after %s", show.Brief(l.Ended.Sub(l.Created)))
}

func (t *runReport) stands(reason string) bool {
	return slices.ContainsFunc(t.d.History, func(e rpc.Event) bool { return e.Tool == sdk.ErrorTool && strings.TrimSpace(e.Body) == reason })
}

// turn tells one turn. Its head is the model's name, time and tokens.
func (t *runReport) turn(turn rpc.Turn) {
	parts := []string{fmt.Sprintf("turn %d", turn.Sequence)}
	if turn.Model != "" {
		parts = append(parts, turn.Model)
	}
	if turn.Closed {
		parts = append(parts, show.Brief(time.Duration(turn.Duration)))
	} else {
		parts = append(parts, "at work")
	}
	if turn.Usage != nil {
		if used := show.Used(*turn.Usage); used != "" {
			parts = append(parts, used)
		}
	}
	t.hang(2, 4, strings.Join(parts, ", "))
	for _, n := range t.d.Notes {
		if n.Turn == turn.Sequence {
			t.note(n)
		}
	}
	for _, cut := range []bool{true, false} { // what was cut off came before what is written now
		for _, e := range t.d.History {
			if e.Turn == turn.Sequence && !t.told[e.Path] && (!cut || strings.Contains(e.Path, "/partial_")) {
				t.event(e)
			}
		}
	}
}

// note tells what the engine said of its own work, once.
func (t *runReport) note(n rpc.Note) {
	if t.noted[n.Seq] || !strings.HasPrefix(n.Kind, sdk.KindNote) {
		return
	}
	t.noted[n.Seq] = true
	t.draw(4, show.Note(show.Row(sdk.JournalRow{Kind: n.Kind, Data: n.Data}), max(t.width-4, 0)))
}

func (t *runReport) event(e rpc.Event) {
	t.told[e.Path] = true
	switch e.Tool {
	case "prompt":
	case "assistant":
		t.answer(e)
	default:
		t.action(e)
		t.children(e.Path)
		t.followers(e)
	}
}

// followers tells the calls that the result of one asked for, right behind it.
func (t *runReport) followers(of rpc.Event) {
	for _, e := range t.d.History {
		if parent, _ := e.Attributes["parent"].(string); parent == of.Path && !t.told[e.Path] {
			if follows, _ := e.Attributes["follows"].(bool); follows {
				t.event(e)
			}
		}
	}
}

// answer tells what the model said. A part of an answer that was cut off was
// never shown to it again.
func (t *runReport) answer(e rpc.Event) {
	text := strings.TrimSpace(e.Body)
	if b, err := e.Attributes.Object(); err == nil && !t.full {
		reply, _ := sdk.ReplyOf(b)
		text = strings.TrimSpace(reply.Said(e.Body)) // the calls in the text are told behind it
	}
	if reasoning, _ := e.Attributes["reasoning"].(string); t.full && reasoning != "" {
		t.line(4, "(it thought)")
		t.line(6, strings.TrimSpace(reasoning))
	}
	if partial, _ := e.Attributes["partial"].(bool); partial {
		t.line(4, "(a part of an answer that was cut off)")
	}
	if text != "" {
		t.line(4, text)
	}
}

// calls tells the turns that no prompt caused: tools that a person called.
func (t *runReport) calls() {
	first := true
	for _, turn := range t.d.Turns {
		if turn.Loop != 0 {
			continue
		}
		if first && len(t.d.Loops) > 0 {
			t.b.WriteString("\ncalled without a prompt\n")
		}
		first = false
		for _, e := range t.d.History {
			if e.Turn == turn.Sequence && !t.told[e.Path] {
				t.event(e)
			}
		}
	}
}

// waiting tells the queue, in the order in which it will be worked on.
func (t *runReport) waiting() {
	if t.d.Queued == 0 {
		return
	}
	t.b.WriteString("\n")
	for _, l := range t.d.Loops {
		if l.Status == sdk.StatusQueued {
			first, _, _ := strings.Cut(strings.TrimSpace(l.Prompt), "\n")
			t.hang(0, 4, "queued, "+t.prompt(l)+": "+show.Shorten(first, 200))
		}
	}
}

// life tells what happened to the run as a whole.
func (t *runReport) life() {
	first := true
	for _, n := range t.d.Notes {
		what, ofRun := strings.CutPrefix(n.Kind, "run.")
		if !ofRun {
			continue
		}
		if first {
			t.b.WriteString("\n")
		}
		first = false
		t.line(0, fmt.Sprintf("%s %s: %s", show.When(n.Time), what, show.Row(sdk.JournalRow{Kind: n.Kind, Data: n.Data})))
	}
}

// total sums the run up: its own turns, not those it has from its parent.
func (t *runReport) total() {
	if len(t.d.Turns) == 0 {
		return
	}
	calls, ends := 0, map[sdk.State]int{}
	for _, e := range t.d.History {
		if e.Turn > t.d.Inherited && e.Tool != sdk.ErrorTool && strings.HasPrefix(e.Path, "log://") {
			calls++
			ends[e.State]++
		}
	}
	actions, wrong := show.Plural(calls, "action"), []string{}
	if n := ends[sdk.StateFailed]; n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d failed", n))
	}
	if n := ends[sdk.StateCancelled]; n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d given up", n))
	}
	if len(wrong) > 0 {
		actions += " (" + strings.Join(wrong, ", ") + ")"
	}
	parts := []string{show.Plural(len(t.d.Loops), "prompt"), show.Plural(len(t.d.Turns), "turn"), actions}
	if x := t.d.Telemetry; x != nil {
		if used := show.Used(sdk.Usage{Prompt: x.PromptTokens, Cached: x.CachedTokens, Completion: x.CompletionTokens, Cost: x.Cost, Estimated: x.Estimated}); used != "" {
			parts = append(parts, used)
		}
	}
	var took time.Duration
	for _, turn := range t.d.Turns {
		took += time.Duration(turn.Duration)
	}
	parts = append(parts, show.Brief(took)+" of work")
	t.b.WriteString("\n")
	t.hang(0, 4, "in all: "+strings.Join(parts, ", "))
}

// turnInFull tells the one turn that is left of the run.
func (t *runReport) turnInFull() string {
	t.full = true
	fmt.Fprintf(&t.b, "run %s (%d) in %s\n", t.d.Run, t.d.ID, t.d.Project)
	for _, l := range t.d.Loops {
		t.hang(0, 4, t.prompt(l)+": "+l.Prompt)
	}
	for _, turn := range t.d.Turns {
		t.turn(turn)
		if turn.Finish != "" {
			t.line(4, "finish: "+turn.Finish)
		}
	}
	return t.b.String()
}
