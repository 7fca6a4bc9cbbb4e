package engine

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
)

// fakeInstructions has one answer for the root of a project.
type fakeInstructions struct {
	in  sdk.Instructions
	err error
}

func (f fakeInstructions) User() (sdk.Instructions, error)          { return sdk.Instructions{}, nil }
func (f fakeInstructions) Project(string) (sdk.Instructions, error) { return f.in, f.err }
func (f fakeInstructions) Nested(string, []string, func(sdk.Instructions) bool) ([]sdk.Instructions, error) {
	return nil, nil
}

// nothingRemembered is a project in which nobody has answered anything.
type nothingRemembered struct{}

func (nothingRemembered) Allowing(string) []sdk.PolicyRule { return nil }
func (nothingRemembered) Open(string) bool                 { return false }

// instructed is a house that reads the files of its project, which is trusted until the
// test says no.
func instructed(t *testing.T, steps ...step) (*house, *atomic.Bool) {
	h := prepareHouse(t, steps...)
	trusted := new(atomic.Bool)
	trusted.Store(true)
	h.config.Instructions = project.InstructionFiles{Folder: func() string { return h.dir }, Trusted: func(string) bool { return trusted.Load() }}
	h.config.Access = policy.Live{
		Written: func(string) policy.Settings { return policy.Settings{} }, Sandbox: func(string) sdk.Sandbox { return sdk.Sandbox{} },
		Remembered: nothingRemembered{}, Links: project.Links,
	}
	return h, trusted
}

func (h *house) write(file, text string) {
	h.t.Helper()
	at := filepath.Join(h.project, file)
	err := cmp.Or(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600))
	if err != nil {
		h.t.Fatal(err)
	}
}

func reads(path string) step { return calls(call{"read", `{"path":"` + path + `"}`}) }

// last is the last message that a model was sent in the n-th request.
func (h *house) last(n int) string {
	m := h.models.asked()[n].Messages
	return m[len(m)-1].Text
}

// told are the files whose instructions are in a text.
func told(text string) (files []string) {
	for _, line := range strings.Split(text, "\n") {
		if file, is := strings.CutPrefix(line, "[End of "); is {
			files = append(files, strings.TrimSuffix(file, "]"))
		}
	}
	return files
}

// TestNestedInstructions: they come with the first result below their folder, once, and
// again when they have changed; the system text stays as it is.
func TestNestedInstructions(t *testing.T) {
	h, _ := instructed(t,
		reads("x"), reads("a/x"), reads("a/y"), reads("a/b/x"), calls(call{"bash", `{"command":"pwd","dir":"c"}`}),
		calls(call{"read", `{"path":"a/b/1"}`}, call{"read", `{"path":"d/2"}`}), reads("../a/x"))
	for file, text := range map[string]string{"AGENTS.md": "Root.", "a/AGENTS.md": "Say a.", "a/b/CLAUDE.md": "Say b.", "c/AGENTS.md": "Say c.", "d/AGENTS.md": "Say d."} {
		h.write(file, text)
	}
	h.start()
	h.run(Submission{Run: "r"})
	for i, want := range []string{"", "a/AGENTS.md", "", "a/b/CLAUDE.md", "c/AGENTS.md", "d/AGENTS.md", ""} {
		if got := strings.Join(told(h.last(i+1)), " "); got != want {
			t.Errorf("with the result of call %d: %q, want %q", i+1, got, want)
		}
	}
	first := h.models.asked()[0].Messages[0].Text
	for i, r := range h.models.asked() {
		if r.Messages[0].Text != first {
			t.Errorf("the system text of request %d is another", i+1)
		}
	}
	if !strings.Contains(first, "Root.") || strings.Contains(first, "Say a.") {
		t.Errorf("the system text has\n%s", first)
	}

	// Changed, it is told again, and once.
	h.write("a/AGENTS.md", "Say aa.")
	h.models.steps = []step{reads("a/z"), reads("a/zz")}
	before := len(h.models.asked())
	a := h.run(Submission{Run: "r"})
	if got := h.last(before + 1); !strings.Contains(got, "Say aa.") || strings.Contains(got, "Say b.") {
		t.Errorf("after a change: %s", got)
	}
	if got := told(h.last(before + 2)); got != nil {
		t.Errorf("told again: %q", got)
	}

	// What was told is rendered the same by the next daemon, which tells it not again.
	messages := h.models.asked()[before+2].Messages
	h.cut()
	h.models.steps = []step{reads("a/b/zzz")}
	h.start()
	before = len(h.models.asked())
	h.run(Submission{Run: "r"})
	for i, m := range messages {
		if now := h.models.asked()[before].Messages[i]; now.Text != m.Text {
			t.Errorf("message %d was %q, and is %q", i, m.Text, now.Text)
		}
	}
	if got := told(h.last(before + 1)); got != nil {
		t.Errorf("told again after a restart: %q", got)
	}

	// A fork has been told what its parent was up to there.
	h.fork(a.Run, 2, "early")
	h.models.steps = []step{reads("a/b/x")}
	before = len(h.models.asked())
	h.run(Submission{Run: "early"})
	if got := h.last(before + 1); !strings.Contains(got, "Say aa.") || !strings.Contains(got, "Say b.") {
		t.Errorf("a fork from before the change: %s", got)
	}
	h.fork(a.Run, 0, "late")
	h.models.steps = []step{reads("a/b/x")}
	before = len(h.models.asked())
	h.run(Submission{Run: "late"})
	if got := told(h.last(before + 1)); got != nil {
		t.Errorf("a fork is told again: %q", got)
	}
	h.check(a.Run)
}

func (h *house) fork(run int64, turn int, alias string) {
	h.t.Helper()
	if _, err := h.engine.Fork(h.t.Context(), Fork{Run: run, Turn: turn, Alias: alias}); err != nil {
		h.t.Fatal(err)
	}
}

// TestUntrustedInstructions: they are named to the model and to people, once, and not
// read; after a yes they are told, and after a no not any more.
func TestUntrustedInstructions(t *testing.T) {
	h, trusted := instructed(t, reads("a/x"), reads("a/y"))
	trusted.Store(false)
	h.write("AGENTS.md", "Root.")
	h.write("a/AGENTS.md", "Say a.")
	h.start()
	a := h.run(Submission{Run: "r"})
	for _, r := range h.models.asked() {
		for _, m := range r.Messages {
			if strings.Contains(m.Text, "Root.") || strings.Contains(m.Text, "Say a.") {
				t.Errorf("read: %s", m.Text)
			}
		}
	}
	if !strings.Contains(h.models.asked()[0].Messages[0].Text, "The project's AGENTS.md tells agents what to do, but the person has not agreed") {
		t.Error("the model does not hear of the file at the root")
	}
	if !strings.Contains(h.last(1), "[a/AGENTS.md tells agents") || strings.Contains(h.last(2), "a/AGENTS.md tells") {
		t.Errorf("the model hears %q and %q", h.last(1), h.last(2))
	}
	h.models.steps = []step{reads("a/z")}
	h.run(Submission{Run: "r"})
	var said []string
	for _, e := range h.entries(a.Run, "log://") {
		if strings.Contains(e.Path, "/error/") {
			said = append(said, e.Path+" "+e.Body)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], "AGENTS.md was not read") || !strings.Contains(said[1], "a/AGENTS.md was not read") || !strings.Contains(said[1], "bothy trust --accept-instructions") {
		t.Errorf("people hear %q", said)
	}

	trusted.Store(true)
	h.models.steps = []step{reads("a/zz")}
	before := len(h.models.asked())
	h.run(Submission{Run: "r"})
	if !strings.Contains(h.models.asked()[before].Messages[0].Text, "Root.") || !strings.Contains(h.last(before+1), "Say a.") {
		t.Error("they are not read after a yes")
	}
	trusted.Store(false)
	h.models.steps = []step{reads("a/zzz")}
	before = len(h.models.asked())
	h.run(Submission{Run: "r"})
	if strings.Contains(h.models.asked()[before].Messages[0].Text, "Root.") || !strings.Contains(h.last(before+1), "[a/AGENTS.md tells agents") {
		t.Error("they are read after a no")
	}
	h.check(a.Run)
}

// TestInstructionsOfAHostileProject: nothing outside is read, and nothing waited for.
func TestInstructionsOfAHostileProject(t *testing.T) {
	h, _ := instructed(t, reads("out/x"), reads("in/x"), reads("leads/x"), calls(call{"bash", `{"command":"cat a/x out/y"}`}), calls(call{"nothing", `{"path":"d/x"}`}), reads("../x"))
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "AGENTS.md"), []byte("Outside."), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"a/AGENTS.md": "Say a.", "d/AGENTS.md": "Say d.", "leads/x": ""} {
		h.write(file, text)
	}
	for name, target := range map[string]string{"out": outside, "in": "a", "leads/AGENTS.md": filepath.Join(outside, "AGENTS.md")} {
		if err := os.Symlink(target, filepath.Join(h.project, name)); err != nil {
			t.Fatal(err)
		}
	}
	h.start()
	a := h.run(Submission{Run: "r"})
	for i, want := range []string{"", "a/AGENTS.md", "", "", "", ""} { // in leads to a, which the command works in too
		if got := strings.Join(told(h.last(i+1)), " "); got != want || strings.Contains(h.last(i+1), "Outside.") {
			t.Errorf("with the result of call %d: %q, want %q", i+1, got, want)
		}
	}
	var said []string
	for _, e := range h.entries(a.Run, "log://") {
		if strings.Contains(e.Path, "/error/instructions") {
			said = append(said, e.Body)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "leads/AGENTS.md") {
		t.Errorf("people hear %q", said)
	}
	h.check(a.Run)
}

// TestUntrustedInstructionsOfManyFolders: people hear of each, in whichever call of a turn.
func TestUntrustedInstructionsOfManyFolders(t *testing.T) {
	h, trusted := instructed(t, calls(call{"read", `{"path":"a/b/x"}`}, call{"write", `{"path":"c/x"}`}, call{"write", `{"path":"d/x"}`}))
	trusted.Store(false)
	for _, file := range []string{"a/AGENTS.md", "a/b/CLAUDE.md", "c/AGENTS.md", "d/AGENTS.md"} {
		h.write(file, "Say it.")
	}
	h.start()
	a := h.run(Submission{Run: "r"})
	said := ""
	for _, e := range h.entries(a.Run, "log://turn_1/error/") {
		said += e.Body + "\n"
	}
	for _, file := range []string{"a/AGENTS.md", "a/b/CLAUDE.md", "c/AGENTS.md", "d/AGENTS.md"} {
		if !strings.Contains(said, file+" was not read") {
			t.Errorf("%s is missing in %q", file, said)
		}
	}
	h.check(a.Run)
}

// TestInstructionsOfCallsThatTheModelDoesNotRead: what a plugin calls tells nothing, and
// so the next call of the model does; parallel calls are told in their order.
func TestInstructionsOfCallsThatTheModelDoesNotRead(t *testing.T) {
	h, _ := instructed(t, calls(call{"wrap", "{}"}), calls(call{"read", `{"path":"a/1"}`}, call{"read", `{"path":"a/2"}`}))
	h.calling("wrap", invoking(call{"read", `{"path":"a/x"}`}))
	h.write("a/AGENTS.md", "Say a.")
	h.start()
	a := h.run(Submission{Run: "r"})
	if got := told(h.last(1)); got != nil {
		t.Errorf("the call of a plugin tells %q", got)
	}
	m := h.models.asked()[2].Messages
	if first, second := told(m[len(m)-2].Text), told(m[len(m)-1].Text); len(first) != 1 || second != nil {
		t.Errorf("told %q and %q", first, second)
	}
	h.check(a.Run)
}

// TestInstructionsAfterACut: a call that a daemon was cut in tells what it has to when the
// next one makes it.
func TestInstructionsAfterACut(t *testing.T) {
	h, _ := instructed(t, reads("a/x"), reads("a/y"))
	h.write("a/AGENTS.md", "Say a.")
	begun := make(chan struct{}, 1)
	h.tools.on("read", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return sdk.ToolResult{}, ctx.Err()
	})
	h.start()
	a := h.submit(Submission{Run: "r"})
	<-begun
	h.cut()
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok("read") })
	h.start()
	h.await(a)
	if first, second := told(h.last(1)), told(h.last(2)); len(first) != 1 || second != nil {
		t.Errorf("told %q and %q", first, second)
	}
	h.check(a.Run.ID)
}
