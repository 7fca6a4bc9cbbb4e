package callback

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestReach: a callback needs the grant, the declaration and the block, and a
// refusal says what to write where.
func TestReach(t *testing.T) {
	all := []string{sdk.GrantEntries, sdk.GrantTools, sdk.GrantModels, sdk.GrantSecrets}
	declared := sdk.Calls{Tools: []string{"read_*", "web__get"}, Schemes: []string{"known", "fact"}, Models: []string{"p/*"}, Secrets: []string{"KEY", "OTHER"}}
	tool := func(bare, long string) func(*reach) error { return func(r *reach) error { return r.tool(bare, long) } }
	scheme := func(path string) func(*reach) error { return func(r *reach) error { return r.scheme(path) } }
	glob := func(text string) func(*reach) error { return func(r *reach) error { return r.glob(text) } }
	target := func(text string) func(*reach) error { return func(r *reach) error { return r.target(text) } }
	model := func(name string) func(*reach) error { return func(r *reach) error { return r.model("own", name) } }
	secret := func(name string) func(*reach) error { return func(r *reach) error { return r.secret(name) } }
	for _, c := range []struct {
		name  string
		block inspect.Spec
		ask   func(*reach) error
		says  string // of the refusal; empty when it is let through
	}{
		{"a block without a list has all that is declared", inspect.Spec{}, tool("read_file", "files__read_file"), ""},
		{"by the long name", inspect.Spec{}, tool("get", "web__get"), ""},
		{"not declared", inspect.Spec{}, tool("write_file", "files__write_file"), `sdk.Calls{Tools: []string{"write_file"}}`},
		{"not declared, though the block lets it", inspect.Spec{Tools: []string{"*"}}, tool("write_file", "files__write_file"), `calls: {"tools": ["write_file"]}`},
		{"not in the block", inspect.Spec{Tools: []string{"read_dir"}}, tool("read_file", "files__read_file"), `tools = ["read_dir", "read_file"]`},
		{"an empty list is nothing", inspect.Spec{Tools: []string{}}, tool("read_file", "files__read_file"), `tools = ["read_file"]`},
		{"in the block by the long name", inspect.Spec{Tools: []string{"files__*"}}, tool("read_file", "files__read_file"), ""},

		{"a scheme", inspect.Spec{}, scheme("known://a"), ""},
		{"in capitals", inspect.Spec{}, scheme("KNOWN://a"), ""},
		{"its own", inspect.Spec{}, scheme("mine://a"), ""},
		{"a bare path is a file", inspect.Spec{}, scheme("src/main.go"), `Schemes: []string{"file"}`},
		{"another scheme", inspect.Spec{Schemes: []string{"log"}}, scheme("log://turn_1/x"), `sdk.Calls{Schemes: []string{"log"}}`},
		{"a scheme that the block lacks", inspect.Spec{Schemes: []string{"known"}}, scheme("fact://a"), `schemes = ["known", "fact"]`},
		{"a long one is cut", inspect.Spec{}, scheme(strings.Repeat("a", 500) + "\x1b://x"), strings.Repeat("a", 80) + `://: its author`},

		{"a glob of a scheme", inspect.Spec{}, glob("known://**"), ""},
		{"a glob of another", inspect.Spec{}, glob("log://**"), "log://"},
		{"a glob of files", inspect.Spec{}, glob("src/main.go"), `Schemes: []string{"file"}`},
		{"a glob of every scheme", inspect.Spec{}, glob("*://**"), ""},
		{"every entry", inspect.Spec{}, glob(""), ""},
		{"a glob without a scheme", inspect.Spec{}, glob("**"), ""},
		{"a verb on a scheme", inspect.Spec{}, target("known://a"), ""},
		{"a verb on another", inspect.Spec{}, target("log://turn_1/x"), "log://"},
		{"a verb on a file", inspect.Spec{}, target("src/main.go"), `Schemes: []string{"file"}`},
		{"a verb by an expression", inspect.Spec{}, target("/^known/"), ""},

		{"the run's own model", inspect.Spec{}, model("own"), ""},
		{"no model named", inspect.Spec{}, model(""), ""},
		{"a model that no block names", inspect.Spec{}, model("p/m"), `models = ["p/m"]`},
		{"a model that the block names", inspect.Spec{Models: []string{"*"}}, model("p/m"), ""},
		{"a model that is not declared", inspect.Spec{Models: []string{"*"}}, model("q/m"), `sdk.Calls{Models: []string{"q/m"}}`},

		{"a secret that no block names", inspect.Spec{}, secret("KEY"), `secrets = ["KEY"]`},
		{"a secret that the block names", inspect.Spec{Secrets: []string{"KEY"}}, secret("KEY"), ""},
		{"a secret that is not declared", inspect.Spec{Secrets: []string{"MORE"}}, secret("MORE"), `sdk.Calls{Secrets: []string{"MORE"}}`},
	} {
		c.block.Instance, c.block.Grants = "p", all
		r := newReach(c.block, &sdk.Manifest{Calls: declared, Schemes: []sdk.Scheme{{Name: "mine"}}})
		err := c.ask(&r)
		if c.says == "" && err != nil || c.says != "" && (sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if err != nil && strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%s: a control character is in %q", c.name, err)
		}
	}
	for _, grant := range all {
		r := newReach(inspect.Spec{Instance: "p", Grants: []string{sdk.GrantProject}}, &sdk.Manifest{Calls: declared})
		if err := r.granted(grant); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), `grants = ["project", "`+grant+`"]`) {
			t.Errorf("%s: %v", grant, err)
		}
	}
}

// TestFilesNeedTheProject: verbs are no way to files of a project that a plugin is not granted.
func TestFilesNeedTheProject(t *testing.T) {
	declared := &sdk.Manifest{Calls: sdk.Calls{Schemes: []string{"file", "known"}}}
	without := newReach(inspect.Spec{Instance: "p", Grants: []string{sdk.GrantEntries}}, declared)
	with := newReach(inspect.Spec{Instance: "p", Grants: []string{sdk.GrantEntries, sdk.GrantProject}}, declared)
	for _, at := range []string{"src/main.go", "src/**", "FILE.md", "**"} {
		if err := without.verb(at); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), `grants = ["entries", "project"]`) {
			t.Errorf("%s: %v", at, err)
		}
		if err := with.verb(at); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{"known://a", "known://**", `/^known:/`, "*://**"} {
		if err := without.verb(at); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	if without.finds("src/main.go") || !without.finds("known://a") || !with.finds("src/main.go") || with.finds("fact://a") {
		t.Error("patterns find other entries")
	}
}

// TestWantsUnknown: nobody is told to write a grant that there is not.
func TestWantsUnknown(t *testing.T) {
	found := Wants(inspect.Spec{}, &sdk.Manifest{Grants: []string{"everything", sdk.GrantTools}})
	if len(found) != 2 || !strings.Contains(found[0].Summary, "a grant that there is not: everything") || strings.Contains(found[1].Detail, "everything") {
		t.Errorf("%+v", found)
	}
}

// TestGrantsAtOnce: who lacks a grant is told of all that it declares and has not.
func TestGrantsAtOnce(t *testing.T) {
	m := &sdk.Manifest{Grants: []string{"entries", "tools", "models", "no-such"}}
	r := newReach(inspect.Spec{Instance: "p", Grants: []string{"entries"}}, m)
	if err := r.granted("models"); err == nil || !strings.HasSuffix(err.Error(), `write into its block grants = ["entries", "models", "tools"], which is all that it asks for`) {
		t.Error(err)
	}
}

// TestWants: what a plugin asks for and its block does not give is one warning,
// with the lines to add.
func TestWants(t *testing.T) {
	m := &sdk.Manifest{Grants: []string{sdk.GrantTools, sdk.GrantModels}, Calls: sdk.Calls{
		Tools: []string{"grep", "read_*"}, Schemes: []string{"known"}, Models: []string{"p/*"}, Secrets: []string{"KEY"},
	}}
	for _, c := range []struct {
		name string
		spec inspect.Spec
		says []string // nil: no warning
	}{
		{"all given", inspect.Spec{Grants: []string{sdk.GrantTools, sdk.GrantModels}, Models: []string{"*"}, Secrets: []string{"KEY"}}, nil},
		{"narrower than a pattern", inspect.Spec{Grants: m.Grants, Tools: []string{"grep", "read_file"}, Models: []string{"p/m"}, Secrets: []string{"KEY"}}, nil},
		{"nothing given", inspect.Spec{}, []string{`grants = ["tools", "models"]`, `models = ["p/*"]`, `secrets = ["KEY"]`}},
		{"less given", inspect.Spec{Grants: m.Grants, Tools: []string{"read_*"}, Schemes: []string{"fact"}, Models: []string{"p/*"}, Secrets: []string{"A"}},
			[]string{`tools = ["read_*", "grep"]`, `schemes = ["fact", "known"]`, `secrets = ["A", "KEY"]`}},
	} {
		found := Wants(c.spec, m)
		if len(found) == 0 != (c.says == nil) {
			t.Errorf("%s: %v", c.name, found)
			continue
		}
		for _, text := range c.says {
			if !strings.Contains(found[0].Detail, text) || !found[0].Warning() {
				t.Errorf("%s: %v, want %q", c.name, found[0], text)
			}
		}
	}
}
