package engine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// aFamily are the steps of a prompt with two children side by side, of which one has a child of its own, and a third
// that its agent does not know.
func aFamily() map[string][]step {
	return map[string][]step{
		"do it":  {calls(numbered("read", 1)), calls(giving("lead", "first"), giving("worker", "second"), giving("gone", "third")), say("all is done")},
		"first":  {calls(giving("worker", "deeper"), numbered("read", 2)), say("the first is done")},
		"second": {calls(numbered("write", 3)), calls(numbered("read", 4)), say("the second is done")},
		"deeper": {calls(numbered("write", 5), numbered("read", 6)), say("the deeper is done")},
	}
}

// recordFamily makes the cassette of a prompt with children, and says what was done for it.
func recordFamily(t *testing.T, agent string, h *house) (file string, tasks, did []string) {
	t.Helper()
	h.start()
	a := h.submit(Submission{Agent: agent, Record: true})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	return h.taped(a), h.family(a.Run.ID), h.did()
}

// family are the tasks of all below a run, with what their runs did.
func (h *house) family(run int64) (all []string) {
	for _, child := range h.childrenIn(run) {
		l := h.promptOf(child.ID)
		all = append(all, l.Agent+": "+l.Prompt+": "+h.outcomes(child.ID)+": "+l.Reason)
		all = append(all, h.family(child.ID)...)
	}
	slices.Sort(all) // who works side by side is made in the order of commits
	return all
}

func (h *house) did() []string {
	all := h.invoked()
	slices.Sort(all)
	return all
}

// alone has no model that could be asked.
func (h *house) alone() *house {
	h.models.gone = true
	h.models.each = func(sdk.Request) step { return failing(context.Canceled) }
	return h
}

func TestARecordedParentReplays(t *testing.T) {
	team := func(mode sdk.TeamMode) func(t *testing.T) *house {
		return func(t *testing.T) *house {
			return teamHouse(t, mode, nil, map[string][]step{
				"do it":   {calls(assigning("coder", "make it", "writer", "tell it")), say("all is done")},
				"make it": {calls(numbered("write", 1)), say("it is made")},
			})
		}
	}
	for name, c := range map[string]struct {
		agent  string
		house  func(t *testing.T) *house
		family int
	}{
		"children of children":  {"lead", func(t *testing.T) *house { return delegatingHouse(t, aFamily()) }, 3},
		"a team side by side":   {"team", team(sdk.TeamParallel), 2},
		"a team one by one":     {"team", team(sdk.TeamSequential), 2},
		"a team without a plan": {"team", func(t *testing.T) *house { return teamHouse(t, sdk.TeamParallel, nil, nil) }, 1},
		"a child without a word": {"lead", func(t *testing.T) *house {
			return delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "x"))}, "x": {say("")}})
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file, tasks, did := recordFamily(t, c.agent, c.house(t))
			if len(tasks) != c.family {
				t.Fatalf("recorded was the work on %q", tasks)
			}
			h := c.house(t).alone()
			h.start()
			a := h.submit(Submission{Agent: c.agent, Replay: file, Strict: true, Record: true})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d %q: %s\n%s", l.Status, l.Stop, l.Reason, read(t, file))
			}
			if got := h.family(a.Run.ID); !slices.Equal(got, tasks) {
				t.Errorf("the tasks were\n%q, and when it was recorded\n%q", got, tasks)
			}
			if got := h.did(); !slices.Equal(got, did) {
				t.Errorf("did %q, and %q when it was recorded", got, did)
			}
			if len(h.models.asked()) > 0 {
				t.Error("a model was asked")
			}
			for _, child := range h.childrenIn(a.Run.ID) {
				if l := h.promptOf(child.ID); child.Model != "fake/m" || l.Model != "replay/fake/m" {
					t.Errorf("the run %s has the model %s, and its prompt %s", child.Alias, child.Model, l.Model)
				}
			}
			if first, second := read(t, file), read(t, h.taped(a)); !bytes.Equal(first, second) {
				t.Errorf("two recordings of one conversation differ:\n%s\n%s", first, second)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAFailedChildReplays: its failure names its run, which may have another name where it is played.
func TestAFailedChildReplays(t *testing.T) {
	house := func() *house {
		bad := calls(numbered("read_bad", 1), numbered("read_bad", 2), numbered("read_bad", 3))
		return delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "fail")), say("it failed")}, "fail": {bad, bad, bad}})
	}
	file, tasks, _ := recordFamily(t, "lead", house())
	h := house()
	h.start()
	if _, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: childName(t, file)}); err != nil {
		t.Fatal(err)
	}
	h.alone()
	a := h.submit(Submission{Agent: "lead", Replay: file})
	l := h.await(a)
	if got := h.family(a.Run.ID); l.Status != sdk.StatusOK || !slices.Equal(got, tasks) || len(h.models.asked()) > 0 {
		t.Errorf("ended %d %q: %s; the tasks were %q, want %q", l.Status, l.Stop, l.Reason, got, tasks)
	}
	if got := h.childrenIn(a.Run.ID)[0].Alias; got == childName(t, file) {
		t.Errorf("the child is called %s again", got)
	}
}

// childName is the name of the first child, as a cassette tells it.
func childName(t *testing.T, file string) string {
	t.Helper()
	_, name, found := strings.Cut(string(read(t, file)), "worker (run ")
	if !found {
		t.Fatal("no child failed")
	}
	name, _, _ = strings.Cut(name, ")")
	return name
}

// TestAChildHasAnotherConversation: what a child did otherwise is the end of the prompt that is played.
func TestAChildHasAnotherConversation(t *testing.T) {
	file, _, _ := recordFamily(t, "lead", delegatingHouse(t, aFamily()))
	for name, c := range map[string]struct {
		change func(h *house, c *cassette.Cassette)
		says   []string
	}{
		"what a child read": {func(h *house, _ *cassette.Cassette) {
			h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				if strings.Contains(string(c.Arguments), "f4") {
					return ok("changed")
				}
				return ok("read " + string(c.Arguments))
			})
		}, []string{"(worker): this is not the conversation on the cassette: step 3", `"changed"`}},
		"what a child of a child read": {func(h *house, _ *cassette.Cassette) {
			h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				if strings.Contains(string(c.Arguments), "f6") {
					return ok("changed")
				}
				return ok("read " + string(c.Arguments))
			})
		}, []string{"(lead): run worker", "(worker): this is not", "step 2", `"changed"`}},
		"a child that is not recorded": {func(_ *house, c *cassette.Cassette) {
			c.Steps[1].Children = c.Steps[1].Children[:1]
		}, []string{"(worker): ", "step 2, call 2 gave work to another agent, and the cassette has nothing of what its model answered"}},
		"children that are not recorded": {func(_ *house, c *cassette.Cassette) {
			c.Steps[1].Children = nil
		}, []string{"record the prompt again"}},
		"a child that had less to do": {func(_ *house, c *cassette.Cassette) {
			steps := &c.Steps[1].Children[1].Cassette.Steps
			*steps = (*steps)[:1]
		}, []string{"(worker): ", "step 2, the end of the conversation"}},
		"an agent that is gone": {func(h *house, _ *cassette.Cassette) {
			delete(h.agents, "worker")
		}, []string{"step 1, call 1 gave work to another agent there, and did not here: ", "there is no agent"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := delegatingHouse(t, aFamily()).alone()
			tape, err := cassette.Read(bytes.NewReader(read(t, file)))
			if err != nil {
				t.Fatal(err)
			}
			c.change(h, tape)
			raw, err := tape.Encode()
			if err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(changed, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			h.start()
			a := h.submit(Submission{Agent: "lead", Replay: changed})
			l := h.await(a)
			if l.Stop != sdk.StopMismatch || len(h.models.asked()) > 0 {
				t.Fatalf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			for _, text := range c.says {
				if !strings.Contains(l.Reason, text) {
					t.Errorf("%q lacks %q", l.Reason, text)
				}
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAPlayedChildOutlivesTheDaemon: the next one goes on with the same cassette, also when the file that was named is
// gone, and one that finds a child's end recorded sees how that was.
func TestAPlayedChildOutlivesTheDaemon(t *testing.T) {
	file, tasks, _ := recordFamily(t, "lead", delegatingHouse(t, aFamily()))
	for name, differs := range map[string]bool{"the same": false, "another conversation": true} {
		t.Run(name, func(t *testing.T) {
			h := delegatingHouse(t, aFamily()).alone()
			begun := make(chan struct{}, 1)
			h.tools.on("write", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				if !strings.Contains(string(c.Arguments), "f5") {
					return ok("write " + string(c.Arguments))
				}
				begun <- struct{}{}
				<-ctx.Done()
				return sdk.ToolResult{}, ctx.Err()
			})
			h.tools.settles = map[string]sdk.ToolResult{"write": {Success: true, Output: `write {"path":"f5"}`}}
			if differs {
				h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
					if strings.Contains(string(c.Arguments), "f4") {
						return ok("changed")
					}
					return ok("read " + string(c.Arguments))
				})
			}
			copied := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(copied, read(t, file), 0o600); err != nil {
				t.Fatal(err)
			}
			h.start()
			a := h.submit(Submission{Agent: "lead", Replay: copied})
			<-begun
			h.until("the other child has ended", func() bool {
				return slices.ContainsFunc(h.childrenIn(a.Run.ID), func(r sdk.Run) bool { l := h.promptOf(r.ID); return l.Agent == "worker" && !isOpen(l) })
			})
			h.cut()
			if err := os.Remove(copied); err != nil {
				t.Fatal(err)
			}
			h.tools.on("write", nil)
			h.start()
			l := h.await(a)
			if differs {
				if l.Stop != sdk.StopMismatch || !strings.Contains(l.Reason, "(worker): ") {
					t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
				}
				return
			}
			if got := h.family(a.Run.ID); l.Status != sdk.StatusOK || !slices.Equal(got, tasks) {
				t.Errorf("ended %d: %s; the tasks were %q, want %q", l.Status, l.Reason, got, tasks)
			}
			h.check(a.Run.ID)
		})
	}
}
