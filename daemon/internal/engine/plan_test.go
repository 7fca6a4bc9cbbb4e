package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/sdk"
)

// withVerbs gives the agent default the six verbs, besides what it has.
func (h *house) withVerbs() {
	s := h.withSkills()
	verbs := builtin.NewVerbs(h.store, builtin.Patterns, func(text string) string { return text })
	h.config.Verbs = verbs
	s.Builtin = builtin.New(builtin.Config{
		Catalogue: s.catalogueOf, Budget: func() float64 { return 2 }, Entries: h.store, Copies: copies{}, Execute: s.execute, Verbs: verbs,
	})
	agent := h.agents["default"]
	agent.Tools = []string{"read*", "write*", "set", "get", "rm", "cp", "mv", "bothy__update"}
	h.agents["default"] = agent
}

// knows are the entries of a scheme, each in a word.
func (h *house) knows(run int64, scheme string) string {
	var words []string
	for _, e := range h.entries(run, scheme+"://") {
		words = append(words, fmt.Sprintf("%s=%s", strings.TrimPrefix(e.Path, scheme+"://"), e.Body))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestNeighbourVerbsShareACommit holds that calls which only touch entries see what those before them do, and that one commit
// has what they write, with their ends.
func TestNeighbourVerbsShareACommit(t *testing.T) {
	h := prepareHouse(t, calls(
		call{"set", `{"path":"known://a","body":"one"}`},
		call{"set", `{"path":"known://b","body":"two","summary":"second"}`},
		call{"get", `{"path":"known://missing"}`},
		call{"cp", `{"path":"known://a","to":"known://c"}`},
		call{"mv", `{"path":"known://b","to":"known://d"}`},
		call{"get", `{"path":"known://d"}`},
	), say("done"))
	h.withVerbs()
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if got, want := h.outcomes(a.Run.ID), "set:resolved set:resolved get:failed:not_found cp:resolved mv:resolved get:resolved"; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := h.knows(a.Run.ID, "known"), "a=one c=one d=two"; got != want {
		t.Errorf("it knows %s, want %s", got, want)
	}
	if last := h.actions(a.Run.ID)[5]; last.Body != "two" {
		t.Errorf("the last get read %q", last.Body)
	}
	for _, c := range h.store.commits() {
		ends, entries := 0, 0
		for _, w := range c.Writes {
			if w.Phase == sdk.PhaseEnded {
				ends++
			}
			if strings.HasPrefix(w.Path, "known://") {
				entries++
			}
		}
		if entries > 0 && (ends != 6 || entries != 5) {
			t.Errorf("a commit has %d ends and %d writes of entries", ends, entries)
		}
	}
	for _, e := range h.actions(a.Run.ID) {
		if d := attributes(t, e).Decision; d == nil || d.Rule != "entries" || d.Verdict != sdk.Allow {
			t.Errorf("%s was decided by %+v", e.Path, d)
		}
	}
	h.check(a.Run.ID)
}

// TestVerbsOfAReader holds that verbs on entries are no side effect: a prompt that only reads has
// them, and a path that looks like one of files is none.
// spec: mode_enforcement
func TestVerbsOfAReader(t *testing.T) {
	h := prepareHouse(t, calls(
		call{"set", `{"path":"known://a/../../etc/passwd","body":"noted"}`},
		call{"set", `{"path":"src/main.go","body":"package main"}`},
		call{"write", `{"path":"f1"}`},
	), say("done"))
	h.withFiles()
	h.start()
	a := h.submit(Submission{ReadOnly: true})
	h.await(a)
	if got, want := h.outcomes(a.Run.ID), "set:resolved set:failed:permission write:failed:aborted"; got != want && got != "set:resolved set:failed:permission write:failed:permission" {
		t.Errorf("got %s", got)
	}
	if got, want := h.knows(a.Run.ID, "known"), "a/../../etc/passwd=noted"; got != want {
		t.Errorf("it knows %s", got)
	}
	if offered := toolNames(h.models.asked()[0]); !slices.Contains(offered, "set") || slices.Contains(offered, "write") {
		t.Errorf("it was offered %v", offered)
	}
	h.check(a.Run.ID)
}

func toolNames(r sdk.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// TestVerbsAreForAgentsThatNameThem holds that no glob offers them.
func TestVerbsAreForAgentsThatNameThem(t *testing.T) {
	for _, tools := range [][]string{nil, {"*"}, {"bothy__*"}, {"read*"}} {
		h := prepareHouse(t, say("done"))
		h.withVerbs()
		agent := h.agents["default"]
		agent.Tools = tools
		h.agents["default"] = agent
		h.start()
		h.run(Submission{})
		if offered := toolNames(h.models.asked()[0]); slices.Contains(offered, "set") || slices.Contains(offered, "update") {
			t.Errorf("tools = %v: offered %v", tools, offered)
		}
	}
}

// TestUpdateEndsTheWork holds what an update does to its loop.
// spec: dispatch_path
func TestUpdateEndsTheWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  []step
		status int
		want   string
	}{
		{"goes on", []step{calls(call{"update", `{"body":"half"}`}), say("done")}, 200, "update:resolved"},
		{"is done", []step{calls(call{"update", `{"body":"all","status":200}`})}, 200, "update:resolved"},
		{"is done with nothing", []step{calls(call{"update", `{"body":"","status":204}`})}, 204, "update:resolved"},
		{"cannot be done", []step{calls(call{"update", `{"body":"no way","status":422}`})}, 422, "update:resolved"},
		{"is not done after a failure", []step{calls(call{"get", `{"path":"known://x"}`}, call{"update", `{"body":"all","status":200}`}), say("done")}, 200, "get:failed:not_found update:failed:conflict"},
		{"an end waits for all else", []step{calls(call{"update", `{"body":"all","status":200}`}, call{"set", `{"path":"known://x","body":"y"}`})}, 200, "update:resolved set:resolved"},
		{"and for what fails", []step{calls(call{"update", `{"body":"all","status":200}`}, call{"get", `{"path":"known://x"}`}), say("done")}, 200, "update:failed:conflict get:failed:not_found"},
		{"the last one counts", []step{calls(call{"update", `{"body":"all","status":200}`}, call{"update", `{"body":"half"}`}), say("done")}, 200, "update:failed:aborted update:resolved"},
		{"the last one ends", []step{calls(call{"update", `{"body":"half"}`}, call{"set", `{"path":"known://x","body":"y"}`}, call{"update", `{"body":"","status":204}`})}, 204, "update:resolved set:resolved update:resolved"},
		{"more is to do, and a side effect failed", []step{calls(numbered("write_bad", 1), numbered("write", 2), call{"update", `{"body":"half"}`}), say("done")}, 200, "write_bad:failed:timeout write:failed:aborted update:resolved"},
		{"done, and a side effect failed", []step{calls(numbered("write_bad", 1), call{"update", `{"body":"all","status":200}`}), say("done")}, 200, "write_bad:failed:timeout update:failed:conflict"},
		{"done, and a tool is not there", []step{calls(call{"nosuch", `{}`}, call{"update", `{"body":"all","status":200}`}), say("done")}, 200, "nosuch:failed:not_found update:failed:conflict"},
	} {
		h := prepareHouse(t, c.steps...)
		h.withVerbs()
		h.start()
		a := h.submit(Submission{})
		l := h.await(a)
		if got := h.outcomes(a.Run.ID); l.Status != c.status || got != c.want {
			t.Errorf("%s: ended %d, %s", c.name, l.Status, got)
		}
		if said := h.entries(a.Run.ID, "update://"); strings.Contains(c.want, "update:resolved") && (len(said) != 1 || said[0].Path != "update://turn_1") {
			t.Errorf("%s: it says %+v", c.name, said)
		}
		if len(h.models.asked()) != len(c.steps) {
			t.Errorf("%s: %d turns", c.name, len(h.models.asked()))
		}
		h.check(a.Run.ID)
	}
}

// TestPlansAreMadeAgain has another writer come between plan and commit, once and each time.
func TestPlansAreMadeAgain(t *testing.T) {
	for _, always := range []bool{false, true} {
		h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x"}`}), calls(call{"mv", `{"path":"known://a","to":"known://b"}`}), say("done"))
		h.withVerbs()
		times := 0
		h.store.setRefuse(func(_ int, c sdk.Change) error {
			moves := slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Remove })
			if !moves || times > 0 && !always {
				return nil
			}
			times++
			_, err := h.store.Store.Commit(context.Background(), sdk.Change{Run: c.Run, Writes: []sdk.Write{{Path: "known://a", Body: new(fmt.Sprint("newer", times)), Writer: sdk.WriterClient}}})
			return err
		})
		h.start()
		a := h.submit(Submission{})
		h.await(a)
		want, knows := "set:resolved mv:resolved", "b=newer1"
		if always {
			want, knows = "set:resolved mv:failed:conflict", fmt.Sprint("a=newer", mostPlans)
		}
		if got := h.outcomes(a.Run.ID); got != want || h.knows(a.Run.ID, "known") != knows {
			t.Errorf("always %v: %s, it knows %s", always, got, h.knows(a.Run.ID, "known"))
		}
		h.check(a.Run.ID)
	}
}

// TestACutLeavesBothOrNone ends the engine when verbs are planned and nothing is committed.
func TestACutLeavesBothOrNone(t *testing.T) {
	h := prepareHouse(t, calls(call{"set", `{"path":"known://a","body":"x","append":true}`}), say("done"))
	h.withVerbs()
	reached, goOn := make(chan struct{}), make(chan struct{})
	first := true
	h.store.setRefuse(func(_ int, c sdk.Change) error {
		if first && slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Append }) {
			first = false
			close(reached)
			<-goOn
			return sdk.Errorf(sdk.Unavailable, "the disk is full")
		}
		return nil
	})
	h.start()
	a := h.submit(Submission{})
	<-reached
	close(goOn)
	h.cut()
	if got := h.knows(a.Run.ID, "known"); got != "" && got != "a=x" {
		t.Errorf("it knows %s", got)
	}
	h.start()
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "set:resolved" || h.knows(a.Run.ID, "known") != "a=x" {
		t.Errorf("%s, it knows %s", got, h.knows(a.Run.ID, "known"))
	}
	h.check(a.Run.ID)
}

// TestClientsUseVerbs holds what a client may do, and that a list of calls is one commit or none.
func TestClientsUseVerbs(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.withVerbs()
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	set := func(path, body string) sdk.EntryCall {
		return sdk.EntryCall{Verb: sdk.VerbSet, Path: path, Body: &body}
	}
	done, err := h.engine.UseEntries(t.Context(), false, nil, a.Run, []sdk.EntryCall{set("known://a", "x"), set("known://b", "y")})
	if err != nil || len(done) != 2 || done[1].Entries[0].Version != 1 || done[1].Entries[0].Hash == "" || done[1].Entries[0].Writer != sdk.WriterClient {
		t.Errorf("got %+v, %v", done, err)
	}
	for _, calls := range [][]sdk.EntryCall{
		{set("known://c", "x"), set("prompt://1", "other")},
		{set("known://c", "x"), {Verb: sdk.VerbRemove, Path: "log://turn_1/**"}},
		{set("known://c", "x"), {Verb: sdk.VerbGet, Path: "assistant://1"}},
	} {
		if _, err := h.engine.UseEntries(t.Context(), false, nil, a.Run, calls); err == nil || !strings.HasPrefix(err.Error(), "call 2 of 2") {
			t.Errorf("%+v: %v", calls, err)
		}
	}
	if got := h.knows(a.Run.ID, "known"); got != "a=x b=y" {
		t.Errorf("it knows %s", got)
	}
	h.check(a.Run.ID)
}

// mistaken is verbs with a mistake in them.
type mistaken struct{}

func (mistaken) Plan(context.Context, sdk.EntryUse, []sdk.EntryCall) []sdk.EntryPlan {
	panic("a mistake")
}

func (mistaken) Fits(context.Context, sdk.Run, []sdk.Write) error { return nil }
func (mistaken) ChangesFile(sdk.EntryCall) bool                   { return false }

// TestAPlanThatPanics is the error of its call: a plugin's is served where nothing else would catch it.
func TestAPlanThatPanics(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.config.Verbs = mistaken{}
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if _, err := h.engine.UseEntries(t.Context(), false, nil, a.Run, []sdk.EntryCall{{Verb: sdk.VerbGet, Path: "known://a"}}); err == nil || !strings.Contains(err.Error(), "a mistake") {
		t.Error(err)
	}
}
