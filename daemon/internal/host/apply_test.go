package host

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// digested is a spec as a configuration has it: its digest is of all that it says.
func digested(s inspect.Spec, digest string) inspect.Spec {
	s.Digest = digest
	return s
}

// TestApply: what is new starts, what is gone ends, what is the same stays, and a
// block that is refused is told and tried again.
func TestApply(t *testing.T) {
	d := &diary{}
	r := newRig(t, func(cfg *Config) { d.into(cfg); cfg.Patience = time.Minute })
	one, two := digested(spec("one", ""), "1"), digested(spec("two", ""), "2")
	off, lazy := spec("off", ""), digested(spec("lazy", ""), "3")
	off.Off, lazy.Lazy = true, true
	errors := func(blocks ...inspect.Spec) (texts []string) {
		for _, x := range r.Apply(t.Context(), blocks) {
			if !x.Warning() {
				texts = append(texts, x.Summary)
			}
		}
		return texts
	}
	there := func() (names []string) {
		for _, st := range r.Plugins() {
			names = append(names, st.Instance)
		}
		return names
	}
	if found := errors(one, off, lazy, one); len(found) > 0 || !slices.Equal(there(), []string{"one"}) {
		t.Fatal(found, there())
	}
	pid := r.status(t, "one").PID
	if err := r.Ensure(t.Context(), "lazy"); err != nil || r.status(t, "lazy").State != Ready {
		t.Error(err)
	}
	if found := errors(one, two, lazy); len(found) > 0 || !slices.Equal(there(), []string{"one", "lazy", "two"}) || r.status(t, "one").PID != pid {
		t.Error(found, there())
	}
	wrong := digested(one, "wrong")
	wrong.Body = body(t, "no_such = 1\n")
	for range 2 {
		found := errors(wrong, two)
		if len(found) != 2 || found[1] != "plugin one keeps running with the block that it had" ||
			!strings.Contains(r.status(t, "one").Error, "it goes on with the block that it had: Unknown attribute") || r.status(t, "one").PID != pid {
			t.Errorf("%q, process %d, was %d", found, r.status(t, "one").PID, pid)
		}
		if told := slices.DeleteFunc(d.texts(), func(x string) bool { return !strings.Contains(x, "keeps running") }); len(told) != 1 {
			t.Errorf("told %q", told)
		}
	}
	if found := errors(one); len(found) > 0 || !slices.Equal(there(), []string{"one"}) {
		t.Error(found, there())
	}
	if told := slices.DeleteFunc(d.texts(), func(x string) bool { return !strings.Contains(x, "keeps running") }); len(told) != 0 {
		t.Errorf("still told %q", told)
	}
}

// TestReplacementOvertaken: a block that came into force while a newer one was
// asked for already is the one that runs, when the newer cannot be had.
func TestReplacementOvertaken(t *testing.T) {
	r := newRig(t, nil)
	i := newInstance(r.Supervisor, digested(spec("x", ""), "first"))
	i.wanted = "third"
	i.spec.Digest = "second" // it was taken
	i.settle(&request{spec: digested(spec("x", ""), "second"), answer: make(chan Replaced, 1)}, Replaced{How: Swapped})
	if i.wanted != "third" {
		t.Errorf("wanted is %s", i.wanted)
	}
	i.settle(&request{spec: digested(spec("x", ""), "third"), answer: make(chan Replaced, 1)}, Replaced{How: Kept})
	if i.wanted != "second" {
		t.Errorf("wanted is %s", i.wanted)
	}
}

// TestReloadRefused: a label that no block has says what there is, and one that is
// switched off is not started.
func TestReloadRefused(t *testing.T) {
	r := newRig(t, nil)
	r.blocks = []inspect.Spec{{Instance: "bash"}, {Instance: "off", Off: true}, {Instance: "ollama"}, {Instance: "bash"}}
	for label, want := range map[string]struct {
		outcome sdk.Outcome
		text    string
	}{
		"bsh": {sdk.NotFound, "there are: bash, off, ollama"},
		"":    {sdk.NotFound, "there are: bash, off, ollama"},
		"off": {sdk.Validation, "enabled = false"},
	} {
		_, err := r.Reload(t.Context(), rpc.PluginReload{Instance: label})
		if sdk.OutcomeOf(err) != want.outcome || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: %v", label, err)
		}
	}
}

// TestDetach: a block that was asked for and not decided when the process of an
// author took the place is in force when that has gone, and the next Apply knows it.
func TestDetach(t *testing.T) {
	r := newRig(t, nil)
	first := digested(inspect.Spec{Instance: "x", Plugin: "x", Path: "/nowhere/p"}, "first")
	r.start(t.Context(), []inspect.Spec{first})
	r.blocks = []inspect.Spec{digested(first, "second")}
	i, err := r.instance("x")
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	i.wanted = "second" // its replacement was dropped
	i.mu.Unlock()
	r.detach(t.Context(), "x")
	if got := i.current().Digest; got != "second" || i.wanted != "second" {
		t.Errorf("runs %q, wanted %q", got, i.wanted)
	}
}

// TestSchemesOfPlugins: the first plugin has a name as long as it is configured,
// another may mean the same by it, and the names of Bothy are nobody's.
// spec: scheme_registry
func TestSchemesOfPlugins(t *testing.T) {
	st, err := store.Open(t.Context(), t.TempDir()+"/bothy.db", store.Options{Log: hclog.NewNullLogger(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := newRig(t, func(cfg *Config) { cfg.Register = st.RegisterScheme })
	instances := map[string]*instance{}
	for _, name := range []string{"a", "b", "c"} {
		instances[name] = newInstance(r.Supervisor, spec(name, ""))
		r.byName[name] = instances[name]
	}
	declare := func(name string, schemes ...sdk.Scheme) string {
		var text string
		for _, x := range instances[name].register(context.Background(), spec(name, ""), &sdk.Manifest{Schemes: schemes}) {
			text += x.Detail
		}
		return text
	}
	fact, other := sdk.Scheme{Name: "fact", Category: sdk.CategoryData}, sdk.Scheme{Name: "fact", Category: sdk.CategoryUnknown}
	for _, c := range []struct {
		instance string
		declares []sdk.Scheme
		want     string // of what is wrong
	}{
		{"a", []sdk.Scheme{fact}, ""},
		{"b", []sdk.Scheme{fact}, ""},
		{"c", []sdk.Scheme{other, {Name: "second"}}, "fact:// belongs to the plugin a"},
		{"c", []sdk.Scheme{{Name: "known"}, {Name: "third"}}, "known:// belongs to Bothy"},
	} {
		if got := declare(c.instance, c.declares...); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s declares %v: %q, want %q", c.instance, c.declares, got, c.want)
		}
	}
	if r.HasScheme("c", "known") || r.HasScheme("b", "fact") || !r.HasScheme("c", "third") || !r.HasScheme("a", "fact") {
		t.Errorf("the schemes belong to %+v", r.Supervisor.schemes)
	}
	for _, name := range []string{"fact", "second", "third"} {
		if x, ok := st.Scheme(name); !ok || name == "fact" && x.Category != sdk.CategoryData {
			t.Errorf("%s is %+v, %v", name, x, ok)
		}
	}
	delete(r.byName, "a")
	if got := declare("c", other); got != "" {
		t.Error(got)
	}
	if x, _ := st.Scheme("fact"); x.Category != sdk.CategoryUnknown {
		t.Errorf("the one that took over has %+v", x)
	}
}

// TestForget: what serves ends and is started anew by the next Apply or its first use; what is
// broken, or was never started, is left as it is.
func TestForget(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Patience = time.Minute })
	one, lazy, broken := digested(spec("one", ""), "1"), digested(spec("lazy", ""), "2"), digested(spec("broken", ""), "3")
	lazy.Lazy, broken.Lazy = true, true
	broken.Body = body(t, "no_such = 1\n")
	blocks := []inspect.Spec{one, lazy, broken}
	r.Apply(t.Context(), blocks)
	for _, label := range []string{"lazy", "broken"} {
		if err := r.Ensure(t.Context(), label); err != nil {
			t.Fatal(err)
		}
	}
	first, second := r.status(t, "one").PID, r.status(t, "lazy").PID
	r.Forget([]string{"one", "lazy", "broken", "nobody"})
	if p := r.Plugins(); len(p) != 1 || p[0].Instance != "broken" {
		t.Fatalf("there are %+v", p)
	}
	r.Apply(t.Context(), blocks)
	if st := r.status(t, "one"); st.State != Ready || st.PID == first {
		t.Errorf("%+v, and it was %d", st, first)
	}
	if err := r.Ensure(t.Context(), "lazy"); err != nil || r.status(t, "lazy").PID == second {
		t.Errorf("%v, %+v, and it was %d", err, r.status(t, "lazy"), second)
	}
}
