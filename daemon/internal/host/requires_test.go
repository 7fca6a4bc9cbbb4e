package host

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// needing is a fault plugin that requires others by its block.
func needing(instance string, requires ...string) inspect.Spec {
	s := spec(instance, "")
	s.Requires = requires
	return s
}

// diary collects the errors that are told and taken back.
type diary struct {
	mu    sync.Mutex
	holds map[inspect.Diagnostic]bool
	ever  int
}

func (d *diary) into(cfg *Config) {
	d.holds = map[inspect.Diagnostic]bool{}
	cfg.Diagnose = d.told
	cfg.Mended = func(x inspect.Diagnostic) { d.mu.Lock(); delete(d.holds, x); d.mu.Unlock() }
}

func (d *diary) told(x inspect.Diagnostic) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x.Warning() {
		return // of tools with one name
	}
	d.holds[x] = true
	d.ever++
}

func (d *diary) texts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for x := range d.holds {
		list = append(list, x.Summary+": "+x.Detail)
	}
	return list
}

// TestRequiresOrder: whatever the graph, nobody is configured before what it
// requires, and nobody ends before those that require it. Even ones require by
// their block, odd ones by their manifest.
func TestRequiresOrder(t *testing.T) {
	const instances, rounds = 6, 3
	for range rounds {
		random := rand.New(rand.NewPCG(rand.Uint64(), 1))
		order := filepath.Join(t.TempDir(), "order")
		names := strings.Fields("a b c d e f")
		random.Shuffle(instances, func(a, b int) { names[a], names[b] = names[b], names[a] })
		g := graph{}
		var specs []inspect.Spec
		for n, name := range names {
			for _, earlier := range names[:n] {
				if random.IntN(2) == 0 {
					g[name] = append(g[name], earlier)
				}
			}
			s := spec(name, "")
			s.Env["FAULT_ORDER"] = order
			if n%2 == 0 {
				s.Requires = g[name]
			} else {
				s.Env["FAULT_REQUIRES"] = strings.Join(g[name], " ")
			}
			specs = append(specs, s)
		}
		random.Shuffle(instances, func(a, b int) { specs[a], specs[b] = specs[b], specs[a] })
		r := started(t, func(cfg *Config) { cfg.Patience = time.Minute }, specs...)
		r.Stop(context.Background())
		text, err := os.ReadFile(order)
		if err != nil {
			t.Fatal(err)
		}
		steps := strings.Fields(string(text))
		if len(steps) != 2*instances {
			t.Fatalf("%v of %v", steps, g)
		}
		for name, required := range g {
			for _, earlier := range required {
				if slices.Index(steps, "+"+earlier) > slices.Index(steps, "+"+name) || slices.Index(steps, "-"+earlier) < slices.Index(steps, "-"+name) {
					t.Errorf("%s requires %s, and it went %v", name, earlier, steps)
				}
			}
		}
	}
}

// TestRequiresMissing: one diagnostic says what is missing, the process is there
// already, calls fail at once, and all goes on when what was missing comes.
func TestRequiresMissing(t *testing.T) {
	d := &diary{}
	r := newRig(t, func(cfg *Config) { d.into(cfg); cfg.Patience = time.Minute })
	top, middle := needing("top", "middle"), needing("middle", "absent")
	r.start(t.Context(), []inspect.Spec{top, middle, spec("healthy", "")})
	if texts := d.texts(); len(texts) != 1 || !strings.Contains(texts[0], `plugin middle: it requires "absent", which is not there: Add a plugin block`) {
		t.Fatalf("told %q", texts)
	}
	r.mustCall(t, "healthy__noop", ``)
	for _, name := range []string{"top", "middle"} {
		if st := r.status(t, name); st.State != Starting || !strings.Contains(st.Error, `requires "absent"`) {
			t.Errorf("%+v", st)
		}
		if _, err := r.instanceReady(name); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "absent") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(r.Processes()); n != 3 {
		t.Errorf("%d processes", n)
	}
	r.start(t.Context(), []inspect.Spec{spec("absent", "")})
	eventually(t, "all are ready", func() bool {
		return r.status(t, "top").State == Ready && r.status(t, "middle").State == Ready
	})
	if texts := d.texts(); len(texts) > 0 || d.ever != 1 {
		t.Errorf("still told %q, ever %d", texts, d.ever)
	}
}

// instanceReady is what a call does first.
func (r *rig) instanceReady(name string) (*link, error) {
	i, err := r.instance(name)
	if err != nil {
		return nil, err
	}
	return i.ready(context.Background())
}

// TestRequiresCircle: one of the circle tells of it, and taking one of the
// requirements away mends it.
func TestRequiresCircle(t *testing.T) {
	d := &diary{}
	r := newRig(t, func(cfg *Config) { d.into(cfg); cfg.Patience = time.Minute })
	b := spec("b", "")
	b.Env["FAULT_REQUIRES"] = "c"
	r.start(t.Context(), []inspect.Spec{needing("outside", "a"), needing("a", "b"), b, needing("c", "a")})
	circle := func() bool {
		texts := d.texts()
		return len(texts) == 1 && strings.Contains(texts[0], "plugin a: it requires itself in a circle (a requires b requires c requires a)")
	}
	eventually(t, "the first of the circle tells of it", circle)
	if st := r.status(t, "outside"); st.State != Starting || !strings.Contains(st.Error, "circle") {
		t.Errorf("%+v", st)
	}
	if a := r.replace(t, spec("c", "")); !a.Switched() {
		t.Fatalf("%+v", a)
	}
	eventually(t, "all are ready", func() bool {
		return !slices.ContainsFunc(r.Plugins(), func(st rpc.Plugin) bool { return st.State != Ready })
	})
	if texts := d.texts(); len(texts) > 0 {
		t.Errorf("still told %q", texts)
	}
	if a := r.replace(t, needing("c", "outside")); a.Switched() || len(a.Diagnostics) != 1 || !strings.Contains(a.Diagnostics[0].Summary, "circle") {
		t.Errorf("one that serves was put in a circle: %+v", a)
	}
}

// TestRequiresBroken: what requires a broken one says so, and goes on when that
// is mended.
func TestRequiresBroken(t *testing.T) {
	d := &diary{}
	r := newRig(t, func(cfg *Config) { d.into(cfg); cfg.Patience = time.Minute })
	r.start(t.Context(), []inspect.Spec{needing("a", "b"), {Instance: "b", Plugin: "gone", Path: "/nowhere/p"}})
	eventually(t, "both tell", func() bool {
		texts := d.texts()
		return len(texts) == 2 && slices.ContainsFunc(texts, func(s string) bool {
			return strings.Contains(s, `plugin a: it requires "b", which is broken: Mend that one first: its binary is missing`)
		})
	})
	r.replace(t, spec("b", ""))
	eventually(t, "it is ready", func() bool { return r.status(t, "a").State == Ready })
	if texts := d.texts(); len(texts) > 0 {
		t.Errorf("still told %q", texts)
	}
}

// TestRequiresLazy: what is started only for its use is started for this one,
// also when it is required by the name of its plugin.
func TestRequiresLazy(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Patience = time.Minute })
	late := spec("late", "")
	late.Plugin, late.Lazy = "other", true
	if found := r.Apply(t.Context(), []inspect.Spec{late, spec("idle", "")}); len(found) > 1 { // the names clash later
		t.Fatal(found)
	}
	if _, err := r.instance("late"); err == nil {
		t.Fatal("it was started before somebody asked for it")
	}
	r.Apply(t.Context(), []inspect.Spec{late, needing("a", "other")})
	eventually(t, "it is ready", func() bool { return r.status(t, "a").State == Ready })
	if st := r.status(t, "late"); st.State != Ready {
		t.Errorf("%+v", st)
	}
}

// TestSwapKeepsRequirements: what a manifest requires is known of the process that
// took over, too.
func TestSwapKeepsRequirements(t *testing.T) {
	b := spec("b", "")
	b.Env["FAULT_REQUIRES"] = "a"
	r := started(t, nil, spec("a", ""), b)
	x, err := r.ask(b, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.wait(t.Context()); err != nil || got.How != Swapped {
		t.Fatal(got, err)
	}
	if got := r.graph()["b"]; !slices.Equal(got, []string{"a"}) {
		t.Errorf("requires %v", got)
	}
}
