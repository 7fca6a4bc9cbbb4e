package skill

import (
	"slices"
	"strings"
	"testing"
)

// descriptions are values as people write them who know no YAML, and what must
// be read; empty means as written.
var descriptions = []struct{ written, read string }{
	{"Use when: asked", ""}, {"Steps: a; b: c # d", ""}, {"Use it for:", ""}, {"TRIGGERS: 'a', \"b\", [c], {d}", ""}, {"中文: 描述", ""}, {"emoji 🚀: launch", ""},
	{"日本語：全角", ""}, {"\u201csmart\u201d: yes", ""}, {"tab\tin: text", "tab in: text"}, {"http://a.b: c", ""}, {"a --- b: c", ""}, {"It's: fine", ""}, {"a: 'b", ""}, {"a: [b", ""},
	{"@scope/pkg does", ""}, {"`code` first", ""}, {"%APPDATA% paths", ""}, {"*", ""}, {"*.go files", ""}, {"*.{ts,tsx}", ""}, {"*args and **kwargs: x", ""}, {"**Bold** words", ""}, {"*foo", ""},
	{"& more", ""}, {"&amp; more", ""}, {"&foo: bar", ""}, {"!`date` first", ""}, {"!! alert", ""}, {"!<foo", ""}, {"|pipe", ""}, {">=1.2 is needed", ""},
	{"- a dash", ""}, {"? a question", ""}, {", a comma", ""}, {"] a bracket", ""}, {"} a brace", ""}, {"[WIP] does this", ""}, {"[a](b) does", ""}, {"[a, b: c] x", ""},
	{"[[wiki]]: link", ""}, {"{name} does", ""}, {"{a: b} then", ""}, {"{{name}} template", ""}, {"{% raw %}", ""}, {"{{#if}}", ""}, {"\"One\" and \"two\"", ""}, {"'a' 'b'", ""},
	{`"say "hi" there"`, ""}, {"'it's broken'", ""}, {"<b>html</b>: yes", ""}, {"<name>", ""}, {"$ARGUMENTS: x", ""}, {"\\n: x", ""},
	{"a: b: c: d:", ""}, {"x: |", ""}, {":", ""}, {"2026-03-06", ""}, {"1.0", ""}, {"0x10", ""}, {"true", ""}, {"yes", ""}, {"...", ""}, {"'quoted: well'", "quoted: well"}, {"\"quoted: well\"", "quoted: well"},
	{">\n  folded: text\n  # no comment\n  - x", "folded: text # no comment - x"}, {"|\n  <example>\n  user: \"x\"\n  </example>", "<example> user: \"x\" </example>"}, {">- # why\n  text", "text"},
	{"Use it for:\n  - one\n  - two: three", "Use it for: - one - two: three"}, {"Use it for:\n- one\n- two", "Use it for: - one - two"},
	{"Use it for:\n\n  more: text", "Use it for: more: text"}, {"\n  Text.\n  Triggers: a, b", "Text. Triggers: a, b"}, {"\n  [text] on the next line", "[text] on the next line"}, {"\n  @text", "@text"},
	{"\"begins here\nand goes on: x\"", "begins here and goes on: x"}, {"\"begins \"here\"\n  and goes on: x\"", `"begins "here" and goes on: x"`}, {"'it's here\n  and goes on'", "'it's here and goes on'"},
}

// others are fields and lines that stand beside name and description, whatever
// becomes of them.
var others = []string{
	"", "license: MIT", "argument-hint: [issue] [branch]", "argument-hint: [a [b]]", "argument-hint: [@x]", "argument-hint: [a, , b]", "argument-hint: [|x]", "argument-hint: <file> [--flag]", "allowed-tools: *",
	"allowed-tools: [*]", "allowed-tools:\n  - Bash(git: *)\n  - *", "allowed-tools:\n- Read\n- Write", "tags: [a, b,\n  c]", "tags: [\n  a,\n  b,\n]", "tags: [#a, #b]", "tags:\n  - @a\n  - b: c", "globs: *.ts,*.tsx", "paths:\n  - **/*.ts",
	"metadata:\n  a: b: c", "metadata:\n  author: @me\n  note: \"a\" b", "metadata: {\"a\":{\"b\":[{\"c\":\"d\"}]}}", "metadata:\n  {\n    \"a\":\n      {\n        \"b\": [\"c\"],\n      },\n  }", "metadata: {\n\t\"a\": 1\n}", "metadata:\n\ta:\n\t\tb: c",
	"metadata:\n  a: 1\n   b: 2", "metadata:\n\u00a0\u00a0a: b", "x: &a 1\ny: *a", "y: *undefined", "base: &b {q: 1}\n<<: *b", "? complex\n: v", "\"quoted\": v: w", "1: number", "2026-03-06: date", "{a: b}: c", "中文: 值", "key : value",
	"version: >=1.2", "version: @latest", "version: \"1.0\" beta", "author: \"me\" <a@b.c>", "author: [me](http://x)", "date: 2026-13-45", "date: {{ date }}", "cmd: !`x`", "# comment: x\n\n  # another",
	"empty:", "x: 'a\nb: c'", "triggers: \"a\" or \"b\"", "triggers:\n  - \"a\" or \"b\"\n  - it's: so", "examples:\n  - <example>\n    user: x", "hooks:\n  Pre:\n    - matcher: *\n      run: \"./x $Y: z\"", "x: \"\\d\"",
	"é: x",
}

// TestNothingIsLost puts every description beside every other field, before and
// behind it, in files of all kinds.
func TestNothingIsLost(t *testing.T) {
	frames := []func(string) string{
		func(s string) string {
			return "---\n" + s + "\n---\n# Body\n\n| a | b |\n|---|---|\n\n```yaml\n---\nx: [\n---\n```\n"
		},
		func(s string) string {
			return "\ufeff\r\n---  \r\n" + strings.ReplaceAll(s, "\n", "\r\n") + "\r\n---\t\r\nbody"
		},
		func(s string) string { return "---\n# first\n" + s + "\n\n---" },
	}
	n := 0
	for _, d := range descriptions {
		want := d.read
		if want == "" {
			want = d.written
		}
		for _, other := range others {
			own := []string{"name: a", "description: " + d.written}
			for _, lines := range [][]string{{other, own[0], own[1]}, {own[0], own[1], "license: MIT", other}} {
				text := frames[n%len(frames)](strings.Join(lines, "\n"))
				n++
				got := Parse([]byte(text), "folder")
				checkDocument(t, got)
				if !got.Loaded || got.Name != "a" || got.Description != want {
					t.Errorf("%q\nloaded %v as %q: %q, want %q; %v", text, got.Loaded, got.Name, got.Description, want, codes(got))
				}
			}
		}
	}
}

// TestShapesOfFrontmatter has blocks that are odd as a whole.
func TestShapesOfFrontmatter(t *testing.T) {
	for _, c := range []struct{ block, name, description string }{
		{"{name: a, description: text}", "a", "text"}, {"{\n\t\"name\": \"a\",\n\t\"description\": \"text\"\n}", "a", "text"}, {"  name: a\n  description: text", "a", "text"},
		{"\"name\": a\n'description': Use: it", "a", "Use: it"}, {"name:\ta\ndescription:\tx: y", "a", "x: y"}, {"name: @a\ndescription: text", "a", "text"}, {"name: a: b\ndescription: text", "a-b", "text"},
		{"name: &n a\ndescription: *n", "a", "a"}, {"y: 1\nno: 2\nname: a\ndescription: text", "a", "text"}, {"name: a\ndescription: |\n  text\n  ---\n  more", "a", "text --- more"},
	} {
		d := Parse([]byte("---\n"+c.block+"\n---\n"), "folder")
		checkDocument(t, d)
		if !d.Loaded || d.Name != c.name || d.Description != c.description {
			t.Errorf("%q: loaded %v as %q: %q, %v", c.block, d.Loaded, d.Name, d.Description, d.Diagnostics)
		}
	}
}

// TestNotRepaired has mistakes that hardly anybody makes: the reason is told, and
// where.
func TestNotRepaired(t *testing.T) {
	for _, c := range []struct {
		block, code  string
		line, column int
	}{
		{"description: text\nname: a\nprose", "yaml", 4, 1}, {"name: a\ndescription: text\n// comment: x\nx y", "yaml", 5, 1}, {"name: a\n description: text", "yaml", 3, 2},
		{"\tname: a\n\tdescription: text", "yaml", 2, 2}, {"  name: a\ndescription: text", "yaml", 2, 3}, {"name: a\ndescription:text", "yaml", 3, 1}, {"name: a\ndescription: 'text", "yaml", 3, 14},
		{"name: a\ndescription: [text", "yaml", 3, 14}, {"name: a\ndescription: {x: y", "yaml", 3, 14}, {"name: a\n\tdescription: text", "yaml", 3, 2}, {"name: a\ndescription: text\nlicense:MIT", "yaml", 4, 1},
		{"name: a\n...\ndescription: text", "yaml", 3, 1}, {"name: a\ndescription: x\ay", "yaml", 3, 14}, {"- name: a", "frontmatter-fields", 2, 1}, {"name: {{name}}\ndescription: text", "name-type", 2, 7},
	} {
		d := Parse([]byte("---\n"+c.block+"\n---\n"), "folder")
		checkDocument(t, d)
		i := slices.IndexFunc(d.Diagnostics, func(x diagnostic) bool { return x.Severity == "error" })
		if d.Loaded || i < 0 {
			t.Errorf("%q is loaded as %q: %q", c.block, d.Name, d.Description)
		} else if x := d.Diagnostics[i]; x.Code != c.code || x.Line != c.line || x.Column != c.column {
			t.Errorf("%q: %s at %d:%d, want %s at %d:%d: %s", c.block, x.Code, x.Line, x.Column, c.code, c.line, c.column, x.Message)
		}
	}
}
