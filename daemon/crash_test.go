package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestKill kills the real daemon with SIGKILL at moments of its life, most of
// them by chance, while it works on runs of ten turns whose every action
// appends a line to a file, and while clients submit, follow and ask. A daemon
// that is started again must finish the run: every line is there once or its
// action says that it was interrupted; nothing that anybody was told is lost;
// and no process or container of the dead daemon is left.
//
// BOTHY_KILLS says how often (8), BOTHY_SEED repeats a series.
func TestKill(t *testing.T) {
	kills := number(t, "BOTHY_KILLS", 8)
	t.Run("plugin", func(t *testing.T) {
		t.Parallel()
		k := newKilling(t, []string{"note_line", codeSkill, textSkill}, withoutSandbox)
		k.withSkills()
		k.series(kills - kills*2/3)
	})
	for name, agent := range map[string]string{"delegation": "foreman", "team": "crew", "team in turn": "relay"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t, []string{sdk.ToolDelegate, "note_line"}, withoutSandbox, foreman, teams)
			k.agent = agent
			k.series(max(kills/4, 1))
		})
	}
	t.Run("plan", func(t *testing.T) {
		t.Parallel()
		k := newKilling(t, []string{"note_line", sdk.ToolPlan}, withoutSandbox)
		k.file = true
		k.series(max(kills/4, 1))
	})
	t.Run("sandbox", func(t *testing.T) {
		if ok, _ := condition("sandbox"); !ok {
			t.Skip("sandbox: rootless Podman is needed, and a user who is not root")
		}
		t.Parallel()
		k := newKilling(t, []string{"bash", "note_line"}, "plugin \"files\" {\n  enabled = false\n}\n")
		k.series(kills * 2 / 3)
	})
}

func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q, which is no number", variable, text)
	}
	return n
}

// killing is a series of kills on one site.
type killing struct {
	*site
	tools  []string
	agent  string // that runs are given to; empty is the default
	file   bool   // they are given as files of plans
	random *rand.Rand
	length time.Duration // of a run that nobody disturbs
	birth  time.Duration // of a daemon, until it answers
	rows   chan sdk.JournalRow
	last   sdk.JournalRow
	struck map[string]int // what had happened last when the daemon was killed
	asked  int
	ended  []string // runs that are over and not deleted
}

func newKilling(t *testing.T, tools []string, blocks ...string) *killing {
	return &killing{
		site: newSite(t, blocks...), tools: tools, random: seeded(t),
		rows: make(chan sdk.JournalRow, 1<<16), struck: map[string]int{},
	}
}

func (k *killing) series(kills int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(kills+60)*10*time.Second)
	defer cancel()
	k.undisturbed(ctx)
	clients := &background{}
	ctx, clients.cancel = context.WithCancel(ctx)
	clients.run("the follower of all runs", func() error {
		return k.followAll(ctx, 0, func(r sdk.JournalRow) { k.rows <- r })
	})
	clients.run("the querier", func() error { return k.query(ctx, &k.asked) })
	done, runs := 0, 0
	for start := time.Now(); done < kills && !k.t.Failed(); {
		runs++
		done += k.disturbed(ctx, k.plan(fmt.Sprintf("r%d", runs)).asking(runs), min(kills-done, 1+k.random.IntN(8)))
		if done >= kills {
			k.t.Logf("%d kills in %d runs and %v; killed after: %s", done, runs, time.Since(start).Round(time.Second), k.phases())
		}
	}
	if err := clients.wait(); err != nil {
		k.t.Error(err)
	}
	if k.t.Failed() {
		return
	}
	if d, err := k.client.Run(context.Background(), rpc.RunRef{Run: "tools", Project: k.aside}); err == nil {
		k.actions(d.ID, "client-")
	}
	k.acknowledged()
	k.whole()
}

// undisturbed takes the time of a daemon's start and of a run.
func (k *killing) undisturbed(ctx context.Context) {
	k.t.Helper()
	start := time.Now()
	k.up()
	k.birth = time.Since(start)
	k.run(ctx, k.plan("calm")) // the first run pays for what is made once: the provider, a container
	start = time.Now()
	k.run(ctx, k.plan("calm2"))
	k.length = time.Since(start)
	k.t.Logf("a daemon is up in %v, a run takes %v", k.birth.Round(time.Millisecond), k.length.Round(time.Millisecond))
}

func (k *killing) plan(tag string) plan {
	return plan{Tag: tag, Agent: k.agent, Steps: 10, Tools: k.tools, Slow: 4, Twice: k.file, File: k.file}
}

// run takes a plan to its end, over as many daemons as it takes, and returns
// what it became.
func (s *site) run(ctx context.Context, p plan) rpc.Accepted {
	s.t.Helper()
	c := s.connect("submitter")
	defer func() { _ = c.Close() }()
	a, err := s.submit(ctx, c, p)
	if err == nil {
		err = s.followLoop(ctx, c, a, a.Seq)
	}
	if err != nil {
		s.t.Fatalf("run %s: %v\n%s", p.Tag, err, s.evidence())
	}
	s.finished(p, a)
	return a
}

// disturbed takes one run to its end and kills the daemon on the way, at most
// so many times. It returns how many times it was.
func (k *killing) disturbed(ctx context.Context, p plan, most int) (kills int) {
	type end struct {
		accepted rpc.Accepted
		err      error
	}
	over := make(chan end, 1)
	known := newAnswers()
	if ctx, cancel := context.WithCancel(ctx); p.Mode != "" {
		people := &background{cancel: cancel}
		people.run("who answers", func() error { return k.answerAll(ctx, p, known) })
		defer func() {
			if err := people.wait(); err != nil && !errors.Is(err, context.Canceled) {
				k.t.Error(err)
			}
		}()
	} else {
		cancel()
	}
	go func() {
		c := k.connect("submitter")
		defer func() { _ = c.Close() }()
		a, err := k.submit(ctx, c, p)
		if err == nil {
			err = k.followLoop(ctx, c, a, a.Seq)
		}
		over <- end{a, err}
	}()
	var e *end
	for kills < most && e == nil {
		m := k.moment()
		if e = await(over, func(stop <-chan struct{}) { m.wait(k, stop) }); e != nil {
			break
		}
		k.strike()
		kills++
	}
	if e == nil {
		select {
		case got := <-over:
			e = &got
		case <-time.After(patience):
			k.t.Fatalf("run %s does not end after %d kills\n%s", p.Tag, kills, k.evidence())
		}
	}
	if e.err != nil {
		k.t.Fatalf("run %s: %v\n%s", p.Tag, e.err, k.evidence())
	}
	k.finished(p, e.accepted)
	if p.Mode != "" {
		k.proposals(p, e.accepted.ID, known)
	}
	if k.t.Failed() {
		k.t.Logf("in run %s, after %d kills\n%s", p.Tag, kills, k.evidence())
	}
	k.forget(ctx, p.Tag)
	return kills
}

// await waits for f, or for a value, which then ends f.
func await[T any](values <-chan T, f func(stop <-chan struct{})) *T {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		f(stop)
	}()
	select {
	case v := <-values:
		close(stop)
		<-done
		return &v
	case <-done:
		return nil
	}
}

// phase is how far the last row that came says that the run was.
func (k *killing) phase() string {
	name := "another row"
	for len(k.rows) > 0 {
		k.last = <-k.rows
	}
	for _, m := range landmarks {
		if m.row(k.last) {
			name = m.name
		}
	}
	return name
}

// strike kills the daemon and starts another. Some are killed again before they
// answer: recovery is a phase like any other.
func (k *killing) strike() {
	k.kill()
	k.struck[k.phase()]++
	for k.random.IntN(5) == 0 {
		d := k.start(nil)
		if d.gone(time.Duration(k.random.Int64N(int64(k.birth) + 1))) {
			k.t.Fatalf("the daemon ended by itself: %v\n%s", d.err, k.evidence())
		}
		k.kill()
		k.struck["start"]++
	}
	k.up()
	k.nothingLeft()
}

func (k *killing) phases() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(k.struck)) {
		list = append(list, fmt.Sprintf("%s %d", name, k.struck[name]))
	}
	return strings.Join(list, ", ")
}

// moment is when the daemon is killed: after a time, or when a row of the
// journal comes.
type moment struct {
	name  string // of the landmark
	after time.Duration
	row   func(sdk.JournalRow) bool
}

// landmarks are rows of the journal that a run passes.
var landmarks = []moment{
	{name: "queued", row: func(r sdk.JournalRow) bool { return r.Kind == sdk.KindLoopQueued }},
	{name: "claimed", row: func(r sdk.JournalRow) bool { return r.Kind == sdk.KindLoopStarted }},
	{name: "turn opened", row: func(r sdk.JournalRow) bool { return r.Kind == sdk.KindTurnOpened }},
	{name: "answer begun", row: func(r sdk.JournalRow) bool {
		return r.Kind == sdk.KindEntryChunk && strings.HasPrefix(r.Path, "assistant://")
	}},
	{name: "proposed", row: func(r sdk.JournalRow) bool { return decoded[sdk.EntryChange](r).State == sdk.StateProposed }},
	{name: "answered", row: func(r sdk.JournalRow) bool { return decoded[sdk.EntryChange](r).Phase == sdk.PhaseApproved }},
	{name: "action started", row: func(r sdk.JournalRow) bool { return decoded[sdk.EntryChange](r).Phase == sdk.PhaseStarted }},
	{name: "action ended", row: func(r sdk.JournalRow) bool { return decoded[sdk.EntryChange](r).Phase == sdk.PhaseEnded }},
	{name: "turn closed", row: func(r sdk.JournalRow) bool { return r.Kind == sdk.KindTurnClosed }},
	{name: "loop ended", row: func(r sdk.JournalRow) bool { return r.Kind == sdk.KindLoopEnded }},
}

// moment draws one: half of them at any time of a run, the others on a row,
// and a little later.
func (k *killing) moment() moment {
	if k.random.IntN(2) == 0 {
		return moment{after: time.Duration(k.random.Int64N(int64(k.length)))}
	}
	m := landmarks[k.random.IntN(len(landmarks))]
	m.after = time.Duration(k.random.IntN(3000)) * time.Microsecond
	return m
}

// wait returns when the moment has come, when it does not come any more, or
// when stop is closed.
func (m moment) wait(k *killing, stop <-chan struct{}) {
	late := time.NewTimer(2*k.length + time.Second)
	defer late.Stop()
	for len(k.rows) > 0 {
		k.last = <-k.rows // of before
	}
	for m.row != nil {
		select {
		case k.last = <-k.rows:
			if m.row(k.last) {
				m.row = nil
			}
		case <-late.C:
			m.row = nil
		case <-stop:
			return
		}
	}
	timer := time.NewTimer(m.after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}
