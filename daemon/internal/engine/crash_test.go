package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// mortalStore lets so many writes through and then none: for the engine on it
// the daemon has died. The last write may be durable without the engine
// learning of it.
type mortalStore struct {
	*store.Store
	dead chan struct{} // closed by death

	mu     sync.Mutex
	left   int  // writes until death; negative is never
	silent bool // the write that death comes with is durable
}

func newMortalStore(s *store.Store, left int, silent bool) *mortalStore {
	return &mortalStore{Store: s, dead: make(chan struct{}), left: left, silent: silent}
}

var errDead = sdk.Errorf(sdk.Unavailable, "the daemon is dead")

func mortal[T any](m *mortalStore, write func() (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var none T
	select {
	case <-m.dead:
		return none, errDead
	default:
	}
	if m.left == 0 {
		close(m.dead)
		if m.silent {
			if _, err := write(); err != nil {
				return none, err
			}
		}
		return none, errDead
	}
	m.left--
	return write()
}

func (m *mortalStore) Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	return mortal(m, func() (sdk.Receipt, error) { return m.Store.Commit(ctx, c) })
}

func (m *mortalStore) Enqueue(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	var queued sdk.Loop
	r, err := mortal(m, func() (r sdk.Receipt, err error) {
		queued, r, err = m.Store.Enqueue(ctx, l)
		return r, err
	})
	return queued, r, err
}

func (m *mortalStore) Begin(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	var begun sdk.Loop
	r, err := mortal(m, func() (r sdk.Receipt, err error) {
		begun, r, err = m.Store.Begin(ctx, l)
		return r, err
	})
	return begun, r, err
}

func (m *mortalStore) ClaimLoop(ctx context.Context, run int64) (sdk.Loop, bool, error) {
	found := false
	l, err := mortal(m, func() (l sdk.Loop, err error) {
		l, found, err = m.Store.ClaimLoop(ctx, run)
		return l, err
	})
	return l, found && err == nil, err
}

// effects is what tools really did, by call.
type effects struct {
	mu   sync.Mutex
	done map[string]int
}

func (f *effects) of(call sdk.Invocation) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[call.CallID]
}

// on makes tools leave their marks. A call of "slow" outlives the daemon.
func (f *effects) on(tools *fakeTools, knows bool) {
	f.done = map[string]int{}
	do := func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.done[c.CallID]++
		if strings.HasSuffix(c.Tool, "_bad") {
			return sdk.ToolResult{Output: "no", Outcome: sdk.Exit(1)}, nil
		}
		return asks(c, "done")
	}
	tools.mu.Lock()
	defer tools.mu.Unlock()
	for _, t := range tools.specs {
		tools.does[t.Name] = do
	}
	tools.settle = nil
	if knows {
		tools.settle = func(c sdk.Invocation) (sdk.ToolResult, error) {
			if f.of(c) == 0 {
				return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "it was never begun here")
			}
			return asks(c, "held")
		}
	}
}

// asks is the result of a call, which of one tool asks for another call.
func asks(c sdk.Invocation, text string) (sdk.ToolResult, error) {
	r := sdk.ToolResult{Success: true, Output: text}
	if c.Tool == "bash_asks" {
		r.Follow = &sdk.FollowUp{Tool: "bash_apply", Arguments: c.Arguments}
	}
	return r, nil
}

// TestAnyCrash plays random turns and kills the daemon at a random write, then
// the next one at a random write of its recovery, and so on. Whatever happens,
// no side effect comes twice, everything that was acknowledged is there, and
// every loop ends once.
func TestAnyCrash(t *testing.T) {
	h := prepareHouse(t)
	h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
	h.tools.add("bash_asks", sdk.Annotations{Destructive: true}, true, sdk.GrantSandbox)
	h.tools.add("bash_apply", sdk.Annotations{Destructive: true}, true, sdk.GrantSandbox)
	h.tools.become("bash_apply", func(t *sdk.Tool) { t.Unlisted = true })
	inner := h.store.Store
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		var marks effects
		marks.on(h.tools, rapid.Bool().Draw(rt, "the tools know"))
		steps := anySteps(rt)
		h.models.mu.Lock()
		h.models.steps = steps
		h.models.mu.Unlock()
		n++
		name := fmt.Sprintf("r%d", n)
		prompts := rapid.IntRange(1, 3).Draw(rt, "prompts")
		agent := rapid.SampledFrom([]string{"default", "free"}).Draw(rt, "agent")
		var accepted []Accepted
		for range rapid.IntRange(1, 4).Draw(rt, "deaths") {
			m := newMortalStore(inner, rapid.IntRange(0, 12).Draw(rt, "writes"), rapid.Bool().Draw(rt, "silent"))
			h.config.Store = m
			h.boot(rt)
			for ; prompts > 0; prompts-- {
				a, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Run: name, Agent: agent, Prompt: "p"})
				if err != nil {
					break
				}
				accepted = append(accepted, a)
			}
			h.untilDeadOrDone(m, accepted)
			h.cut()
		}
		h.config.Store = h.store
		h.boot(rt)
		defer h.cut()
		h.untilIdle() // a prompt that nobody was told of may be there, too
		run, err := inner.RunByAlias(context.Background(), 1, name)
		if err != nil {
			return // death came before the run was made
		}
		h.checkAccepted(rt, run.ID, accepted)
		h.checkMarks(rt, run, &marks)
		h.checkRuns(run.ID)
		if t.Failed() {
			rt.FailNow()
		}
	})
	h.check()
}

func anySteps(rt *rapid.T) []step {
	tool := rapid.SampledFrom([]string{"read", "write", "write", "put", "bash_asks", "bash_asks", "write_bad", "finish", "nosuch", "loose"})
	var steps []step
	for range rapid.IntRange(0, 6).Draw(rt, "turns") {
		var cs []call
		for range rapid.IntRange(0, 4).Draw(rt, "calls") {
			cs = append(cs, numbered(tool.Draw(rt, "tool"), rapid.IntRange(0, 3).Draw(rt, "path")))
		}
		if len(cs) == 0 {
			steps = append(steps, say("fine"))
		} else {
			steps = append(steps, calls(cs...))
		}
	}
	return steps
}

// boot starts an engine that the caller closes.
func (h *house) boot(t interface{ Fatal(...any) }) {
	var err error
	if h.engine, err = New(h.config); err != nil {
		t.Fatal(err)
	}
}

func (h *house) untilDeadOrDone(m *mortalStore, accepted []Accepted) {
	for {
		changed := m.Changed()
		done := true
		for _, a := range accepted {
			done = done && h.loop(a).Status > sdk.StatusRunning
		}
		if done {
			return
		}
		select {
		case <-changed:
		case <-m.dead:
			return
		}
	}
}

func (h *house) loop(a Accepted) sdk.Loop {
	loops, err := h.store.Loops(context.Background(), a.Run.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, l := range loops {
		if l.ID == a.Loop.ID {
			return l
		}
	}
	h.t.Fatalf("the loop %d is not there", a.Loop.ID)
	return sdk.Loop{}
}

// checkAccepted fails unless every prompt that was acknowledged is there, in
// order, and has ended.
func (h *house) checkAccepted(t *rapid.T, run int64, accepted []Accepted) {
	before := 0
	for _, a := range accepted {
		l := h.loop(a)
		if a.Run.ID != run || l.Sequence <= before || l.Status <= sdk.StatusRunning {
			t.Fatalf("of the prompts %+v there is %+v", accepted, l)
		}
		before = l.Sequence
	}
}

// checkMarks compares what was recorded with what tools really did.
func (h *house) checkMarks(t *rapid.T, run sdk.Run, marks *effects) {
	recorded := 0
	asked := map[string]int{} // by the path of the action that asked
	for _, e := range h.actions(run.ID) {
		asked[parentOf(e)]++
	}
	for _, e := range h.actions(run.ID) {
		if wants := strings.Contains(e.Path, "/bash_asks/") && e.State == sdk.StateResolved && attributes(t, e).Repeats == ""; asked[e.Path] > 1 || wants && asked[e.Path] != 1 {
			t.Fatalf("%s is %s, and %d calls follow it", e.Path, e.State, asked[e.Path])
		}
		at := attributes(t, e)
		id := fmt.Sprintf("%s-%d-%d", run.Key, sdk.TurnOf(e.Path), at.Index)
		n := marks.done[id]
		if n > 0 {
			recorded++
		}
		repeatable := at.Tool == "read" || at.Tool == "put" || at.Tool == "finish"
		unknown := e.Outcome == sdk.Interrupted
		made := (e.State == sdk.StateResolved || e.Outcome == sdk.Exit(1)) && at.Repeats == ""
		switch {
		case n > 1 && !repeatable:
			t.Fatalf("%s was made %d times", e.Path, n)
		case made && n == 0:
			t.Fatalf("%s is %s and was never made", e.Path, e.State)
		case !made && !unknown && n > 0:
			t.Fatalf("%s is %s %s and was made", e.Path, e.State, e.Outcome)
		case unknown && repeatable:
			t.Fatalf("%s could have been made again", e.Path)
		}
	}
	if recorded != len(marks.done) {
		t.Fatalf("%d calls had an effect, %d of them are recorded", len(marks.done), recorded)
	}
}
