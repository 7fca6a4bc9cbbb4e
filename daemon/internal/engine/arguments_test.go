package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// prose is so many bytes of text in a call, no two alike.
func prose(n, bytes int) string {
	return fmt.Sprintf(`{"text":"%d %s","path":"f%d","null":null}`, n, strings.Repeat("words of ", bytes/9+1)[:bytes], n)
}

// TestLongArgumentsAreStoredOnce, with the answer, and everybody sees them with
// the action: hooks, readers, and the tool of a daemon that takes it up.
func TestLongArgumentsAreStoredOnce(t *testing.T) {
	long := prose(1, 8<<10)
	h := prepareHouse(t, calls(call{"put", long}))
	h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
	var heard []sdk.EntryEvent
	h.hooks.ToolBefore.On(10, "test", func(_ context.Context, e sdk.EntryEvent) error {
		heard = append(heard, e)
		return nil
	})
	begun := make(chan struct{}, 1)
	h.tools.on("put", waiting(begun))
	h.start()
	a := h.submit(Submission{})
	<-begun
	h.cut()
	h.tools.on("put", nil)
	h.start()
	if l := h.await(a); l.Status != 200 {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if len(h.tools.made) != 2 || string(h.tools.made[0].Arguments) != long || string(h.tools.made[1].Arguments) != long {
		t.Errorf("made %d calls, the last with %.80s", len(h.tools.made), h.tools.made[len(h.tools.made)-1].Arguments)
	}
	want := inOneForm(t, json.RawMessage(long))
	for _, e := range append([]sdk.Entry{h.actions(a.Run.ID)[0]}, heard[0].Entry, heard[1].Entry) {
		if got := inOneForm(t, attributes(t, e).Arguments); got != want || strings.Contains(string(e.Attributes), "refers") {
			t.Errorf("an action has %.200s", e.Attributes)
		}
	}
	h.check(a.Run.ID)
	for _, c := range h.store.commits() {
		for _, w := range c.Writes {
			if w.Phase != sdk.PhaseNone && len(w.Attributes) > 1<<10 {
				t.Errorf("%d bytes are written with %s", len(w.Attributes), w.Path)
			}
		}
	}
}

// TestChangedArgumentsAreTheActionsOwn, however long they are.
func TestChangedArgumentsAreTheActionsOwn(t *testing.T) {
	h := prepareHouse(t, calls(call{"write", prose(1, 2000)}))
	other := prose(2, 3000)
	h.hooks.EntryRecording.On(10, "test", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		r.Attributes = json.RawMessage(`{"arguments":` + other + `}`)
		return r, nil
	})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got := inOneForm(t, attributes(t, h.actions(a.Run.ID)[0]).Arguments); got != inOneForm(t, json.RawMessage(other)) {
		t.Errorf("the action has %.200s", got)
	}
	if got := string(h.tools.made[0].Arguments); got != other {
		t.Errorf("it was called with %.200s", got)
	}
}

// TestBytesOfATurn holds what a turn adds to the file, through the whole
// engine, to twice its new text, wherever that stands.
func TestBytesOfATurn(t *testing.T) {
	const turns, text = 40, 8 << 10
	for name, c := range map[string]struct {
		step func(n int) step
		most int64
	}{
		"a short call":           {func(n int) step { return calls(numbered("write", n)) }, 6 << 10},
		"a text in a call":       {func(n int) step { return calls(call{"write", prose(n, text)}) }, 2 * text},
		"a text as a call's end": {func(n int) step { return calls(numbered("bash", n)) }, 2 * text},
	} {
		t.Run(name, func(t *testing.T) {
			each := (fileAfter(t, turns, c.step) - fileAfter(t, 0, c.step)) / turns
			t.Logf("a turn takes %d bytes", each)
			if each > c.most {
				t.Errorf("a turn takes %d bytes; the most is %d", each, c.most)
			}
		})
	}
}

// fileAfter is the size of the database after so many turns.
func fileAfter(t *testing.T, turns int, script func(n int) step) int64 {
	t.Helper()
	h := prepareHouse(t)
	h.agents["default"] = sdk.Agent{}
	h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok("written") })
	h.tools.on("bash", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		return ok(prose(len(c.Arguments), 8<<10))
	})
	for n := range turns {
		h.models.steps = append(h.models.steps, script(n))
	}
	return h.size(t)
}

// size is that of the database after a run.
func (h *house) size(t *testing.T) int64 {
	t.Helper()
	h.boot(t)
	h.run(Submission{})
	h.cut()
	if err := h.store.Store.Close(); err != nil { // which ends the write-ahead log
		t.Fatal(err)
	}
	file, err := os.Stat(filepath.Join(h.dir, "bothy.db"))
	if err != nil {
		t.Fatal(err)
	}
	return file.Size()
}

// inOneForm writes arguments without regard to the order of their members, and
// without those that are null, which an entry's attributes cannot hold.
func inOneForm(t *testing.T, arguments json.RawMessage) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(arguments, &object); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	return string(encode(object))
}
