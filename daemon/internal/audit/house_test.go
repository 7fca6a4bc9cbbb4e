package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a real store, runs in it, and a folder for runlogs.
type house struct {
	t       testing.TB
	store   *store.Store
	project sdk.Project
	dir     string
	config  Config
}

func newHouse(t testing.TB) *house {
	t.Helper()
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "bothy.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	h := &house{t: t, store: s, dir: t.TempDir()}
	h.config = Config{Store: s, Dir: h.dir, Redact: func(s string) string { return s }, Log: hclog.NewNullLogger()}
	if h.project, err = s.OpenProject(context.Background(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return h
}

// run makes a run with its folder.
func (h *house) run() sdk.Run {
	h.t.Helper()
	r, err := h.store.CreateRun(context.Background(), sdk.Run{Project: h.project.ID, Agent: "default", Model: "fake/m"})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := os.Mkdir(h.folder(r), 0o700); err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) folder(r sdk.Run) string { return filepath.Join(h.dir, r.Key) }
func (h *house) file(r sdk.Run) string   { return filepath.Join(h.folder(r), FileName) }

func (h *house) commit(c sdk.Change) sdk.Receipt {
	h.t.Helper()
	r, err := h.store.Commit(context.Background(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// loop queues and claims a prompt.
func (h *house) loop(r sdk.Run, prompt string) sdk.Loop {
	h.t.Helper()
	ctx := context.Background()
	if _, _, err := h.store.Enqueue(ctx, sdk.Loop{Run: r.ID, Prompt: prompt}); err != nil {
		h.t.Fatal(err)
	}
	l, ok, err := h.store.ClaimLoop(ctx, r.ID)
	if err != nil || !ok {
		h.t.Fatal(ok, err)
	}
	return l
}

func (h *house) open(r sdk.Run, l sdk.Loop) *sdk.Turn {
	h.t.Helper()
	turn := &sdk.Turn{Run: r.ID, Loop: l.ID, Model: "fake/m"}
	h.commit(sdk.Change{Run: r.ID, OpenTurn: turn})
	return turn
}

// write is a write of the engine's in a turn.
func write(turn *sdk.Turn, path string, w sdk.Write) sdk.Write {
	w.Path, w.Writer, w.Loop, w.Turn = path, sdk.WriterSystem, turn.Loop, turn.Sequence
	return w
}

func answer(turn *sdk.Turn, text string, calls ...sdk.Call) sdk.Write {
	at := map[string]any{"model": "fake/m", "finish": "stop", "calls": calls, "usage": sdk.Usage{Prompt: 10, Completion: 5, Total: 15}}
	return write(turn, fmt.Sprintf("assistant://%d", turn.Sequence), sdk.Write{Body: &text, Attributes: encode(at), State: sdk.StateResolved})
}

func actionPath(turn *sdk.Turn, tool, slug string) string {
	return fmt.Sprintf("log://turn_%d/%s/%s", turn.Sequence, tool, slug)
}

func started(turn *sdk.Turn, tool, slug, id string, arguments any) sdk.Write {
	at := map[string]any{"call_id": id, "tool": tool, "arguments": arguments, "index": 0, "plugin": "files", "decision": map[string]string{"verdict": "allow", "rule": "project", "reason": "r"}}
	return write(turn, actionPath(turn, tool, slug), sdk.Write{Create: true, Attributes: encode(at), State: sdk.StateStreaming, Phase: sdk.PhaseStarted})
}

func ended(turn *sdk.Turn, tool, slug, body string, outcome sdk.Outcome, more map[string]any) sdk.Write {
	at := map[string]any{"duration_ms": 12}
	for k, v := range more {
		at[k] = v
	}
	w := sdk.Write{Body: &body, Attributes: encode(at), State: sdk.StateResolved, Phase: sdk.PhaseEnded, Outcome: outcome}
	if outcome != "" {
		w.State = sdk.StateFailed
		if outcome == sdk.Aborted {
			w.State = sdk.StateCancelled
		}
	}
	return write(turn, actionPath(turn, tool, slug), w)
}

func end(l sdk.Loop, status int, stop, reason string) *sdk.LoopEnd {
	return &sdk.LoopEnd{Loop: l.ID, Status: status, Stop: stop, Reason: reason}
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// logged writes the runlogs as far as the journal goes.
func (h *house) logged() {
	h.t.Helper()
	finish(h.t, Start(h.config))
}

func finish(t testing.TB, r *Runlogs) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func (h *house) text(r sdk.Run) string {
	h.t.Helper()
	text, err := os.ReadFile(h.file(r))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// read is a line as a reader sees it.
type read struct {
	V       int            `json:"v"`
	Seq     int64          `json:"seq"`
	TS      float64        `json:"ts"`
	Kind    string         `json:"kind"`
	Step    string         `json:"step"`
	Loop    int64          `json:"loop"`
	Payload map[string]any `json:"payload"`
}

func (h *house) lines(r sdk.Run) []read {
	h.t.Helper()
	return parse(h.t, h.text(r))
}

func parse(t testing.TB, text string) []read {
	t.Helper()
	var all []read
	for _, l := range strings.SplitAfter(text, "\n") {
		if l == "" {
			continue
		}
		var x read
		dec := json.NewDecoder(bytes.NewReader([]byte(l)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&x); err != nil || !strings.HasSuffix(l, "\n") || x.V != 1 || x.Kind == "" || x.Seq < 1 || x.TS < 1e9 {
			t.Fatalf("line %q: %v", l, err)
		}
		all = append(all, x)
	}
	return all
}

func kinds(lines []read) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Kind)
	}
	return strings.Join(all, " ")
}

func (h *house) only(r sdk.Run, kind string) read {
	h.t.Helper()
	var found []read
	for _, l := range h.lines(r) {
		if l.Kind == kind {
			found = append(found, l)
		}
	}
	if len(found) != 1 {
		h.t.Fatalf("%d lines of kind %s", len(found), kind)
	}
	return found[0]
}
