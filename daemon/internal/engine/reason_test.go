package engine

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestStopKeepsWhatHadCome: the text that came before a stop is there for
// people, never for the model, which is asked again for the same turn.
func TestStopKeepsWhatHadCome(t *testing.T) {
	for name, c := range map[string]struct {
		step func(begun chan<- struct{}) step
		want []string
	}{
		"in the middle":  {hanging, []string{"done", "half an ans"}},
		"before a piece": {silent, []string{"done"}},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := newHouse(t, c.step(begun))
			a := h.submit(Submission{})
			<-begun
			if err := h.engine.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.start()
			if l := h.await(a); l.Status != 200 {
				t.Errorf("ended %d: %s", l.Status, l.Reason)
			}
			var got []string
			for _, e := range h.entries(a.Run.ID, "assistant://1") {
				got = append(got, e.Body)
				if partial := e.Path != "assistant://1"; partial != (e.State == sdk.StateFailed && e.Outcome == sdk.Interrupted) {
					t.Errorf("%+v", e)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("kept %q, want %q", got, c.want)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestInstructionsThatCannotBeRead: those who follow the run hear of it, once.
func TestInstructionsThatCannotBeRead(t *testing.T) {
	h := prepareHouse(t, calls(numbered("read", 1)))
	h.config.Instructions = fakeInstructions{err: errors.New("AGENTS.md is a pipe")}
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 200 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	told := h.entries(a.Run.ID, "log://turn_1/error/instructions")
	if len(told) != 1 || told[0].State != sdk.StateFailed || !strings.HasSuffix(told[0].Body, "AGENTS.md is a pipe") {
		t.Errorf("told %+v", told)
	}
	if again := h.entries(a.Run.ID, "log://turn_2/error/"); len(again) != 0 {
		t.Errorf("told again: %+v", again)
	}
	h.check(a.Run.ID)
}

// TestInstructionsAndModelThatFail: neither failure hides the other.
func TestInstructionsAndModelThatFail(t *testing.T) {
	h := prepareHouse(t, failing(errors.New("no")))
	h.config.Instructions = fakeInstructions{err: errors.New("AGENTS.md is a pipe")}
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 500 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	if told := h.entries(a.Run.ID, "log://turn_1/error/"); len(told) != 2 {
		t.Errorf("told %+v", told)
	}
	h.check(a.Run.ID)
}

// TestProjectThatCannotBeEntered: it is refused before a model is asked.
func TestProjectThatCannotBeEntered(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may enter everything: this needs an ordinary user")
	}
	h := newHouse(t)
	t.Cleanup(func() {
		if err := os.Chmod(h.project, 0o700); err != nil { // else it could not be removed
			t.Error(err)
		}
	})
	for _, mode := range []os.FileMode{0, 0o600, 0o100} {
		if err := os.Chmod(h.project, mode); err != nil {
			t.Fatal(err)
		}
		_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p"})
		if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "cannot be entered") {
			t.Errorf("%v: a prompt gets %v", mode, err)
		}
		_, err = h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "read"})
		if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "cannot be entered") {
			t.Errorf("%v: a call gets %v", mode, err)
		}
	}
	if len(h.models.asked()) != 0 {
		t.Error("a model was asked")
	}
}
