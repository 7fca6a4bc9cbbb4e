package timeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// rows makes a journal of its lines.
type rows []sdk.JournalRow

func (r *rows) add(kind string, loop int64, turn int, path string, data any, body ...string) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	row := sdk.JournalRow{Seq: int64(len(*r) + 1), Time: time.Unix(int64(len(*r)+1), 0), Kind: kind, Loop: loop, Turn: turn, Path: path, Data: raw}
	if len(body) > 0 {
		row.Body, row.BodyHash = &body[0], "h"
	}
	*r = append(*r, row)
}

func set(state sdk.State, phase sdk.Phase, attributes string) sdk.EntryChange {
	return sdk.EntryChange{State: state, Phase: phase, Attributes: json.RawMessage(attributes)}
}

// story is a run with two prompts, a call of a person between them, and a proposal.
func story() rows {
	var r rows
	r.add(sdk.KindRunCreated, 0, 0, "", map[string]any{"agent": "default"})
	r.add(sdk.KindLoopQueued, 7, 0, "prompt://1", map[string]any{"sequence": 1, "model": "m", "agent": "default"})
	r.add(sdk.KindEntrySet, 7, 1, "prompt://1", set(sdk.StateResolved, "", `{}`), "do it")
	r.add(sdk.KindLoopStarted, 7, 0, "", map[string]any{"sequence": 1})
	r.add(sdk.KindRunStatus, 0, 0, "", map[string]any{"from": 100, "to": 102})
	r.add(sdk.KindTurnOpened, 7, 1, "", map[string]any{"model": "m"})
	r.add(sdk.KindLoopQueued, 9, 0, "prompt://2", map[string]any{"sequence": 2})
	r.add(sdk.KindEntrySet, 7, 1, "assistant://1", set(sdk.StateResolved, "", `{"calls":[{"id":"c"}],"model":"m"}`), "I call")
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/call", set(sdk.StateStreaming, sdk.PhaseStarted, `{"call_id":"c","tool":"bash__bash","arguments":{"command":"ls"}}`))
	r.add(sdk.KindEntryChunk, 7, 1, "log://turn_1/bash/call", sdk.Chunk{Channel: 1}, "on")
	r.add(sdk.KindNoteProgress, 7, 1, "", map[string]any{"message": "half"})
	r.add(sdk.KindNoteCompletion, 7, 1, "", sdk.PluginCompletion{Plugin: "p", Usage: &sdk.Usage{Prompt: 5, Total: 6, Cost: new(2.0)}})
	r.add(sdk.KindTurnOpened, 0, 2, "", map[string]any{"model": ""})
	r.add(sdk.KindEntrySet, 0, 2, "log://turn_2/read_file/a", set(sdk.StateResolved, sdk.PhaseEnded, `{"call_id":"x","tool":"read_file"}`), "text")
	r.add(sdk.KindTurnClosed, 0, 2, "", map[string]any{"duration_ms": 3})
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/call", set(sdk.StateFailed, sdk.PhaseEnded, `{"duration_ms":5,"error":"exit"}`), "one\n")
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/error/dialect_1", set(sdk.StateFailed, "", `{}`), "a warning")
	r.add(sdk.KindTurnClosed, 7, 1, "", map[string]any{"usage": sdk.Usage{Prompt: 2, Total: 3}, "duration_ms": 4, "finish": "calls"})
	r.add(sdk.KindTurnOpened, 7, 3, "", map[string]any{"model": "m"})
	r.add(sdk.KindEntrySet, 7, 3, "assistant://3", set(sdk.StateStreaming, "", `{}`))
	r.add(sdk.KindEntrySet, 7, 3, "assistant://3", set(sdk.StateResolved, "", `{"model":"m"}`), "done")
	r.add(sdk.KindTurnClosed, 7, 3, "", map[string]any{"usage": sdk.Usage{Prompt: 2}})
	r.add(sdk.KindLoopEnded, 7, 0, "", sdk.LoopEnd{Status: 200, Stop: sdk.StopAnswer})
	r.add(sdk.KindLoopStarted, 9, 0, "", map[string]any{"sequence": 2})
	r.add(sdk.KindTurnOpened, 9, 4, "", map[string]any{"model": "m"})
	r.add(sdk.KindEntrySet, 9, 4, "assistant://4", sdk.EntryChange{State: sdk.StateResolved, Hashed: map[string]string{"calls": "h"}}, "I ask")
	r.add(sdk.KindEntrySet, 9, 4, "log://turn_4/w/a", set(sdk.StateStreaming, sdk.PhaseRecorded, `{"call_id":"c","tool":"w","arguments":{"a":1}}`))
	r.add(sdk.KindEntrySet, 9, 4, "log://turn_4/w/b", set(sdk.StateStreaming, sdk.PhaseRecorded, `{"call_id":"d","tool":"w"}`))
	r.add(sdk.KindEntrySet, 9, 4, "log://turn_4/w/a", set(sdk.StateProposed, sdk.PhaseRecorded, `{"proposal":{"id":"p"}}`))
	return r
}

func TestTimelineTellsARun(t *testing.T) {
	tl := Of(story())
	if len(tl.Loops) != 2 || len(tl.Calls) != 1 || len(tl.Calls[0].Actions) != 1 {
		t.Fatalf("%+v", tl)
	}
	l := tl.Loops[0]
	if l.Prompt != "do it" || l.Sequence != 1 || l.Model != "m" || len(l.Turns) != 2 || l.End == nil || l.End.Loop != 7 {
		t.Errorf("%+v", l)
	}
	if !l.Began.Equal(time.Unix(4, 0)) || !l.Last.Equal(time.Unix(23, 0)) || l.Answer() != "done" || l.Usage().Prompt != 9 || l.Usage().Total != 9 || l.Usage().Cost == nil || *l.Usage().Cost != 2 {
		t.Errorf("%v %v %q %v", l.Began, l.Last, l.Answer(), l.Usage())
	}
	if all := l.Actions(); len(all) != 2 || all[0].IsError() || !all[1].IsError() || l.Waits() != nil {
		t.Errorf("%+v", all)
	} else if a := all[0]; a.Tool != "bash__bash" || a.Streamed[1] != "on" || a.Unseen(1) != "e\n" || a.Error != "exit" || a.Took() != 5*time.Millisecond || string(a.Arguments) != `{"command":"ls"}` {
		t.Errorf("%+v", a)
	}
	if w := tl.Loops[1].Waits(); w == nil || w.Proposal.ID != "p" || string(w.Arguments) != `{"a":1}` || tl.Loops[1].Answer() != "" {
		t.Errorf("%+v", w)
	}
}

func TestRowsBelongToTheLoopAtWork(t *testing.T) {
	tl := &Timeline{}
	of := map[int64]int64{}
	for _, row := range story() {
		if c := tl.Take(row); c.Loop != nil {
			of[row.Seq] = c.Loop.ID
		}
	}
	want := map[int64]int64{2: 7, 3: 7, 4: 7, 5: 7, 6: 7, 7: 9, 8: 7, 9: 7, 10: 7, 11: 7, 12: 7, 16: 7, 17: 7, 18: 7, 19: 7, 20: 7, 21: 7, 22: 7, 23: 7, 24: 9, 25: 9, 26: 9, 27: 9, 28: 9, 29: 9}
	if !reflect.DeepEqual(of, want) {
		t.Errorf("%v", of)
	}
}

// TestALookIsNoWork: also of an action whose loop is not in the rows.
func TestALookIsNoWork(t *testing.T) {
	r := story()
	look := set(sdk.StateResolved, sdk.PhaseEnded, "")
	look.Look = true
	r.add(sdk.KindEntrySet, 5, 1, "log://turn_1/bash/old", look)
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/call", look)
	if got, want := Of(r), Of(story()); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, and without looks %+v", got, want)
	}
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/call", set(sdk.StateResolved, sdk.PhaseEnded, `{"metadata":{"look":true}}`))
	if a := Of(r).Loops[0].Actions()[0]; a.State != sdk.StateResolved {
		t.Errorf("what holds the word is %s", a.State)
	}
}

// TestWhatAResultAskedForStandsBehindIt: also when it waits for a person before a call that was recorded earlier.
func TestWhatAResultAskedForStandsBehindIt(t *testing.T) {
	r := story()[:0:0]
	r.add(sdk.KindLoopStarted, 7, 0, "", map[string]any{"sequence": 1})
	r.add(sdk.KindTurnOpened, 7, 1, "", map[string]any{})
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/a", set(sdk.StateStreaming, sdk.PhaseStarted, `{"tool":"bash"}`))
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/b", set(sdk.StateStreaming, sdk.PhaseRecorded, `{"tool":"bash"}`))
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/bash/a", set(sdk.StateResolved, sdk.PhaseEnded, `{}`))
	for _, path := range []string{"log://turn_1/apply/a", "log://turn_1/apply/b"} {
		r.add(sdk.KindEntrySet, 7, 1, path, set(sdk.StateStreaming, sdk.PhaseRecorded, `{"tool":"apply","parent":"log://turn_1/bash/a","follows":true}`))
	}
	r.add(sdk.KindEntrySet, 7, 1, "log://turn_1/apply/a", set(sdk.StateProposed, sdk.PhaseRecorded, `{"proposal":{"id":"p"}}`))
	l := Of(r).Loops[0]
	var order []string
	for _, a := range l.Actions() {
		order = append(order, a.Path[len("log://turn_1/"):])
	}
	if got := fmt.Sprint(order); got != "[bash/a apply/a apply/b bash/b]" {
		t.Errorf("in the order %s", got)
	}
	if w := l.Waits(); w == nil || w.Path != "log://turn_1/apply/a" {
		t.Errorf("%+v waits", w)
	}
}

func TestTerminalCallIsTheAnswer(t *testing.T) {
	var r rows
	r.add(sdk.KindEntrySet, 1, 1, "assistant://1", set(sdk.StateResolved, "", `{"calls":[{}]}`), "")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/finish_task/call", set(sdk.StateResolved, sdk.PhaseEnded, `{}`), "all done")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/grep/call", set(sdk.StateResolved, sdk.PhaseEnded, `{"parent":"log://turn_1/finish_task/call"}`), "what its plugin called")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/error/x", set(sdk.StateFailed, "", `{}`), "warning")
	r.add(sdk.KindLoopEnded, 1, 0, "", sdk.LoopEnd{Stop: sdk.StopTerminal})
	if a := Of(r).Loops[0].Answer(); a != "all done" {
		t.Errorf("%q", a)
	}
}

// TestUpdateWithoutATextIsTheAnswer: what was said beside it is, or nothing.
func TestUpdateWithoutATextIsTheAnswer(t *testing.T) {
	for _, said := range []string{"", "nothing was left to do"} {
		var r rows
		r.add(sdk.KindEntrySet, 1, 1, "assistant://1", set(sdk.StateResolved, "", `{"calls":[{}]}`), said)
		r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/update/call", set(sdk.StateResolved, sdk.PhaseEnded, `{"tool":"update","plugin":"bothy","arguments":{"status":204}}`), "")
		r.add(sdk.KindLoopEnded, 1, 0, "", sdk.LoopEnd{Stop: sdk.StopTerminal})
		if a := Of(r).Loops[0].Answer(); a != said {
			t.Errorf("%q, want %q", a, said)
		}
	}
}

// TestUpdateIsTheAnswer: also where other calls of its turn stand behind it, and those that go on say nothing.
func TestUpdateIsTheAnswer(t *testing.T) {
	var r rows
	call := func(status int) string {
		return fmt.Sprintf(`{"tool":"update","plugin":"bothy","arguments":{"status":%d,"body":"it is 5"}}`, status)
	}
	r.add(sdk.KindEntrySet, 1, 1, "assistant://1", set(sdk.StateResolved, "", `{"calls":[{}]}`), "")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/update/call", set(sdk.StateResolved, sdk.PhaseEnded, call(200)), "it is 5")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/update/call_2", set(sdk.StateFailed, sdk.PhaseEnded, call(204)), "not made")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/get/a", set(sdk.StateResolved, sdk.PhaseEnded, `{"tool":"get","plugin":"bothy"}`), "what is read")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/update/call_3", set(sdk.StateResolved, sdk.PhaseEnded, call(102)), "going on")
	r.add(sdk.KindLoopEnded, 1, 0, "", sdk.LoopEnd{Stop: sdk.StopTerminal})
	if a := Of(r).Loops[0].Answer(); a != "it is 5" {
		t.Errorf("%q", a)
	}
}

// TestResult: what an agent hands over is the answer, and the arguments of the call that was accepted.
func TestResult(t *testing.T) {
	var r rows
	const refused, accepted = `{"tool":"finish_task","plugin":"bothy","arguments":{"n":1}}`, `{"tool":"finish_task","plugin":"bothy","arguments":{"n":2}}`
	r.add(sdk.KindEntrySet, 1, 1, "assistant://1", set(sdk.StateResolved, "", `{"calls":[{}]}`), "")
	r.add(sdk.KindEntrySet, 1, 1, "log://turn_1/finish_task/call", set(sdk.StateFailed, sdk.PhaseEnded, refused), "missing")
	r.add(sdk.KindEntrySet, 1, 2, "log://turn_2/finish_task/call", set(sdk.StateResolved, sdk.PhaseEnded, accepted), "accepted")
	r.add(sdk.KindEntrySet, 1, 2, "log://turn_2/write/call", set(sdk.StateFailed, sdk.PhaseEnded, `{"tool":"write"}`), "not made")
	if l := Of(r).Loops[0]; l.Result() != nil {
		t.Errorf("before the end it is %s", l.Result())
	}
	r.add(sdk.KindLoopEnded, 1, 0, "", sdk.LoopEnd{Stop: sdk.StopTerminal})
	if l := Of(r).Loops[0]; string(l.Result()) != `{"n":2}` || l.Answer() != "{\n  \"n\": 2\n}" {
		t.Errorf("%s, told as %q", l.Result(), l.Answer())
	}
}

func TestCutOffReplyIsNoAnswer(t *testing.T) {
	var r rows
	r.add(sdk.KindEntrySet, 1, 1, "assistant://1", set(sdk.StateFailed, "", `{}`), "hal")
	r.add(sdk.KindEntrySet, 1, 1, "assistant://1/partial_1", set(sdk.StateFailed, "", `{}`), "ha")
	l := Of(r).Loops[0]
	if text, partial := l.Text(); text != "hal" || !partial || l.Answer() != "" {
		t.Errorf("%q %v %q", text, partial, l.Answer())
	}
}

// TestAnyPartFolds: a fold that goes on is the fold of the whole, of any part of a
// journal and in any order of its rows, whatever they hold.
func TestAnyPartFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		all := story()
		if rng.IntN(2) == 0 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		from := rng.IntN(len(all))
		part := all[from : from+rng.IntN(len(all)-from+1)]
		grown := &Timeline{}
		for i, row := range part {
			before := shape(grown)
			grown.Take(row)
			if i%7 == 0 && before != shape(Of(part[:i])) {
				t.Fatalf("rows %d to %d", from, from+i)
			}
		}
		if shape(grown) != shape(Of(part)) {
			t.Fatalf("rows %d to %d", from, from+len(part))
		}
		for _, l := range grown.Loops {
			l.Answer()
			l.Waits()
		}
	}
}

// shape writes down what stands in a timeline.
func shape(t *Timeline) string {
	type plain struct {
		Loops []*Loop
		Calls []*Turn
	}
	text, err := json.Marshal(plain{t.Loops, t.Calls})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func FuzzTake(f *testing.F) {
	for _, row := range story() {
		f.Add(row.Kind, row.Loop, row.Turn, row.Path, []byte(row.Data))
	}
	f.Fuzz(func(t *testing.T, kind string, loop int64, turn int, path string, data []byte) {
		all := story()
		tl := &Timeline{}
		for i, row := range all {
			tl.Take(row)
			if i%5 == 0 {
				tl.Take(sdk.JournalRow{Kind: kind, Loop: loop, Turn: turn, Path: path, Data: data, Body: &path})
			}
		}
		for _, l := range tl.Loops {
			_, _, _ = l.Answer(), l.Waits(), fmt.Sprint(l.Usage())
			for _, a := range l.Actions() {
				a.Unseen(1)
				a.Violations()
			}
		}
	})
}

// TestOutputs: what a command of sh prints is that of its action, whichever entry has it.
func TestOutputs(t *testing.T) {
	var r rows
	r.add(sdk.KindTurnOpened, 0, 1, "", map[string]any{"model": "m"})
	r.add(sdk.KindEntrySet, 0, 1, "log://turn_1/sh/call", set(sdk.StateStreaming, sdk.PhaseStarted, `{"call_id":"c","tool":"sh","streams":true}`))
	r.add(sdk.KindEntrySet, 0, 1, "sh://turn_1/call_1", set(sdk.StateStreaming, "", `{}`), "")
	r.add(sdk.KindEntryChunk, 0, 1, "sh://turn_1/call_1", sdk.Chunk{Channel: 1}, "on")
	r.add(sdk.KindEntryChunk, 0, 1, "sh://turn_1/other_1", sdk.Chunk{Channel: 1}, "of another")
	tl := Of(r)
	a := tl.Calls[0].Actions[0]
	if got := a.Streamed[1]; got != "on" || a.Unseen(1) != "" {
		t.Errorf("%q, %q", got, a.Unseen(1))
	}
	r = nil
	r.add(sdk.KindEntrySet, 0, 1, "sh://turn_1/call_1", set(sdk.StateResolved, "", `{}`), "one\n")
	r.add(sdk.KindEntrySet, 0, 1, "sh://turn_1/call_2", set(sdk.StateResolved, "", `{}`), "bad")
	r.add(sdk.KindEntrySet, 0, 1, "log://turn_1/sh/call", set(sdk.StateResolved, sdk.PhaseEnded, `{"duration_ms":5}`), "ran 'x', exit=0")
	for _, row := range r {
		tl.Take(row)
	}
	if a.Unseen(1) != "e\n" || a.Unseen(2) != "bad" || len(tl.Calls[0].Actions) != 1 {
		t.Errorf("%q, %q, %d actions", a.Unseen(1), a.Unseen(2), len(tl.Calls[0].Actions))
	}
}

// TestAReplyCalledSomething where its calls stand beside its text, or in it, whole or by their hash.
func TestAReplyCalledSomething(t *testing.T) {
	for attributes, want := range map[string]bool{
		`"attributes":{"model":"m","calls":[{"id":"a","tool":"get","arguments":"{}"}]}`: true,
		`"attributes":{"model":"m","found":[{"id":"a","tool":"get","at":[0,4]}]}`:       true,
		`"attributes":{"model":"m"},"hashed":{"found":"00"}`:                            true,
		`"attributes":{"model":"m"},"hashed":{"extra":"00"}`:                            false,
	} {
		row := sdk.JournalRow{Kind: sdk.KindEntrySet, Run: 1, Loop: 1, Turn: 1, Path: "assistant://1", Data: json.RawMessage(`{"state":"resolved",` + attributes + `}`)}
		if got := Of([]sdk.JournalRow{row}).Loops[0].Turns[0].Called; got != want {
			t.Errorf("%s: %v", attributes, got)
		}
	}
}
