package host

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// showing is a fault plugin that projects entries of shelf://.
func showing(instance string) inspect.Spec {
	s := spec(instance, "")
	s.Env["FAULT_SHOWS"] = "1"
	return s
}

func page(body string) sdk.Entry {
	return sdk.Entry{Path: "shelf://page", Body: body, Attributes: json.RawMessage(`{"n":1}`), State: sdk.StateResolved}
}

// TestProject: the plugin is given the entry and the level; what it comes to in its own process is an error for who asks, in time.
func TestProject(t *testing.T) {
	r := started(t, func(c *Config) { c.Services = &fakeDaemon{} }, showing("fault"))
	for _, level := range []sdk.Visibility{sdk.Visible, sdk.Summarized} {
		text, err := r.Project(t.Context(), page("words"), level)
		if want := string(level) + ` shelf://page words {"n":1}`; err != nil || text != want {
			t.Errorf("%q %v, want %q", text, err, want)
		}
	}
	for _, c := range []struct {
		e       sdk.Entry
		level   sdk.Visibility
		outcome sdk.Outcome
		says    string
	}{
		{page("refuse"), sdk.Visible, sdk.NotFound, "torn out"},
		{page("panic"), sdk.Visible, sdk.Internal, "panicked: no such page"},
		{page("ask"), sdk.Visible, sdk.Validation, "call it with the context of a call"},
		{page("words"), sdk.Archived, sdk.Validation, "archived"},
		{sdk.Entry{Path: "plain://a"}, sdk.Visible, sdk.NotFound, "no plugin says"},
		{sdk.Entry{Path: "known://a"}, sdk.Visible, sdk.NotFound, "no plugin says"},
		{page("hang"), sdk.Visible, sdk.Timeout, ""},
		{page("die"), sdk.Visible, sdk.PluginCrashed, ""},
	} {
		text, err := r.Project(t.Context(), c.e, c.level)
		wantOutcome(t, err, c.outcome)
		if text != "" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: %q, %v", c.e.Path, c.e.Body, text, err)
		}
	}
	if _, here := r.Projectors()["shelf"]; !here {
		t.Error("a plugin that crashed projects no more, so that its entries are shown otherwise while it starts again")
	}
}

// TestProjectors: who has the scheme and is granted its entries projects them, by a name that is another with each block.
func TestProjectors(t *testing.T) {
	project := func(change func(*inspect.Spec)) map[string]string {
		r := newRig(t, nil)
		s := digested(showing("fault"), "1")
		change(&s)
		r.Apply(t.Context(), []inspect.Spec{s}) // the first one has the scheme
		r.Apply(t.Context(), []inspect.Spec{s, showing("second")})
		return r.Projectors()
	}
	all := project(func(*inspect.Spec) {})
	if names := slices.Collect(maps.Keys(all)); !slices.Equal(names, []string{"shelf"}) || !strings.HasPrefix(all["shelf"], "fault ") {
		t.Errorf("there are %v", all)
	}
	if again := project(func(*inspect.Spec) {}); !maps.Equal(again, all) {
		t.Errorf("of the same block and binary there are %v and %v", all, again)
	}
	if other := project(func(s *inspect.Spec) { *s = digested(*s, "2") }); other["shelf"] == all["shelf"] {
		t.Errorf("with another block there are %v", other)
	}
	for name, change := range map[string]func(*inspect.Spec){
		"no grant":      func(s *inspect.Spec) { s.Grants = nil },
		"other schemes": func(s *inspect.Spec) { s.Schemes = []string{"known"} },
	} {
		if got := project(change); len(got) > 0 {
			t.Errorf("%s: there are %v", name, got)
		}
	}
}

// TestProjectGivenUp: who asks waits no longer than its own context lets it.
func TestProjectGivenUp(t *testing.T) {
	r := started(t, nil, showing("fault"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Project(ctx, page("hang"), sdk.Visible)
	wantOutcome(t, err, sdk.Aborted)
}
