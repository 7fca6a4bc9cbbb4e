package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// taggedHouse has an agent "tags" with the verbs beside its tools.
func taggedHouse(t testing.TB, steps ...step) *house {
	h := prepareHouse(t, steps...)
	h.withVerbs()
	h.agents["tags"] = sdk.Agent{Dialect: sdk.DialectTags, Tools: h.agents["default"].Tools}
	return h
}

// TestTagsAtWork takes a task in tags to its end: the text is what is recorded, no tools are sent, and what calls came to follows as one
// message.
// spec: message_structure
func TestTagsAtWork(t *testing.T) {
	h := taggedHouse(t,
		say("I look.\n<read path=\"a.go\"/>\n<set path=\"known://port\">8080</set> So far."),
		say("<update status=\"200\">The port is 8080.</update>"))
	no := false
	h.models.tools = &no // which it need not
	h.start()
	a := h.submit(Submission{Agent: "tags"})
	if l := h.await(a); l.Status != sdk.StatusOK || l.Stop != sdk.StopTerminal {
		t.Fatalf("ended %d by %s: %s", l.Status, l.Stop, l.Reason)
	}
	if got, want := h.outcomes(a.Run.ID), "read:resolved set:resolved update:resolved"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := h.knows(a.Run.ID, "known"); got != "port=8080" {
		t.Errorf("it knows %s", got)
	}
	answer := h.entries(a.Run.ID, "assistant://1")[0]
	reply, err := sdk.ReplyOf(answer.Attributes)
	if err != nil || reply.Calls != nil || len(reply.Found) != 2 || strings.Join(strings.Fields(reply.Said(answer.Body)), " ") != "I look. So far." {
		t.Errorf("%+v, %v", reply, err)
	}
	if !strings.Contains(answer.Body, `<set path="known://port">8080</set>`) {
		t.Errorf("the answer is %q", answer.Body)
	}
	for i, req := range h.models.requests {
		if len(req.Tools) > 0 || !strings.Contains(req.Messages[0].Text, "## <set path=") {
			t.Errorf("request %d has %d tools, and the system text %q", i, len(req.Tools), req.Messages[0].Text)
		}
	}
	second := h.models.requests[1].Messages
	last := second[len(second)-1]
	if said := second[len(second)-2]; said.Role != sdk.RoleAssistant || said.Text != answer.Body || len(said.Calls) > 0 {
		t.Errorf("the answer is shown as %+v", said)
	}
	read, set := strings.Index(last.Text, "[read: log://turn_1/read/a.go, status 200"), strings.Index(last.Text, "[set: log://turn_1/set/")
	if last.Role != sdk.RoleUser || last.Results != 2 || read < 0 || set < read {
		t.Errorf("what the calls came to is shown as %+v", last)
	}
	h.check(a.Run.ID)
}

// TestTagsGiveUpTheRest holds that any failure gives up the rest of the turn, reads and verbs among them.
// spec: dispatch_path
func TestTagsGiveUpTheRest(t *testing.T) {
	for _, c := range []struct{ name, answer, want, knows string }{
		{"a read", `<read_bad path="a"/><set path="known://a">x</set>`, "read_bad:failed:timeout set:failed:aborted", ""},
		{"reads at the same time", `<read_bad path="a"/><read path="b"/><write path="c"/>`, "read_bad:failed:timeout read:resolved write:failed:aborted", ""},
		{"a verb among verbs", `<set path="known://a">x</set><get path="known://none"/><set path="known://b">y</set>`, "set:resolved get:failed:not_found set:failed:aborted", "a=x"},
		{"a body that is missing", `<set path="known://a"><get path="known://b"/></set>`, "set:failed:validation get:failed:aborted", ""},
		{"an argument that is none", `<get path="known://a" depth="3"/><set path="known://b">y</set>`, "get:failed:validation set:failed:aborted", ""},
		{"what could not be read", `<set path="known://a">x</set><write the file><set path="known://b">y</set><read path="b"/><write path="c"/><think>so</think>`, "set:resolved set:failed:aborted read:failed:aborted write:failed:aborted think:failed:aborted", "a=x"},
		{"a form that could not be read", `{"name":"write","arguments":{"path":` + "\n" + `<write path="c"/>`, "write:failed:aborted", ""},
		{"no tool", `<write_file path="c">x</write_file><write path="c"/>`, "write:failed:aborted", ""},
		{"what could not be read, beside an update", `<write the file><update>on it</update><write path="c"/>`, "update:resolved write:failed:aborted", ""},
		{"what is put right, or quoted", "`<write the file>` <read path=\"b/>\n<write path=\"c\"/>", "read:resolved write:resolved", ""},
		{"a text that has no name", `<set>no path</set><set path="known://b">y</set>`, "set:failed:validation set:failed:aborted", ""},
		{"a move to nowhere", `<set path="known://a">x</set><mv path="known://a"/><set path="known://b">y</set>`, "set:resolved mv:failed:validation set:failed:aborted", "a=x"},
		{"a control character", "<get path=\"known://a\ab\"/><set path=\"known://b\">y</set>", "get:failed:validation set:failed:aborted", ""},
		{"levels alone", `<set path="known://a">x</set><mv path="known://*" visibility="archived"/><set path="known://a" visibility="summarized"/><get path="known://a" visibility="summarized"/>`, "set:resolved mv:resolved set:resolved get:resolved", "a=x"},
		{"none", `<set path="known://a">x</set><read path="b"/><set path="known://b">y</set>`, "set:resolved read:resolved set:resolved", "a=x b=y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := taggedHouse(t, say(c.answer), say(`<update status="200">done</update>`))
			h.start()
			a := h.submit(Submission{Agent: "tags"})
			h.await(a)
			if got := strings.TrimSuffix(h.outcomes(a.Run.ID), " update:resolved"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := h.knows(a.Run.ID, "known"); got != c.knows {
				t.Errorf("it knows %q, want %q", got, c.knows)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestEditsOfEntriesAreMadeAtOnce: whatever the operation, an entry is written without being asked for, where a person has to agree to
// what changes a file, and each is an action.
func TestEditsOfEntriesAreMadeAtOnce(t *testing.T) {
	answer := ""
	for _, body := range []string{
		"<<NEW\na\nNEW", "<<APPEND\nb\nAPPEND", "<<PREPEND\nc\nPREPEND", "<<SEARCH\nb\nSEARCH\n<<REPLACE\nd\nREPLACE", "<<DELETE\na\nDELETE", "<<REPLACE\ne\nREPLACE", "f",
	} {
		answer += "<set path=\"known://it\">" + body + "</set>\n"
	}
	h := taggedHouse(t, say(answer), say(`<update status="200">done</update>`))
	h.start()
	a := h.submit(Submission{Agent: "tags", Mode: sdk.ModeInteractive})
	if l := h.await(a); l.Stop != sdk.StopTerminal {
		t.Fatalf("ended %d by %s: %s", l.Status, l.Stop, l.Reason)
	}
	if got, want := h.outcomes(a.Run.ID), strings.Repeat("set:resolved ", 7)+"update:resolved"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if logged := h.entries(a.Run.ID, "log://turn_1/set/"); len(logged) != 7 {
		t.Errorf("%d of them are in the log", len(logged))
	}
	if got := h.knows(a.Run.ID, "known"); got != "it=f" {
		t.Errorf("it knows %s", got)
	}
	h.check(a.Run.ID)
}

// TestTagsCost: the verbs of a turn share their commits, as in the other dialect.
func TestTagsCost(t *testing.T) {
	answer := ""
	for i := range 20 {
		answer += fmt.Sprintf("<set path=\"known://n%d\">%d</set>\n", i, i)
	}
	h := taggedHouse(t, say(answer), say("done"))
	h.start()
	a := h.submit(Submission{Agent: "tags"})
	h.await(a)
	writes := 0
	for _, c := range h.store.commits() {
		if slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return strings.HasPrefix(w.Path, "known://") }) {
			writes++
		}
	}
	if got := strings.Count(h.outcomes(a.Run.ID), "set:resolved"); got != 20 || writes != 1 {
		t.Errorf("%d calls were made, in %d commits", got, writes)
	}
}

// TestTagsThatChanged: calls are made by what stands in the text, null and all; one that is not found where it was, for other tools are
// there, is not made.
func TestTagsThatChanged(t *testing.T) {
	for name, c := range map[string]struct{ text, want, arguments string }{
		"as it was":               {`<write path="b" mode="null"/>`, "write:resolved", `{"mode":"null","path":"b"}`},
		"with a null":             {`{"name":"write","arguments":{"path":"b","mode":null}}`, "write:resolved", `{"mode":null,"path":"b"}`},
		"behind a new tool":       {`<read path="a"/><write path="b"/>`, "write:failed:again", ""},
		"a tool that is gone":     {`<gone path="b"/>`, "gone:failed:not_found", ""},
		"behind one that is gone": {`<gone path="a"></gone><write path="b"/>`, "gone:failed:not_found write:failed:aborted", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t, say("done"))
			agent := sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"read", "write", "gone"}}
			r.agents["free"] = agent
			var made string
			r.tools.does["write"] = func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				made = string(c.Arguments)
				return sdk.ToolResult{Success: true, Output: "written"}, nil
			}
			r.opened()
			empty := ""
			writes := []sdk.Write{{Path: "assistant://1", Body: &c.text, Attributes: encode(sdk.Reply{Model: "fake/m", Finish: "stop", Narration: &empty})}}
			for i, word := range strings.Fields(c.want) {
				tool, _, _ := strings.Cut(word, ":")
				w := at(i, tool, sdk.PhaseRecorded, sdk.StateStreaming, "")
				w.Attributes = encode(sdk.ActionCall{CallID: fmt.Sprintf("call_%d", i+1), Tool: tool, Index: i, Arguments: []byte(cmp.Or(c.arguments, `{"path":"b"}`))})
				writes = append(writes, w)
			}
			r.left(sdk.Change{Writes: writes})
			r.start()
			r.untilIdle()
			if got := r.outcomes(r.run.ID); got != c.want || made != c.arguments {
				t.Errorf("got %s with %s, want %s with %s", got, made, c.want, c.arguments)
			}
		})
	}
}

// TestTagsAreShownAsTheyCome: people see what is said and which calls begin, and no tag.
func TestTagsAreShownAsTheyCome(t *testing.T) {
	h := taggedHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		for _, piece := range []string{"I write. <se", `t path="known://a"`, ">one ", "two</set> And ", `<read path="b.go"/>`, " so."} {
			if err := send(sdk.Delta{Text: piece}); err != nil {
				return err
			}
		}
		return endWith(send, "stop")
	}, say("done"))
	var shown []rpc.Preview
	h.config.Preview = func(p rpc.Preview) { shown = append(shown, p) }
	h.start()
	a := h.submit(Submission{Agent: "tags"})
	h.await(a)
	text, begun := "", []sdk.Forming(nil)
	for _, p := range shown {
		if p.Turn == 1 {
			text, begun = text+p.Text, append(begun, p.Calls...)
		}
	}
	if want := []sdk.Forming{{Tool: "set", Target: "known://a"}, {Tool: "read", Target: "b.go"}}; text != "I write.  And  so." || !slices.Equal(begun, want) {
		t.Errorf("shown %q and %v", text, begun)
	}
}

// TestAnyCrashOfTags is TestAnyCrash with calls in the text.
func TestAnyCrashOfTags(t *testing.T) {
	h := taggedHouse(t)
	agent := h.agents["tags"]
	agent.Tools, agent.Guards = append(slices.Clip(agent.Tools), "*"), sdk.Guards{MaxTurns: 99, MaxStrikes: 3} // without which a model that fails goes on
	h.agents["tags"] = agent
	h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
	inner := h.store.Store
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		var marks effects
		marks.on(h.tools, rapid.Bool().Draw(rt, "the tools know"))
		tag := rapid.SampledFrom([]string{
			"<read path=\"%d\"/>", "<write path='%d'/>", "<write path=\"%d\"></write>", "<put path=%d/>", "<write_bad path=\"%d\"/>", "`<write path=\"%d\"/>`", "<nosuch path=\"%d\"/>", "text %d ",
			"<set path=\"known://k%[1]d\">it is %[1]d</set>", "<get path=\"known://k%d\"/>", "{\"name\":\"write\",\"arguments\":{\"path\":\"%d\"}}\n",
			"<read the %d>", "<update status=\"200\">%d</update>", "<update>%d</update>",
		})
		var steps []step
		for range rapid.IntRange(0, 6).Draw(rt, "turns") {
			answer := ""
			for range rapid.IntRange(0, 4).Draw(rt, "tags") {
				answer += fmt.Sprintf(tag.Draw(rt, "tag"), rapid.IntRange(0, 3).Draw(rt, "path"))
			}
			steps = append(steps, say(answer))
		}
		h.models.mu.Lock()
		h.models.steps = steps
		h.models.mu.Unlock()
		n++
		name := fmt.Sprintf("r%d", n)
		var accepted []Accepted
		for range rapid.IntRange(1, 4).Draw(rt, "deaths") {
			m := newMortalStore(inner, rapid.IntRange(0, 12).Draw(rt, "writes"), rapid.Bool().Draw(rt, "silent"))
			h.config.Store = m
			h.boot(rt)
			if len(accepted) == 0 {
				if a, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Run: name, Agent: "tags", Prompt: "p"}); err == nil {
					accepted = append(accepted, a)
				}
			}
			h.untilDeadOrDone(m, accepted)
			h.cut()
		}
		h.config.Store = h.store
		h.boot(rt)
		defer h.cut()
		h.untilIdle()
		run, err := inner.RunByAlias(context.Background(), 1, name)
		if err != nil {
			return // death came before the run was made
		}
		h.checkAccepted(rt, run.ID, accepted)
		for _, e := range h.actions(run.ID) {
			at := attributes(rt, e)
			made := marks.done[fmt.Sprintf("%s-%d-%d", run.Key, sdk.TurnOf(e.Path), at.Index)]
			repeatable, verb := at.Tool == "read" || at.Tool == "put", at.Tool == "set" || at.Tool == "get" || at.Tool == "update"
			answer := h.entries(run.ID, sdk.ReplyPath(sdk.TurnOf(e.Path)))[0]
			reply, err := sdk.ReplyOf(answer.Attributes)
			if err != nil || reply.Lost && e.State == sdk.StateResolved && strings.Contains(string(at.Arguments), "200") {
				rt.Fatalf("%s ended the work beside a call that was lost: %v", e.Path, err)
			}
			if strings.Contains(answer.Body[:reply.Found[at.Index].At.Start], "<read the ") && at.Tool != "update" && (e.Outcome != sdk.Aborted || made > 0) {
				rt.Fatalf("%s stands behind what could not be read, is %s %s and was made %d times", e.Path, e.State, e.Outcome, made)
			}
			if made > 1 && !repeatable || e.State == sdk.StateResolved && made == 0 && !verb || e.Outcome == sdk.Again {
				rt.Fatalf("%s is %s %s and was made %d times", e.Path, e.State, e.Outcome, made)
			}
		}
		h.checkRuns(run.ID)
		if t.Failed() {
			rt.FailNow()
		}
	})
	h.check()
}
