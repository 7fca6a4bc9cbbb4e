package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

func read(t *testing.T, file, src string) Plan {
	t.Helper()
	p, err := Read(file, []byte(src))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return p
}

const seedForm = `goal: "Generate API documentation"
context:
  directory: "src/api/"
instructions:
  - List all API endpoint files
  - Extract function signatures
  - Create OpenAPI spec
`

// L2: the form of the seed is accepted, and its prompt is the seed's word for word.
func TestPromptOfTheSeed(t *testing.T) {
	const want = `You are assisting with the following task:

GOAL: Generate API documentation

CONTEXT:
- Directory: src/api/

INSTRUCTIONS (follow as guidance):
1. List all API endpoint files
2. Extract function signatures
3. Create OpenAPI spec

Use the available tools to accomplish this goal. You may adapt your approach as needed, but try to follow the instructions provided.`
	for file, src := range map[string]string{
		"p.yaml": seedForm,
		"p.yml":  "\ufeff" + strings.ReplaceAll(seedForm, "\n", "\r\n"),
		"p.json": `{"goal":"Generate API documentation","context":{"directory":"src\/api/"},"instructions":["List all API endpoint files","Extract function signatures","Create OpenAPI spec"]}`,
		"p.md":   "# Generate API documentation\n\n## Context\n\n- Directory: src/api/\n\n## Instructions\n\n1. List all API endpoint files\n2. Extract function signatures\n3) Create OpenAPI spec\n",
		"P.MD":   "## Goal\nGenerate API documentation\n## Context\n- Directory: src/api/\n## Instructions ##\n- List all API endpoint files\n* Extract function signatures\n+ Create OpenAPI spec",
	} {
		if got := read(t, file, src).Prompt(Range{}); got != want {
			t.Errorf("%s gives\n%s", file, got)
		}
	}
}

const stepsYAML = `name: Release
description: |
  Cut a release.
version: "1"
steps:
  - name: Tests
    action: Run the tests
    context: |
      make check
      make bench
  - name: Tag
    action: Tag the commit
    context: {branch: main, files: [a.go, b.go]}
`

// L6: description and the context of steps are in the prompt.
func TestPromptOfSteps(t *testing.T) {
	const want = `You are assisting with the following task:

GOAL: Release

DESCRIPTION: Cut a release.

INSTRUCTIONS (follow as guidance):
1. Tests: Run the tests
   Context:
   make check
   make bench
2. Tag: Tag the commit
   Context:
   - Branch: main
   - Files: a.go, b.go

Use the available tools to accomplish this goal. You may adapt your approach as needed, but try to follow the instructions provided.`
	for file, src := range map[string]string{
		"p.yaml": stepsYAML,
		"p.json": `{"name":"Release","description":"Cut a release.\r\n","steps":[{"name":"Tests","action":"Run the tests","context":"make check\nmake bench"},{"name":"Tag","action":"Tag the commit","context":["Branch: main","Files: a.go, b.go"]}]}`,
	} {
		if got := read(t, file, src).Prompt(Range{}); got != want {
			t.Errorf("%s gives\n%s", file, got)
		}
	}
}

// L5: a heading in a block of code stays there.
func TestFences(t *testing.T) {
	p := read(t, "p.md", "# Deploy\n\nWhat it is for.\n\n## Write the file\n\nPut this into `x.md`,\nas it is:\n\n```md\n## x\n# y\n~~~\n```\n\nand look at it.\n\n## Check\nLook at it.\n~~~~\n~~~\n# not a title\n~~~~\n")
	want := Plan{Goal: "Deploy", Description: "What it is for.", Steps: []Step{
		{"Write the file", "Put this into `x.md`,\nas it is:", "```md\n## x\n# y\n~~~\n```\n\nand look at it."},
		{"Check", "Look at it.", "~~~~\n~~~\n# not a title\n~~~~"},
	}}
	if len(p.Steps) != 2 || p.Steps[0] != want.Steps[0] || p.Steps[1] != want.Steps[1] || p.Goal != want.Goal || p.Description != want.Description {
		t.Errorf("read is %q", p)
	}
	p = read(t, "p.md", "# G\n## Instructions\n1. Put\n   this there:\n   ```\n   - no item\n   ## x\n   ```\n2. Look\n")
	if want := (Step{"", "Put\nthis there:", "```\n- no item\n## x\n```"}); len(p.Steps) != 2 || p.Steps[0] != want {
		t.Errorf("read is %q", p.Steps)
	}
}

// TestListsBelowInstructions: what stands below an instruction is part of it, and no step that would be counted.
func TestListsBelowInstructions(t *testing.T) {
	for src, want := range map[string][]string{
		"1. Do X\n   - a\n   - b\n2. Do Y":    {"Do X\n- a\n- b", "Do Y"},
		"- Do X\n  - a\n    more\n- Do Y":     {"Do X\n- a\n  more", "Do Y"},
		"- Do X\n    1. a\n- Do Y":            {"Do X\n  1. a", "Do Y"},
		" * Do X\n   * a\n * Do Y":            {"Do X\n* a", "Do Y"},
		"1. Do X\n 2. Do Y\n  3. Do Z\n10. D": {"Do X", "Do Y", "Do Z", "D"},
		"-\n  Do X\n-  Do Y\n\n   still":      {"Do X", "Do Y\n\nstill"},
	} {
		p := read(t, "p.md", "# G\n## Instructions\n"+src+"\n")
		var got []string
		for _, s := range p.Steps {
			got = append(got, s.Action)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the instructions %q", src, got)
		}
	}
}

// TestComments: what a person has commented out is no step, as in YAML; a comment in a block of code is code.
func TestComments(t *testing.T) {
	p := read(t, "p.md", "<!-- ours -->\n# x\n<!--\n## old\n```\n--> about\n## y\ndo <!-- not --> it\n<!-- a --><!--\n## b --> so\n```\n<!--\n```\n---\n")
	if want := (Step{"y", "do <!-- not --> it\n\n so", "```\n<!--\n```\n---"}); len(p.Steps) != 1 || p.Steps[0] != want || strings.TrimSpace(p.Description) != "about" {
		t.Errorf("read is %q", p)
	}
	p = read(t, "p.md", "# x\n## Instructions\n- a\n<!--\n- b\n-->\n- c\n---\n")
	if len(p.Steps) != 2 || p.Steps[0].Action != "a" || !strings.HasPrefix(p.Steps[1].Action, "c") {
		t.Errorf("read is %q", p)
	}
}

// L3 and L4: what is wrong is said, where it stands, and no two mistakes in the same words.
func TestMistakes(t *testing.T) {
	told := map[string]string{}
	for _, c := range []struct{ name, file, src, want string }{
		{"no steps", "p.yaml", "name: x\nsteps: []\n", "p.yaml: the plan has no steps"},
		{"blank name", "p.yaml", "name: '  '\nsteps: [{name: a, action: b}]\n", "p.yaml:1: the name of the plan is empty"},
		{"no action", "p.yaml", "name: x\nsteps:\n  - name: Tag it\n", `p.yaml:3: the step "Tag it" has no action`},
		{"blank action", "p.json", "{\"name\":\"x\",\"steps\":[\n{\"name\":\"Tag\",\n\"action\":\" \"}]}", `p.json:3: the step "Tag" has no action`},
		{"no action below a heading", "p.md", "# x\n\n## Tag that\n\n```\nx\n```\n", `p.md:3: the step "Tag that" has no action`},
		{"another ending", "p.txt", "x", "p.txt: the ending .txt is none of a plan"},
		{"no ending", "plan", "x", "plan: the file has no ending"},
		{"empty", "p.md", " \n", "p.md: the file is empty"},
		{"no YAML", "p.yaml", "goal: x\n  bad: [\n", "p.yaml:2: the file is no YAML"},
		{"no JSON", "p.json", "{\"goal\":\n\"x\",}", "p.json:2: the file is no JSON"},
		{"cut JSON", "p.json", "{\"goal\":\n\"x\"", "p.json:2: the file is no JSON: it ends too early"},
		{"behind JSON", "p.json", "{}\n{}", "p.json:2: something stands behind the end"},
		{"no UTF-8", "p.md", "# x\n\xff", "p.md:2: the file is not valid UTF-8"},
		{"two documents", "p.yaml", "goal: x\n---\ngoal: y\n", "more than one document"},
		{"unknown", "p.yaml", "goal: x\ninstruction: [a]\n", `p.yaml:2: the plan has no field "instruction"`},
		{"unknown of a step", "p.yaml", "name: x\nsteps:\n- name: a\n  action: b\n  tool: bash\n", `p.yaml:5: step 1 has no field "tool"`},
		{"both forms", "p.yaml", "goal: x\nname: y\nsteps: [{name: a, action: b}]\n", `p.yaml:1: the plan has no field "goal"`},
		{"twice", "p.yaml", "goal: x\ngoal: y\ninstructions: [a]\n", "p.yaml:2: the field goal of the plan stands in line 1 already"},
		{"twice in JSON", "p.json", `{"goal":"x","goal":"y","instructions":["a"]}`, "the field goal of the plan stands in line 1 already"},
		{"alias", "p.yaml", "goal: &a x\ninstructions: [*a]\n", "p.yaml:1: anchors and aliases are not read"},
		{"colon", "p.yaml", "goal: x\ninstructions:\n- Fix it: now\n", "p.yaml:3: instruction 1 is a text, and this is fields; in YAML a text with a colon needs quotes"},
		{"empty instruction", "p.yaml", "goal: x\ninstructions: ['']\n", "instruction 1 is empty"},
		{"no list", "p.yaml", "goal: x\ninstructions: a\n", "instructions is a list, and this is a text"},
		{"no text", "p.yaml", "goal: [x]\ninstructions: [a]\n", "goal is a text, and this is a list"},
		{"a list", "p.json", `["a"]`, "this is a list"},
		{"nothing", "p.yaml", "# only a remark\n", "this is nothing"},
		{"a step that is a text", "p.yaml", "name: x\nsteps: [a]\n", "step 1 is a text"},
		{"deep context", "p.yaml", "goal: x\ncontext: {a: {b: c}}\ninstructions: [a]\n", "a context is a text, a list or names with their values, and no deeper"},
		{"two lines of goal", "p.yaml", "goal: \"x\\ny\"\ninstructions: [a]\n", "the goal of the plan takes one line"},
		{"long name", "p.yaml", "name: x\nsteps: [{name: " + strings.Repeat("a", 201) + ", action: b}]\n", "the name of step 1 takes one line"},
		{"control", "p.json", `{"goal":"a\u001b[31m","instructions":["a"]}`, "has a control character"},
		{"open block", "p.md", "# x\n## y\n```\n", "p.md:3: the block of code that begins here has no end"},
		{"open comment", "p.md", "# x\n## y\nz\n<!-- ## a\n", "p.md:4: the comment that begins here has no end"},
		{"underlined", "p.md", "# x\n## y\nz\n\nStep two\n---\nz\n", "p.md:6: a heading that is underlined is not read"},
		{"above", "p.md", "hello\n# x\n## y\nz", "p.md:1: something stands above the title"},
		{"no title", "p.md", "## y\nz", "the name of the plan, its title (# NAME), is empty"},
		{"two titles", "p.md", "# x\n## y\nz\n# x\n", "p.md:4: a second title"},
		{"no heading", "p.md", "# x\n## \nz\n", "p.md:2: step 1 has no name"},
		{"no items", "p.md", "# x\n## Instructions\nDo it.\n", "p.md:3: the instructions are a list"},
		{"other section", "p.md", "# x\n## Instructions\n- a\n## Notes\n", `p.md:4: a plan with a section Instructions has beside it Goal and Context, and no "Notes"`},
		{"two goals", "p.md", "# x\n## Goal\ny\n## Instructions\n- a\n", "the goal stands twice"},
		{"two sections", "p.md", "# x\n## Instructions\n- a\n## instructions\n- b\n", "p.md:4: the section instructions stands in line 2 already"},
		{"too long", "p.md", strings.Repeat("a", MaxFile+1), "the file has 262145 bytes, and a plan at most 262144"},
		{"too many", "p.yaml", "goal: x\ninstructions:\n" + strings.Repeat("- a\n", MaxSteps+1), "the plan has 101 steps"},
		{"too deep", "p.json", strings.Repeat("[", 100000), "p.json:1: more than 8 levels deep"},
		{"too deep YAML", "p.yaml", strings.Repeat("[", 20) + strings.Repeat("]", 20), "p.yaml:1: more than 8 levels deep"},
	} {
		_, err := Read("dir/"+c.file, []byte(c.src))
		var all *Problems
		if err == nil || !strings.Contains(err.Error(), c.want) || sdk.OutcomeOf(err) != sdk.Validation || !errors.As(err, &all) {
			t.Errorf("%s: %v, and not %q", c.name, err, c.want)
			continue
		}
		if other := told[err.Error()]; other != "" {
			t.Errorf("%s is told as %s is: %v", c.name, other, err)
		}
		told[err.Error()] = c.name
	}
}

// All mistakes of a file are told at once.
func TestAllMistakes(t *testing.T) {
	_, err := Read("p.yaml", []byte("name: ''\nsteps:\n- {name: a}\n- {name: b, action: c, extra: d}\n"))
	if n := strings.Count(err.Error(), "\n"); n != 2 {
		t.Errorf("told is\n%v", err)
	}
}

// Whatever bytes a file has, it is read or refused: what is read has steps with their texts, and its prompt is one that
// may be sent.
func FuzzRead(f *testing.F) {
	for _, ending := range Endings {
		f.Add(ending, []byte(seedForm))
		f.Add(ending, []byte(stepsYAML))
		f.Add(ending, []byte("# a\nb\n## c\nd\n```\n## e\n```\n"))
		f.Add(ending, []byte("# a\n## Context\nb\n## Instructions\n1. c\n   ~~~\n   - d\n   ~~~\n"))
		f.Add(ending, []byte(`{"name":"a","steps":[{"name":"b","action":"c","context":{"d":["e",1,true,null]}}]}`))
	}
	f.Fuzz(func(t *testing.T, ending string, src []byte) {
		p, err := Read("p"+ending, src)
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatal(err)
			}
			return
		}
		if p.Goal == "" || len(p.Steps) == 0 || len(p.Steps) > MaxSteps {
			t.Fatalf("read is %q", p)
		}
		prompt := p.Prompt(Range{})
		if !utf8.ValidString(prompt) {
			t.Fatal("no valid UTF-8")
		}
		for i, s := range p.InRun(Range{}) {
			if strings.TrimSpace(s.Text) == "" || p.Steps[i].Action == "" {
				t.Fatalf("step %d is empty: %q", i+1, p)
			}
		}
	})
}
