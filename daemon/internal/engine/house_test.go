package engine

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/daemon/internal/dialect"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

func TestMain(m *testing.M) {
	// Each check of a property works on a disk: so many as a quick run bears. A
	// long one has -rapid.checks.
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// house is an engine with the real store, view, dialect and policy, and a
// scripted model and tools.
type house struct {
	t       testing.TB
	dir     string
	project string
	store   *watchedStore
	tools   *fakeTools
	models  *fakeModels
	hooks   *hook.Chains
	agents  map[string]sdk.Agent // another map is another configuration
	config  Config
	engine  *Engine
}

// watchedStore counts commits and can refuse them.
type watchedStore struct {
	*store.Store
	mu      sync.Mutex
	changes []sdk.Change
	refuse  func(n int, c sdk.Change) error
	left    func() // called when a prompt is durable
}

func (s *watchedStore) Enqueue(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	l, r, err := s.Store.Enqueue(ctx, l)
	if s.left != nil {
		s.left()
	}
	return l, r, err
}

func (s *watchedStore) Begin(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	l, r, err := s.Store.Begin(ctx, l)
	if s.left != nil {
		s.left()
	}
	return l, r, err
}

func (s *watchedStore) Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	s.mu.Lock()
	s.changes = append(s.changes, c)
	n, refuse := len(s.changes), s.refuse
	s.mu.Unlock()
	if refuse != nil {
		if err := refuse(n, c); err != nil {
			return sdk.Receipt{}, err
		}
	}
	return s.Store.Commit(ctx, c)
}

func (s *watchedStore) commits() []sdk.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.changes)
}

func (s *watchedStore) setRefuse(f func(n int, c sdk.Change) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes, s.refuse = nil, f
}

func newHouse(t testing.TB, steps ...step) *house {
	t.Helper()
	h := prepareHouse(t, steps...)
	h.start()
	return h
}

func prepareHouse(t testing.TB, steps ...step) *house {
	t.Helper()
	return prepareHouseWith(t, time.Now, steps...)
}

// memoryDir is a folder in memory where there is one: what a disk does is the
// store's to test. A benchmark gets one on disk.
func memoryDir(t testing.TB) string {
	t.Helper()
	if _, measures := t.(*testing.B); measures {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "bothy-engine-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// prepareHouseWith is prepareHouse with a wall clock.
func prepareHouseWith(t testing.TB, clock func() time.Time, steps ...step) *house {
	t.Helper()
	return prepareHouseOn(t, store.Options{Clock: clock}, steps...)
}

// prepareHouseOn is prepareHouse with a store of its own kind.
func prepareHouseOn(t testing.TB, options store.Options, steps ...step) *house {
	t.Helper()
	clock := options.Clock
	options.Log = hclog.NewNullLogger()
	dir := memoryDir(t)
	h := &house{t: t, dir: dir, project: t.TempDir(), tools: newFakeTools(), models: &fakeModels{steps: steps}}
	inner, err := store.Open(context.Background(), filepath.Join(dir, "bothy.db"), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := inner.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	h.store = &watchedStore{Store: inner}
	h.hooks = hook.New(hclog.NewNullLogger())
	h.config = Config{
		Store: h.store, Tools: h.tools, Models: h.models, Views: map[string]Assembler{sdk.ViewTranscript: view.NewTranscript(clock)},
		Dialects: map[string]Dialect{sdk.DialectTools: dialect.Tools{}, sdk.DialectTags: dialect.Tags{}},
		Policy:   policy.New(policy.Settings{Rules: []sdk.PolicyRule{{Name: "fakes", Verdict: sdk.Allow, Tools: []string{"bash*"}}}}), Hooks: h.hooks, DataDir: dir, Log: hclog.NewNullLogger(),
		Agents: agents(func() map[string]sdk.Agent { return h.agents }),
	}
	h.agents = map[string]sdk.Agent{
		"default": {Guards: sdk.Guards{MaxTurns: 99, RepeatedCalls: 2, ConsecutiveErrors: 3}},
		"free":    {},
		"short":   {Guards: sdk.Guards{MaxTurns: 3}},
		"polite":  {Busy: "refuse"},
		"reader":  {Tools: []string{"read*"}},
		"bare":    {Tools: []string{"nothing"}},
		"odd":     {Dialect: "telepathy"},
		"tags":    {Dialect: sdk.DialectTags},
	}
	return h
}

func (h *house) start() {
	h.t.Helper()
	var err error
	if h.engine, err = New(h.config); err != nil {
		h.t.Fatal(err)
	}
	e := h.engine
	h.t.Cleanup(func() { // before the store closes
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			h.t.Errorf("close the engine: %v", err)
		}
	})
}

// cut ends the engine as a second signal does.
func (h *house) cut() {
	h.t.Helper()
	if err := h.engine.Close(ended()); err != nil {
		h.t.Error(err)
	}
}

// untilClosed waits until the run has no open turn.
func (h *house) untilClosed(run int64) {
	h.t.Helper()
	h.until("every turn is closed", func() bool {
		open, err := h.store.OpenTurns(context.Background())
		if err != nil {
			h.t.Fatal(err)
		}
		return !slices.Contains(open, run)
	})
}

func (h *house) submit(s Submission) Accepted {
	h.t.Helper()
	s.Project = h.project
	if s.Prompt == "" {
		s.Prompt = "do it"
	}
	got, err := h.engine.Submit(h.t.Context(), s)
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// run submits a prompt and returns the loop when it has ended.
func (h *house) run(s Submission) sdk.Loop {
	h.t.Helper()
	return h.await(h.submit(s))
}

func (h *house) await(a Accepted) sdk.Loop {
	h.t.Helper()
	var found sdk.Loop
	h.until("the loop ends", func() bool {
		loops, err := h.store.Loops(context.Background(), a.Run.ID)
		if err != nil {
			h.t.Fatal(err)
		}
		i := slices.IndexFunc(loops, func(l sdk.Loop) bool { return l.ID == a.Loop.ID })
		found = loops[i]
		return found.Status != sdk.StatusQueued && found.Status != sdk.StatusRunning
	})
	return found
}

// until waits for commits until something holds.
func (h *house) until(what string, holds func() bool) {
	h.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		changed := h.store.Changed()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			h.t.Fatalf("it never came that %s", what)
		}
	}
}

func (h *house) entries(run int64, prefix string) []sdk.Entry {
	h.t.Helper()
	all, err := h.store.Entries(context.Background(), sdk.EntryQuery{Run: run})
	if err != nil {
		h.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e sdk.Entry) bool { return !strings.HasPrefix(e.Path, prefix) })
}

// actions are the run's action entries, in order.
func (h *house) actions(run int64) []sdk.Entry {
	return slices.DeleteFunc(h.entries(run, "log://"), func(e sdk.Entry) bool { return e.Phase == sdk.PhaseNone })
}

// outcomes writes the run's actions as tool:state:outcome.
func (h *house) outcomes(run int64) string {
	var words []string
	for _, e := range h.actions(run) {
		word := attributes(h.t, e).Tool + ":" + string(e.State)
		if e.Outcome != "" {
			word += ":" + string(e.Outcome)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func attributes(t interface {
	Helper()
	Fatalf(string, ...any)
}, e sdk.Entry) (at struct {
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Index     int             `json:"index"`
	Decision  *sdk.Decision   `json:"decision"`
	Error     string          `json:"error"`
	Metadata  map[string]any  `json:"metadata"`
	Duration  *int64          `json:"duration_ms"`
	Repeats   string          `json:"repeats"`
}) {
	t.Helper()
	if err := json.Unmarshal(e.Attributes, &at); err != nil {
		t.Fatalf("attributes of %s: %v", e.Path, err)
	}
	return at
}

// check holds every run to what must be true when nothing runs: each loop
// ended once, each turn is closed, each call of each answer has one action
// that has ended, and the journal verifies.
func (h *house) check(runs ...int64) {
	h.t.Helper()
	h.checkRuns(runs...)
	if err := h.store.Verify(context.Background(), 0); err != nil {
		h.t.Errorf("the journal does not verify: %v", err)
	}
}

func (h *house) checkRuns(runs ...int64) {
	h.t.Helper()
	ctx := context.Background()
	for _, run := range runs {
		h.checkLoops(ctx, run)
		turns, err := h.store.Turns(ctx, run)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, turn := range turns {
			if !turn.Closed {
				h.t.Errorf("turn %d of run %d is still open", turn.Sequence, run)
			}
		}
		h.checkActions(run)
	}
}

func (h *house) checkLoops(ctx context.Context, run int64) {
	h.t.Helper()
	loops, err := h.store.Loops(ctx, run)
	if err != nil {
		h.t.Fatal(err)
	}
	rows, err := h.store.Journal(ctx, sdk.JournalQuery{Run: run})
	if err != nil {
		h.t.Fatal(err)
	}
	ended := map[int64]int{}
	for _, row := range rows {
		if row.Kind == sdk.KindLoopEnded {
			ended[row.Loop]++
		}
	}
	for _, l := range loops {
		if ended[l.ID] != 1 || l.Reason == "" || l.Stop == "" {
			h.t.Errorf("loop %d ended %d times, with %d %q: %s", l.Sequence, ended[l.ID], l.Status, l.Stop, l.Reason)
		}
	}
}

func (h *house) checkActions(run int64) {
	h.t.Helper()
	made := map[string]int{}
	for _, e := range h.actions(run) {
		if e.Phase != sdk.PhaseEnded || !e.State.Ended() {
			h.t.Errorf("%s is %s and %s", e.Path, e.Phase, e.State)
		}
		var turn int
		if _, err := fmt.Sscanf(e.Path, "log://turn_%d/", &turn); err != nil {
			h.t.Errorf("%s: %v", e.Path, err)
		}
		if parentOf(e) == "" {
			made[fmt.Sprintf("%d %s", turn, attributes(h.t, e).CallID)]++
		}
	}
	asked := 0
	for _, e := range h.entries(run, "assistant://") {
		var at sdk.Reply
		if err := json.Unmarshal(e.Attributes, &at); err != nil {
			h.t.Fatal(err)
		}
		for _, c := range at.Calls {
			asked++
			if n := made[strings.TrimPrefix(e.Path, "assistant://")+" "+c.ID]; n != 1 {
				h.t.Errorf("call %s of %s has %d actions", c.ID, e.Path, n)
			}
		}
	}
	if asked > 0 && asked != len(made) {
		h.t.Errorf("%d calls, %d actions", asked, len(made))
	}
}

// parentOf is the path of the action whose plugin made a call; empty where the
// model did.
func parentOf(entry sdk.Entry) string {
	at, _ := sdk.ActionOf(entry)
	return at.Parent
}
