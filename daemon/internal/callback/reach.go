package callback

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// reach is what one process of a plugin may call back: what its manifest declared
// when it started and its block allows. What it declares later, while it runs,
// adds nothing.
type reach struct {
	spec  inspect.Spec
	calls sdk.Calls
	asks  []string // the grants that it declares
	own   []string // the schemes that it registers itself, which it need not declare twice
}

func newReach(spec inspect.Spec, m *sdk.Manifest) reach {
	r := reach{spec: spec, calls: m.Calls, asks: m.Grants}
	for _, s := range m.Schemes {
		r.own = append(r.own, s.Name)
	}
	return r
}

// askable are the grants that go with others: a container and a channel are asked for by
// whoever needs them, with the rest of their blocks.
var askable = []string{sdk.GrantProject, sdk.GrantEntries, sdk.GrantTools, sdk.GrantModels, sdk.GrantRuns, sdk.GrantSecrets}

// granted refuses what needs a grant that the block does not give, and names with it the
// others that are declared and missing: nobody finds them one by one.
func (r *reach) granted(grant string) error {
	if r.spec.Granted(grant) {
		return nil
	}
	missing := []string{grant}
	for _, g := range r.asks {
		if !slices.Contains(missing, g) && !r.spec.Granted(g) && slices.Contains(askable, g) {
			missing = append(missing, g)
		}
	}
	all := ""
	if len(missing) > 1 {
		all = ", which is all that it asks for"
	}
	return r.refuse("is not granted %q: write into its block grants = %s%s", grant, Written(r.spec.Grants, missing...), all)
}

// tool takes a tool's names: the bare one and plugin__tool.
func (r *reach) tool(bare, long string) error {
	if !fits(r.calls.Tools, bare, long) {
		return r.undeclared("calls the tool "+bare, "tools", bare)
	}
	if r.spec.Tools != nil && !fits(r.spec.Tools, bare, long) {
		return r.refuse("may not call %s: the tools in its block are %s; to let it, write there tools = %s", bare, List(r.spec.Tools), Written(r.spec.Tools, bare))
	}
	return nil
}

// scheme takes the path of an entry, to read or to write it.
func (r *reach) scheme(path string) error {
	s := sdk.SchemeOf(path)
	if !slices.Contains(r.calls.Schemes, s) && !slices.Contains(r.own, s) {
		s = clip(s)
		return r.undeclared("uses entries of "+s+"://", "schemes", s)
	}
	if r.spec.Schemes != nil && !slices.Contains(r.spec.Schemes, s) {
		s = clip(s)
		return r.refuse("may not use entries of %s://: the schemes in its block are %s; to let it, write there schemes = %s", s, List(r.spec.Schemes), Written(r.spec.Schemes, s))
	}
	return nil
}

// glob refuses a pattern that names a scheme out of reach. One whose scheme is
// itself a pattern finds what is within reach; see sees.
func (r *reach) glob(glob string) error {
	before, _, whole := strings.Cut(glob, "://")
	if glob == "" || strings.ContainsAny(before, `*?[{\`) {
		return nil
	}
	if !whole {
		return r.scheme("file")
	}
	return r.scheme(before + "://")
}

// target is glob for a pattern of any kind, which may also be an expression: that begins with a slash, or a
// dollar sign.
func (r *reach) target(pattern string) error {
	if pattern != "" && strings.ContainsRune("/$!", rune(pattern[0])) {
		return nil
	}
	return r.glob(pattern)
}

// verb is target for what a verb names, which may read a file of the project: an entry is no way to one for a plugin that
// has nothing of the project.
func (r *reach) verb(named string) error {
	err := r.target(named)
	if err == nil && named != "" && !strings.ContainsRune("/$!", rune(named[0])) && sdk.SchemeOf(named) == "file" {
		err = r.granted(sdk.GrantProject)
	}
	return err
}

// finds reports whether a verb's pattern finds a path.
func (r *reach) finds(path string) bool {
	return r.scheme(path) == nil && (sdk.SchemeOf(path) != "file" || r.spec.Granted(sdk.GrantProject))
}

// sees reports whether an entry is of a scheme within reach.
func (r *reach) sees(e sdk.Entry) bool { return r.scheme(e.Path) == nil }

// model lets a plugin ask the run's own model, whose name may be left out, and
// those that are declared and that its block names.
func (r *reach) model(own, name string) error {
	switch {
	case name == "" || name == own:
		return nil
	case !fits(r.calls.Models, name):
		name = clip(name)
		return r.undeclared("asks the model "+name+", and may ask the run's own, which is asked when none is named", "models", name)
	case !fits(r.spec.Models, name):
		name = clip(name)
		return r.refuse("may ask the run's own model only, which is asked when none is named: to let it ask %s, write into its block models = %s", name, Written(r.spec.Models, name))
	}
	return nil
}

// secret never takes more than the block names.
func (r *reach) secret(name string) error {
	if !slices.Contains(r.calls.Secrets, name) {
		name = clip(name)
		return r.undeclared("asks for the secret "+name, "secrets", name)
	}
	if !slices.Contains(r.spec.Secrets, name) {
		name = clip(name)
		return r.refuse("may not have the secret %s: write into its block secrets = %s", name, Written(r.spec.Secrets, name))
	}
	return nil
}

// clip keeps what a plugin sent short enough, and plain enough, for a text that
// people read.
func clip(name string) string {
	quoted := fmt.Sprintf("%.80q", name)
	return quoted[1 : len(quoted)-1]
}

func (r *reach) refuse(format string, args ...any) error {
	return sdk.Errorf(sdk.Permission, "the plugin "+r.spec.Instance+" "+format, args...)
}

// undeclared is for the plugin's author, since no block can help.
func (r *reach) undeclared(does, kind, name string) error {
	field := strings.ToUpper(kind[:1]) + kind[1:]
	return r.refuse("does not declare that it %s: its author adds it to its manifest, as calls: {%q: [%q]}, or with the Go SDK as Options.Calls: sdk.Calls{%s: []string{%q}}", does, kind, name, field, name)
}

// anyModel is declared by a plugin that asks whichever model its block names, and wants none.
const anyModel = "*"

// Wants warns about what the plugin asks for and its block does not give.
func Wants(spec inspect.Spec, m *sdk.Manifest) []inspect.Diagnostic {
	var lacks, lines, unknown []string
	missing := slices.DeleteFunc(slices.Clone(m.Grants), func(g string) bool {
		if !slices.Contains(sdk.Grants(), g) {
			unknown = append(unknown, g)
			return true
		}
		return g == sdk.GrantChannel || g == sdk.GrantAnswers || spec.Granted(g) // what a channel lacks is said by unopened, and without answers it works
	})
	if len(missing) > 0 {
		lacks = append(lacks, List(missing))
		lines = append(lines, "grants = "+Written(spec.Grants, missing...))
	}
	for _, d := range []struct {
		kind           string
		declared, have []string
		whole          bool // a block without the list has all that is declared
	}{
		{"tools", m.Calls.Tools, spec.Tools, spec.Tools == nil},
		{"schemes", m.Calls.Schemes, spec.Schemes, spec.Schemes == nil},
		{"models", m.Calls.Models, spec.Models, false},
		{"secrets", m.Calls.Secrets, spec.Secrets, false},
	} {
		if d.whole {
			continue
		}
		less := slices.DeleteFunc(slices.Clone(d.declared), func(name string) bool {
			return d.kind == "models" && name == anyModel || slices.ContainsFunc(d.have, func(p string) bool { return fits([]string{p}, name) || fits([]string{name}, p) })
		})
		if len(less) > 0 {
			lacks = append(lacks, fmt.Sprintf("%s %s", d.kind, List(less)))
			lines = append(lines, d.kind+" = "+Written(d.have, less...))
		}
	}
	var found []inspect.Diagnostic
	if len(unknown) > 0 {
		found = append(found, spec.Warn("it asks for a grant that there is not: "+List(unknown),
			"No block can give it. There are "+strings.Join(sdk.Grants(), ", ")+": its author names one of these, or it needs a later Bothy."))
	}
	if len(lacks) == 0 {
		return found
	}
	return append(found, spec.Warn("it asks for more than its block grants: "+strings.Join(lacks, "; "),
		"If you trust it with that, write into its block: "+strings.Join(lines, ", ")+"."))
}

// Written is a list as a block has it, with more names at its end.
func Written(have []string, more ...string) string {
	quoted := make([]string, 0, len(have)+len(more))
	for _, name := range append(slices.Clone(have), more...) {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// fits reports whether a pattern fits one of the names. A star spans slashes,
// so that "*" takes every provider/name.
func fits(patterns []string, names ...string) bool {
	for _, p := range patterns {
		for _, n := range names {
			if p == n {
				return true
			}
			if ok, err := path.Match(flat.Replace(p), flat.Replace(n)); ok && err == nil {
				return true
			}
		}
	}
	return false
}

var flat = strings.NewReplacer("/", ":")

// List writes names for a person.
func List(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
