package engine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// conversation is one whose model reads, writes and answers.
func conversation() []step {
	return []step{
		calls(call{"read", `{"path":"a"}`}, call{"write", `{"path":"b"}`}),
		calls(call{"read", `{"path":"b"}`}, call{"write", `{"path":"c"}`}),
		say("done"),
	}
}

// taped fetches the cassette of a prompt, piece by piece, and returns a file with it.
func (h *house) taped(a Accepted) string {
	h.t.Helper()
	var all []byte
	for {
		piece, err := h.engine.Cassette(h.t.Context(), a.Run.ID, a.Loop.Sequence, int64(len(all)))
		if err != nil {
			h.t.Fatal(err)
		}
		if all = append(all, piece.Text...); int64(len(all)) == piece.Size {
			break
		}
	}
	path := filepath.Join(h.t.TempDir(), "cassette.json")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// record makes the cassette of a conversation.
func record(t *testing.T, steps ...step) (file string, did []string) {
	t.Helper()
	h := newHouse(t, steps...)
	a := h.submit(Submission{Mode: sdk.ModeFull, Record: true})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	return h.taped(a), h.invoked()
}

// invoked are the calls that were made, with their arguments.
func (h *house) invoked() (all []string) {
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	for _, c := range h.tools.made {
		all = append(all, c.Tool+" "+string(c.Arguments))
	}
	return all
}

// modelless is a house in which no model answers.
func modelless(t *testing.T) *house {
	h := newHouse(t, failing(context.Canceled))
	h.models.gone = true
	return h
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestARecordedPromptReplays(t *testing.T) {
	file, did := record(t, conversation()...)
	h := modelless(t)
	a := h.submit(Submission{Mode: sdk.ModeFull, Replay: file, Strict: true, Record: true})
	if l := h.await(a); l.Status != sdk.StatusOK || l.Stop != sdk.StopAnswer || a.Model != "replay/fake/m" || a.Run.Model != "fake/m" || !strings.Contains(a.Why, file) {
		t.Fatalf("ended %d %q: %s; model %s because %q", l.Status, l.Stop, l.Reason, a.Model, a.Why)
	}
	if got := h.invoked(); !slices.Equal(got, did) || len(did) != 4 {
		t.Errorf("did %q, and %q when it was recorded", got, did)
	}
	if len(h.models.asked()) > 0 {
		t.Error("a model was asked")
	}
	again := h.taped(a)
	if first, second := read(t, file), read(t, again); !bytes.Equal(first, second) {
		t.Errorf("two recordings of one conversation differ:\n%s\n%s", first, second)
	}
	if info, err := os.Stat(h.engine.tapes().Path(a.Run, a.Loop)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the cassette in the run's folder: %v, error %v", info, err)
	}
	h.check(a.Run.ID)
}

// TestACassetteOutlivesTheDaemon: what is recorded and what is played goes on with the
// next one, also when the file that was named is gone.
func TestACassetteOutlivesTheDaemon(t *testing.T) {
	file, did := record(t, conversation()...)
	want := read(t, file)
	for _, replays := range []bool{false, true} {
		h := newHouse(t, conversation()...)
		s := Submission{Mode: sdk.ModeFull, Record: true}
		if replays {
			h.models.gone = true
			s.Replay, s.Strict = filepath.Join(t.TempDir(), "c.json"), true
			if err := os.WriteFile(s.Replay, want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		begun := make(chan struct{}, 1)
		h.tools.on("write", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
			select {
			case begun <- struct{}{}:
				<-ctx.Done()
				return sdk.ToolResult{}, ctx.Err()
			default:
				return ok("write " + string(c.Arguments))
			}
		})
		h.tools.settles = map[string]sdk.ToolResult{"write": {Success: true, Output: `write {"path":"b"}`}}
		a := h.submit(s)
		<-begun
		h.until("it is written down that the call was begun", func() bool { return len(h.actions(a.Run.ID)) == 2 })
		h.cut()
		if replays {
			if err := os.Remove(s.Replay); err != nil {
				t.Fatal(err)
			}
		}
		h.tools.on("write", nil)
		h.start()
		if l := h.await(a); l.Status != sdk.StatusOK {
			t.Fatalf("replays %v: ended %d: %s", replays, l.Status, l.Reason)
		}
		if got := h.invoked(); !slices.Equal(got, did) {
			t.Errorf("replays %v: did %q, want %q", replays, got, did)
		}
		if got := read(t, h.taped(a)); !bytes.Equal(got, want) {
			t.Errorf("replays %v: the cassette is another one:\n%s\n%s", replays, got, want)
		}
	}
}

func TestNoCassette(t *testing.T) {
	begun := make(chan struct{}, 1)
	blocked := make(chan bool, 1)
	var seen bool
	h := newHouse(t, say("done"), failing(&sdk.ProviderError{Class: sdk.ClassNever, Message: "no"}), after(blocked, &seen, say("done")), hanging(begun))
	plain := h.submit(Submission{})
	h.await(plain)
	failed := h.submit(Submission{Record: true})
	h.await(failed)
	lost := h.submit(Submission{Record: true})
	if err := os.MkdirAll(h.engine.tapes().Path(lost.Run, lost.Loop)+"l", 0o700); err != nil { // where its answers would go
		t.Fatal(err)
	}
	blocked <- true
	h.await(lost)
	open := h.submit(Submission{Record: true})
	<-begun
	for _, c := range []struct {
		name    string
		of      Accepted
		prompt  int
		offset  int64
		outcome sdk.Outcome
		says    string
	}{
		{"not asked for", plain, 1, 0, sdk.NotFound, "was not recorded"},
		{"no answer", failed, 1, 0, sdk.NotFound, "did not answer"},
		{"no prompt", plain, 7, 0, sdk.NotFound, "7"},
		{"at work", open, 1, 0, sdk.Conflict, "has not ended"},
		{"a disk that did not take it", lost, 1, 0, sdk.Unavailable, "no cassette can be made"},
	} {
		_, err := h.engine.Cassette(t.Context(), c.of.Run.ID, c.prompt, c.offset)
		if err == nil || sdk.OutcomeOf(err) != c.outcome || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if err := h.engine.Abort(t.Context(), open.Run.ID); err != nil {
		t.Fatal(err)
	}
	file, h := func() (string, *house) { f, _ := record(t, say("done")); return f, modelless(t) }()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	loose := filepath.Join(t.TempDir(), "loose.json")
	raw := bytes.Replace(read(t, file), []byte("do it"), []byte("go"), 1)
	c, err := cassette.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c.Steps = append(c.Steps, cassette.NewStep(nil, sdk.Completion{Text: "x"}, nil))
	c.Steps[0].Events = append([]cassette.Played{{Delta: sdk.Delta{Call: &sdk.CallDelta{ID: "a", Tool: "bash"}}}}, c.Steps[0].Events...)
	c.Steps[0].Events[len(c.Steps[0].Events)-1].Finish.Reason = "calls"
	c.Steps[1].Request = []cassette.Expected{{Role: sdk.RoleTool, Tool: "bash", Result: &cassette.Rule{Any: true}}}
	if raw, err = c.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(loose, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		s    Submission
		says string
	}{
		{"a model as well", Submission{Replay: file, Model: "fake/m"}, "leave out the model"},
		{"strict alone", Submission{Strict: true}, "strict goes with"},
		{"relative", Submission{Replay: "c.json"}, "absolute"},
		{"nowhere", Submission{Replay: file + "x"}, "cannot be opened"},
		{"a folder", Submission{Replay: t.TempDir()}, "is no file"},
		{"a pipe", Submission{Replay: pipe}, "is no file"},
		{"no cassette", Submission{Replay: writeTemp(t, "{\n\"format\": 1, oops}")}, "line 2"},
		{"strict with nothing to compare", Submission{Replay: loose, Strict: true}, "step 2, request message 1"},
	} {
		c.s.Project, c.s.Prompt = h.project, "do it"
		if _, err := h.engine.Submit(t.Context(), c.s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if runs, err := h.store.Runs(t.Context(), sdk.RunFilter{}); err != nil || len(runs) > 0 {
		t.Errorf("runs were made: %v, error %v", runs, err)
	}
}

func writeTemp(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoSecretIsRecorded: wherever it comes from, and the recording still plays.
func TestNoSecretIsRecorded(t *testing.T) {
	const secret = "hunter2hunter2"
	secretly := func(t *testing.T, steps ...step) *house {
		h := prepareHouse(t, steps...)
		h.config.RedactText = func(text string) string { return strings.ReplaceAll(text, secret, "[hidden]") }
		h.start()
		h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return ok("it is " + secret)
		})
		h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return ok("it is " + secret)
		})
		return h
	}
	h := secretly(t, calls(call{"bash", `{"command":"echo ` + secret + `"}`}, call{"read", `{}`}), say("it was "+secret))
	a := h.submit(Submission{Prompt: "say " + secret, Mode: sdk.ModeFull, Record: true})
	h.await(a)
	file := h.taped(a)
	if raw := read(t, file); bytes.Contains(raw, []byte(secret)) || bytes.Count(raw, []byte("[hidden]")) != 5 {
		t.Errorf("%s", raw)
	}
	h = secretly(t)
	h.models.gone = true
	if l := h.run(Submission{Prompt: "say " + secret, Mode: sdk.ModeFull, Replay: file, Strict: true}); l.Status != sdk.StatusOK {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
}
