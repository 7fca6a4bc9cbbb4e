package policy

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func ruleOf(v sdk.Verdict, change func(r *sdk.PolicyRule)) sdk.PolicyRule {
	r := sdk.PolicyRule{Name: "r", Source: "/c.hcl:3", Verdict: v}
	change(&r)
	return r
}

func TestRules(t *testing.T) {
	of := func(commands ...string) func(*sdk.PolicyRule) {
		return func(r *sdk.PolicyRule) { r.Commands = commands }
	}
	paths := func(globs ...string) func(*sdk.PolicyRule) {
		return func(r *sdk.PolicyRule) { r.Paths = globs }
	}
	tools := func(globs ...string) func(*sdk.PolicyRule) {
		return func(r *sdk.PolicyRule) { r.Tools = globs }
	}
	write := func(p string) sdk.PolicyRequest { return callOf(writeFile, map[string]any{"path": p, "content": "x"}) }
	foreign := callOf(commands(tool("sh", false, reads, sdk.GrantSandbox)), map[string]any{"command": "unproven go test"})
	for _, c := range []struct {
		name string
		call sdk.PolicyRequest
		rule sdk.PolicyRule
		fits bool
	}{
		{"a command", lineOf("unproven go test ./..."), ruleOf(sdk.Allow, of("go test")), true},
		{"with others that are proven", lineOf("proven cat x; unproven go test"), ruleOf(sdk.Allow, of("go test")), true},
		{"with one that is not", lineOf("unproven go test; unproven make"), ruleOf(sdk.Allow, of("go test")), false},
		{"of two", lineOf("unproven go test; unproven make"), ruleOf(sdk.Allow, of("go test", "make")), true},
		{"of a word with a star", lineOf("unproven npm run build"), ruleOf(sdk.Allow, of("npm run b*")), true},
		{"another one", lineOf("unproven go build"), ruleOf(sdk.Allow, of("go test")), false},
		{"half a word", lineOf("unproven gofmt"), ruleOf(sdk.Allow, of("go")), false},
		{"by a path", lineOf("unproven /tmp/go test"), ruleOf(sdk.Allow, of("go test")), false},
		{"an unsafe one", lineOf("unsafe go test"), ruleOf(sdk.Allow, of("go test")), false},
		{"a denied one", lineOf("denied go test"), ruleOf(sdk.Allow, of("go test")), false},
		{"whose words are not known", lineOf("dynamic go test $x"), ruleOf(sdk.Allow, of("go test")), false},
		{"with an unsafe structure", lineOf("unproven go test; around unsafe"), ruleOf(sdk.Allow, of("go test")), false},
		{"with an unproven structure", lineOf("unproven go test; around unproven"), ruleOf(sdk.Allow, of("go test")), false},
		{"with a contained structure", lineOf("unproven go test; around contained"), ruleOf(sdk.Allow, of("go test")), true},
		{"a structure alone", lineOf("proven cat x; around contained"), ruleOf(sdk.Allow, of("go test")), false},
		{"of nobody's plugin", foreign, ruleOf(sdk.Allow, of("go test")), false},
		{"of nobody's plugin, by its tool", foreign, ruleOf(sdk.Allow, tools("p__sh")), true},
		{"a tool that runs commands", lineOf("unproven make"), ruleOf(sdk.Allow, tools("bash")), true},
		{"a tool that runs commands, unsafe", lineOf("unsafe make"), ruleOf(sdk.Allow, tools("bash")), false},
		{"a path of a command", lineOf("unproven make docs"), ruleOf(sdk.Allow, paths("docs/**")), false},
		{"a write", write("docs/a.md"), ruleOf(sdk.Allow, paths("docs/**")), true},
		{"a write elsewhere", write("a.md"), ruleOf(sdk.Allow, paths("docs/**")), false},
		{"a roundabout write elsewhere", write("docs/../a.md"), ruleOf(sdk.Allow, paths("docs/**")), false},
		{"one of two paths", callOf(moveFile, map[string]any{"source": "docs/a", "destination": "b"}), ruleOf(sdk.Allow, paths("docs/**")), false},
		{"a tool", write("a"), ruleOf(sdk.Allow, tools("write_*")), true},
		{"a tool by both names", write("a"), ruleOf(sdk.Allow, tools("p__write_file")), true},
		{"another tool", write("a"), ruleOf(sdk.Allow, tools("edit_*")), false},
		{"an argument", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Arguments = map[string]string{"content": "x*"} }), true},
		{"another argument", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Arguments = map[string]string{"content": "y*"} }), false},
		{"an argument that is not there", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Arguments = map[string]string{"mode": "*"} }), false},
		{"an argument that is no text", callOf(writeFile, map[string]any{"path": "a", "n": 3}), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Arguments = map[string]string{"n": "3"} }), true},
		{"a mode", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Modes = []sdk.Mode{sdk.ModeInteractive}; r.Tools = []string{"*"} }), true},
		{"another mode", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Modes = []sdk.Mode{sdk.ModeFull}; r.Tools = []string{"*"} }), false},
		{"a project", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Project = "/p" }), true},
		{"another project", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Project = "/q" }), false},
		{"the network", callOf(opens, nil), ruleOf(sdk.Allow, tools("*")), false},
		{"of a workspace", write("a"), ruleOf(sdk.Allow, func(r *sdk.PolicyRule) { r.Source = SourceWorkspace + "/p/.bothy/config.hcl:1" }), false},

		{"no to a command", lineOf("proven git push origin"), ruleOf(sdk.Deny, of("git push")), true},
		{"no among others", lineOf("proven ls; unproven git push"), ruleOf(sdk.Deny, of("git push")), true},
		{"no by a path", lineOf("unproven /usr/bin/git push"), ruleOf(sdk.Deny, of("git push")), true},
		{"no behind options", lineOf("unproven git -C x push"), ruleOf(sdk.Deny, of("git push")), true},
		{"no to a word elsewhere", lineOf("unproven git commit -m push"), ruleOf(sdk.Deny, of("git push")), false},
		{"no to what cannot be known", lineOf("dynamic git $x"), ruleOf(sdk.Deny, of("git push")), true},
		{"no to another that cannot be known", lineOf("dynamic echo $x"), ruleOf(sdk.Deny, of("git push")), false},
		{"no to a tool that has no commands", write("a"), ruleOf(sdk.Deny, of("git push")), false},
		{"no to a path", write("db/x.sql"), ruleOf(sdk.Deny, paths("db/**")), true},
		{"no to a path in capitals", write("DB/x.sql"), ruleOf(sdk.Deny, paths("db/**")), true},
		{"no to what holds it", callOf(moveFile, map[string]any{"source": "a", "destination": "b"}), ruleOf(sdk.Deny, paths("a/b/**")), true},
		{"no to one of two paths", callOf(moveFile, map[string]any{"source": "a", "destination": "db/x"}), ruleOf(sdk.Deny, paths("db/**")), true},
		{"no to a word of a command", lineOf("proven cat db/x"), ruleOf(sdk.Deny, paths("db/**")), true},
		{"no to the value of an option", lineOf("proven cat --from=./db/x"), ruleOf(sdk.Deny, paths("db/**")), true},
		{"no beside a path", write("dbs/x"), ruleOf(sdk.Deny, paths("db/**")), false},
		{"no to a read", callOf(readFile, map[string]any{"path": "db/x"}), ruleOf(sdk.Deny, paths("db/**")), true},
		{"no of a workspace", write("a"), ruleOf(sdk.Deny, func(r *sdk.PolicyRule) { r.Source = SourceWorkspace + "/p/.bothy/config.hcl:1" }), true},
	} {
		a := c.call
		a.Mode = sdk.ModeInteractive
		d := graded(Settings{Rules: []sdk.PolicyRule{c.rule}}).Decide(a)
		if fits := d.Source == c.rule.Source; fits != c.fits || fits && d.Verdict != c.rule.Verdict || d.Reason == "" {
			t.Errorf("%s %s: %+v", c.rule.Verdict, c.name, d)
		}
	}
}

// TestRulesTogether: the commands of a line may be allowed by a rule each.
func TestRulesTogether(t *testing.T) {
	rules := []sdk.PolicyRule{
		{Name: "a", Source: "f:1", Verdict: sdk.Allow, Commands: []string{"go"}},
		{Name: "b", Source: SourceRemembered, Verdict: sdk.Allow, Commands: []string{"make"}},
	}
	if d := graded(Settings{Rules: rules}).Decide(lineOf("unproven go x; unproven make")); d.Verdict != sdk.Allow || d.Rule != "a" {
		t.Errorf("%+v", d)
	}
	if d := graded(Settings{Rules: rules[:1]}).Decide(lineOf("unproven go x; unproven make")); d.Verdict != sdk.Deny {
		t.Errorf("%+v", d)
	}
}

// TestExactRule: one very call, however it is spelled, and none that differs.
func TestExactRule(t *testing.T) {
	a := lineOf("unsafe eval x")
	hash, err := a.Hash()
	if err != nil {
		t.Fatal(err)
	}
	p := graded(Settings{Rules: []sdk.PolicyRule{{Name: "once", Source: SourceRemembered, Verdict: sdk.Allow, Exact: hash}}})
	if d := p.Decide(a); d.Verdict != sdk.Allow || d.Source != SourceRemembered {
		t.Errorf("%+v", d)
	}
	for _, line := range []string{"unsafe eval y", "unsafe eval x ", "denied eval x"} {
		if d := p.Decide(lineOf(line)); d.Verdict == sdk.Allow {
			t.Errorf("%s was allowed by %s", line, d.Rule)
		}
	}
	a.Project = "/elsewhere"
	if d := p.Decide(a); d.Verdict == sdk.Allow {
		t.Error("it was allowed in another project")
	}
}

// TestBrokenWorkspace: nothing but reading, until a person has mended it.
func TestBrokenWorkspace(t *testing.T) {
	p := graded(Settings{Mode: sdk.ModeFull, Broken: "it is no HCL", BrokenAt: "/p/.bothy/config.hcl:2", Rules: []sdk.PolicyRule{{Name: "all", Verdict: sdk.Allow, Tools: []string{"bash"}}}})
	if d := p.Decide(lineOf("proven ls")); d.Verdict != sdk.Deny || d.Source != "workspace /p/.bothy/config.hcl:2" || !strings.Contains(d.Reason, "it is no HCL") {
		t.Errorf("%+v", d)
	}
	if d := p.Decide(callOf(readFile, map[string]any{"path": "a"})); d.Verdict != sdk.Allow {
		t.Errorf("%+v", d)
	}
}

var rank = map[sdk.Verdict]int{sdk.Deny: 0, sdk.Propose: 1, sdk.Allow: 2}

func drawRules(t *rapid.T) []sdk.PolicyRule {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sdk.PolicyRule {
		some := func(name string, from ...string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(from), 0, 2).Draw(t, name)
		}
		return sdk.PolicyRule{
			Name: "r", Source: rapid.SampledFrom([]string{"/c:1", SourceRemembered, "workspace /p/.bothy/config.hcl:1"}).Draw(t, "source"),
			Verdict:  rapid.SampledFrom([]sdk.Verdict{sdk.Allow, sdk.Propose, sdk.Deny}).Draw(t, "verdict"),
			Tools:    some("tools", "bash", "write_*", "*", "p__*", "open_network"),
			Paths:    some("paths", "a/**", "**", "b"),
			Commands: some("commands", "go", "go test", "make", "*"),
		}
	}), 0, 5).Draw(t, "rules")
}

func drawAction(t *rapid.T) sdk.PolicyRequest {
	a := rapid.SampledFrom([]sdk.PolicyRequest{
		lineOf("unproven go test; proven ls"), lineOf("unsafe go"), lineOf("denied go"), lineOf("dynamic go $x; unproven make a/b"), lineOf("contained make"),
		callOf(writeFile, map[string]any{"path": "a/x"}), callOf(writeFile, map[string]any{"path": "../x"}), callOf(readFile, map[string]any{"path": "b"}),
		callOf(unpinned, nil), callOf(bare, nil), callOf(opens, nil),
	}).Draw(t, "action")
	a.Mode = rapid.SampledFrom(modes).Draw(t, "mode")
	a.ReadOnly = rapid.SampledFrom([]bool{false, false, true}).Draw(t, "mode")
	a.Attended = rapid.Bool().Draw(t, "attended")
	return a
}

// TestOrderOfRules: deny goes before propose before allow, wherever they stand.
func TestOrderOfRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, a := drawRules(t), drawAction(t)
		want := graded(Settings{Rules: rules}).Decide(a).Verdict
		mixed := append([]sdk.PolicyRule{}, rules...)
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got := graded(Settings{Rules: mixed}).Decide(a).Verdict; got != want {
			t.Fatalf("%s, and %s in another order", want, got)
		}
	})
}

// TestOneRuleMore: a rule that denies never lets more through, one that allows
// never less, and a rule of a workspace never widens.
func TestOneRuleMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, a := drawRules(t), drawAction(t)
		before := graded(Settings{Rules: rules}).Decide(a)
		for _, more := range drawRules(t) {
			after := graded(Settings{Rules: append(rules[:len(rules):len(rules)], more)}).Decide(a)
			d := rank[after.Verdict] - rank[before.Verdict]
			if d > 0 && (more.Verdict != sdk.Allow || strings.HasPrefix(more.Source, SourceWorkspace)) {
				t.Fatalf("%+v made %s of %s", more, after.Verdict, before.Verdict)
			}
			if d < 0 && more.Verdict == sdk.Allow {
				t.Fatalf("%+v made %s of %s", more, after.Verdict, before.Verdict)
			}
		}
	})
}

// TestRulesNeverLift: what every mode denies is denied whatever the rules are.
func TestRulesNeverLift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := graded(Settings{Rules: drawRules(t)})
		for _, a := range []sdk.PolicyRequest{lineOf("denied x"), callOf(writeFile, map[string]any{"path": "../x"}), callOf(writeFile, map[string]any{"path": ".git/config"})} {
			a.Mode, a.Attended = rapid.SampledFrom(modes).Draw(t, "mode"), true
			if d := p.Decide(a); d.Verdict != sdk.Deny {
				t.Fatalf("%s by %s", d.Verdict, d.Rule)
			}
		}
		full := lineOf("unsafe x")
		full.Mode = sdk.ModeFull
		if d := p.Decide(full); d.Verdict == sdk.Allow {
			t.Fatalf("an unsafe line was allowed by %s", d.Rule)
		}
	})
}

// TestDecideIsPure: the same call has the same answer, from many at once, and
// neither it nor the rules are changed.
func TestDecideIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, a := drawRules(t), drawAction(t)
		kept := append([]sdk.PolicyRule{}, rules...)
		arguments := string(a.Arguments)
		p := graded(Settings{Rules: rules})
		want := p.Decide(a)
		answers := make(chan sdk.Decision, 4)
		for range cap(answers) {
			go func() { answers <- p.Decide(a) }()
		}
		for range cap(answers) {
			if got := <-answers; !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v, and then %+v", want, got)
			}
		}
		if !reflect.DeepEqual(rules, kept) || string(a.Arguments) != arguments {
			t.Fatal("what it was given was changed")
		}
	})
}

func TestWildcard(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b\nc", true}, {"a*", "ab", true}, {"a*", "ba", false},
		{"*b", "aab", true}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "axxbyy", false}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"**", "x", true},
		{strings.Repeat("a*", 50) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := fits(c.pattern, c.text); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.text, got)
		}
	}
}

func FuzzDecide(f *testing.F) {
	for _, s := range []string{"ls -la", "cat a | wc -l", "$(", "rm -rf /", "a{b,c}", "\x00", "go test ./... && make"} {
		f.Add(s, "docs/**", "go test")
	}
	f.Fuzz(func(t *testing.T, line, glob, words string) {
		rules := []sdk.PolicyRule{
			{Name: "a", Verdict: sdk.Allow, Commands: []string{words}}, {Name: "p", Verdict: sdk.Propose, Paths: []string{glob}},
			{Name: "d", Verdict: sdk.Deny, Tools: []string{glob}, Arguments: map[string]string{"command": words}},
		}
		for _, form := range []string{"bash", "argv"} {
			for _, mode := range modes {
				a := lineOf(line)
				a.Mode = mode
				d := New(Settings{Rules: rules, Shell: form}).Decide(a)
				if _, known := rank[d.Verdict]; !known || d.Rule == "" || d.Reason == "" {
					t.Fatalf("%q in %s: %+v", line, mode, d)
				}
				bare := New(Settings{Shell: form}).Decide(a)
				if bare.Rule == "shell.deny" && d.Verdict != sdk.Deny {
					t.Fatalf("%q is on the deny-list, and rules made it %s", line, d.Verdict)
				}
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	rules := []sdk.PolicyRule{
		{Name: "tests", Source: "f:1", Verdict: sdk.Allow, Commands: []string{"go test", "go vet", "make"}},
		{Name: "no", Source: "f:2", Verdict: sdk.Deny, Commands: []string{"git push"}, Paths: []string{"db/**"}},
		{Name: "ask", Source: "f:3", Verdict: sdk.Propose, Tools: []string{"write_*"}, Paths: []string{"migrations/**"}},
	}
	for name, a := range map[string]sdk.PolicyRequest{
		"list": lineOf("ls -la"), "pipe": lineOf("git log --oneline | head -n 20"), "test": lineOf("cd src && go test ./... 2>&1 | tail -n 40"),
		"find": lineOf(`find . -name '*.go' -newer go.mod | sort | head`), "write": callOf(writeFile, map[string]any{"path": "src/a.go", "content": strings.Repeat("x", 4096)}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := New(Settings{Rules: rules})
			for b.Loop() {
				p.Decide(a)
			}
		})
	}
}

// TestUnwritten: of a call whose arguments are not known it is decided what it may be at most.
func TestUnwritten(t *testing.T) {
	foreign := tool("greet", false, sdk.Annotations{})
	rule := func(v sdk.Verdict, change func(*sdk.PolicyRule)) []sdk.PolicyRule {
		return []sdk.PolicyRule{ruleOf(v, change)}
	}
	none := func(*sdk.PolicyRule) {}
	ada := func(r *sdk.PolicyRule) { r.Arguments = map[string]string{"who": "Ada"} }
	docs := func(r *sdk.PolicyRule) { r.Paths = []string{"docs/**"} }
	exact := func(r *sdk.PolicyRule) { r.Exact = "abc" }
	for name, c := range map[string]struct {
		rules []sdk.PolicyRule
		want  sdk.Verdict
	}{
		"nothing":                       {nil, sdk.Propose},
		"an allow rule":                 {rule(sdk.Allow, none), sdk.Allow},
		"an allow rule for arguments":   {rule(sdk.Allow, ada), sdk.Allow},
		"an allow rule for paths":       {rule(sdk.Allow, docs), sdk.Allow},
		"an allow rule for one call":    {rule(sdk.Allow, exact), sdk.Allow},
		"a deny rule":                   {rule(sdk.Deny, none), sdk.Deny},
		"a deny rule for arguments":     {rule(sdk.Deny, ada), sdk.Propose},
		"a deny rule for paths":         {rule(sdk.Deny, docs), sdk.Propose},
		"a deny rule beside one allows": {append(rule(sdk.Allow, ada), rule(sdk.Deny, none)...), sdk.Deny},
	} {
		d := New(Settings{Rules: c.rules}).Decide(sdk.PolicyRequest{Tool: foreign, Mode: sdk.ModeRestricted, Attended: true, Unwritten: true})
		if d.Verdict != c.want {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
