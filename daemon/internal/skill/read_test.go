package skill

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

// codes are the codes of a document's diagnostics, errors in capitals.
func codes(d Document) []string {
	var out []string
	for _, x := range d.Diagnostics {
		if x.Severity == "error" {
			x.Code = strings.ToUpper(x.Code)
		}
		out = append(out, x.Code)
	}
	return out
}

// TestOddities has each of the oddities that public skills are known for.
func TestOddities(t *testing.T) {
	for _, c := range []struct {
		name, text, folder string
		codes              []string
		check              func(d Document) bool
	}{
		{"1 a colon in the description", "---\nname: cmux\ndescription: Panes: open, close\nallowed-tools: Bash\n---\nx", "cmux", []string{"repaired"},
			func(d Document) bool {
				return d.Repaired && d.Description == "Panes: open, close" && d.AllowedTools == nil
			}},
		{"1 a colon at the end", "---\nname: a\ndescription: Use it for:\n---\n", "a", []string{"repaired"},
			func(d Document) bool { return d.Description == "Use it for:" }},
		{"1 a colon in a later line", "---\nname: a\ndescription: Use it\n  when: it's late\n  # really\nlicense: MIT\n---\n", "a", []string{"repaired"},
			func(d Document) bool {
				return d.Description == "Use it when: it's late # really" && d.License == "MIT"
			}},
		{"2 a reserved first character", "---\nname: a\ndescription: @Observable patterns\nversion: `1`\n---\n", "a", []string{"repaired", "repaired"},
			func(d Document) bool { return d.Description == "@Observable patterns" && d.Version == "`1`" }},
		{"3 dashes and a hash inside the description", "---\nname: md-slides\ndescription: Slides, split at --- or at \"# \" headings --- and more\n---\n# Body\n---\nend", "md-slides", nil,
			func(d Document) bool {
				return d.Description == `Slides, split at --- or at "# " headings --- and more` && d.Body == "# Body\n---\nend"
			}},
		{"3 indented dashes", "---\nname: a\ndescription: |\n  one\n  ---\n  two\n  -\n---\nbody", "a", nil,
			func(d Document) bool { return d.Description == "one --- two -" && d.Body == "body" }},
		{"4 no frontmatter", "# Telegram post\n\nWrite it.", "telegram-post", []string{"FRONTMATTER-MISSING"},
			func(d Document) bool { return !d.Loaded && d.Name == "telegram-post" }},
		{"5 capitals", "---\nname: Linear\ndescription: d\n---\n", "linear", []string{"name-characters"}, func(d Document) bool { return d.Name == "linear" }},
		{"5 spaces", "---\nname: Testing Skills With Subagents\ndescription: d\n---\n", "t", []string{"name-characters"},
			func(d Document) bool { return d.Name == "testing-skills-with-subagents" }},
		{"6 a name that is not the folder's", "---\nname: one\ndescription: d\n---\n", "two", nil, func(d Document) bool { return d.Name == "one" }},
		{"6 no name", "---\ndescription: d\n---\n", "My Folder", []string{"name-missing"}, func(d Document) bool { return d.Name == "my-folder" }},
		{"6 no description", "---\nname: a\n---\n# T\ntext", "a", []string{"DESCRIPTION-MISSING"}, func(d Document) bool { return !d.Loaded }},
		{"6 a long description", "---\nname: a\ndescription: " + strings.Repeat("word ", 300) + "\n---\n", "a", nil,
			func(d Document) bool { return len(d.Description) == 1499 }},
		{"7 folded over lines", "---\nname: a\ndescription: >-\n  one\n  two\n\n  three\n---\n", "a", nil, func(d Document) bool { return d.Description == "one two three" }},
		{"8 metadata of every kind", "---\nname: a\ndescription: d\nmetadata:\n  openclaw: {bins: [x, 1]}\n  updated: 2026-03-06\n  n: 3\n  ok: yes\n  f: .inf\n  version: 1.10\n---\n", "a", nil,
			func(d Document) bool {
				text, err := json.Marshal(d.Metadata)
				return err == nil && string(text) == `{"f":"+Inf","n":3,"ok":"yes","openclaw":{"bins":["x",1]},"updated":"2026-03-06","version":1.1}` && d.Version == "1.10"
			}},
		{"9 tools as a list", "---\nname: a\ndescription: d\nallowed-tools: [Read, \"Bash(git:*, jq:*)\"]\nargument-hint: [issue]\n---\n", "a", nil,
			func(d Document) bool {
				return slices.Equal(d.AllowedTools, []string{"Read", "Bash(git:*, jq:*)"}) && d.ArgumentHint == "[issue]"
			}},
		{"9 tools with commas", "---\nname: a\ndescription: d\nallowed-tools: Read, Bash(git:*, jq:*),Grep\n---\n", "a", nil,
			func(d Document) bool {
				return slices.Equal(d.AllowedTools, []string{"Read", "Bash(git:*, jq:*)", "Grep"})
			}},
		{"9 tools with spaces", "---\nname: a\ndescription: d\nallowed-tools: Bash(git:*) Bash(jq:*) Read\n---\n", "a", nil,
			func(d Document) bool {
				return slices.Equal(d.AllowedTools, []string{"Bash(git:*)", "Bash(jq:*)", "Read"})
			}},
		{"9 one tool", "---\nname: a\ndescription: d\nallowed-tools: Bash\n---\n", "a", nil, func(d Document) bool { return slices.Equal(d.AllowedTools, []string{"Bash"}) }},
		{"10 numbers, dates and words of yes", "---\nname: 007\ndescription: 1.50\nversion: 1.0\nlast-updated: 2026-03-06\nlicense: yes\ndisable-model-invocation: on\n---\n", "a", nil,
			func(d Document) bool {
				return d.Name == "007" && d.Description == "1.50" && d.Version == "1.0" && d.License == "yes" && d.PeopleOnly && d.Extensions["last-updated"] == "2026-03-06"
			}},
		{"11 CRLF", "---\r\nname: a\r\ndescription: |\r\n  one\r\n  two\r\n---\r\nbody\r\n", "a", nil,
			func(d Document) bool { return d.Description == "one two" && d.Body == "body\r\n" }},
		{"12 emoji and no-break spaces", "---\nname: a\ndescription: \"\U0001F468\u200d\U0001F4BB\u00a0codes ❤\ufe0f\"\n---\n", "a", nil,
			func(d Document) bool { return d.Description == "\U0001F468\u200d\U0001F4BB codes ❤\ufe0f" }},
		{"12 a zero-width space", "---\nname: a\ndescription: in\u200bvisible\n---\n", "a", []string{"hidden-character"},
			func(d Document) bool { return d.Description == "invisible" }},
		{"12 right to left and tags", "---\nname: a\ndescription: d\n---\nx\u202ey\U000E0041\U000E0042", "a", []string{"bidi-character", "hidden-character"},
			func(d Document) bool {
				return d.Loaded && strings.Contains(d.Diagnostics[1].Message, "2 such characters")
			}},
		{"13 tags and stars", "---\nname: a\ndescription: Makes <b>bold</b> *or* &plain things\n---\n", "a", nil,
			func(d Document) bool { return d.Description == "Makes <b>bold</b> *or* &plain things" }},
		{"13 a star at the beginning", "---\nname: a\ndescription: **Bold** words\n---\n", "a", []string{"repaired"}, func(d Document) bool { return d.Description == "**Bold** words" }},

		{"a byte order mark and empty lines", "\ufeff\n  \n---\nname: a\ndescription: d\n---\nbody", "a", nil, func(d Document) bool { return d.Body == "body" }},
		{"unclosed", "---\nname: a\ndescription: d\n\n# T\n", "a", []string{"FRONTMATTER-UNCLOSED"}, nil},
		{"closed by an indented fence only", "---\nname: a\ndescription: d\n ---\n# T\n", "a", []string{"FRONTMATTER-UNCLOSED"}, nil},
		{"one dash", "-\nname: a\ndescription: d\n-\n", "a", []string{"FRONTMATTER-MISSING"}, nil},
		{"four dashes", "----\nname: a\n----\n", "a", []string{"FRONTMATTER-MISSING"}, nil},
		{"white space behind the fences", "--- \t\nname: a\ndescription: d\n---  \nbody", "a", nil, func(d Document) bool { return d.Body == "body" }},
		{"an empty frontmatter", "---\n---\nbody", "a", []string{"DESCRIPTION-MISSING", "name-missing"}, nil},
		{"nothing at all", "", "a", []string{"FRONTMATTER-MISSING"}, nil},
		{"keys twice", "---\nname: a\ndescription: one\ndescription: two\nallowed-tools: Bash\n---\n", "a", []string{"duplicate-key"},
			func(d Document) bool { return d.Description == "two" && d.AllowedTools == nil }},
		{"tabs", "---\nname: a\ndescription: d\nmetadata:\n\tkey: value\n---\n", "a", []string{"repaired"},
			func(d Document) bool { return d.Metadata["key"] == "value" && d.Repaired }},
		{"tabs in a folded text", "---\nname: a\ndescription: >\n\tone: two\n\t  three\n---\n", "a", []string{"repaired"}, func(d Document) bool { return d.Description == "one: two three" }},
		{"tabs and spaces", "---\nname: a\ndescription: d\nmetadata:\n  x:\n\t\ty: [1]\n---\n", "a", []string{"repaired"},
			func(d Document) bool { return d.Metadata["x"] != nil }},
		{"a tab before the description", "---\nname: a\n\tdescription: tabbed\n---\n", "a", []string{"YAML"}, nil},
		{"a description that goes on at the margin", "---\nname: a\ndescription: Use it\nwhen it's late\n\n(or not).\nlicense: MIT\n---\n", "a", []string{"repaired"},
			func(d Document) bool {
				return d.Description == "Use it when it's late (or not)." && d.License == "MIT"
			}},
		{"a field without a space behind the description", "---\nname: a\ndescription: d\nlicense:MIT\n---\n", "a", []string{"YAML"}, nil},
		{"a name that goes on at the margin", "---\ndescription: d\nname: a\nb\n---\n", "a", []string{"YAML"}, nil},
		{"a backslash in double quotes", `---
name: a
description: "C:\path \"x\" and \d+"
version: "C:\dir\"
---
`, "a", []string{"repaired", "repaired"}, func(d Document) bool {
			return d.Description == `C:\path "x" and \d+` && d.Version == `C:\dir\` && strings.Contains(d.Diagnostics[0].Message, "a backslash that stands for itself")
		}},
		{"a tab behind the colon", "---\nname:\ta\ndescription:\td\n---\n", "a", nil, func(d Document) bool { return d.Description == "d" }},
		{"a separator that YAML takes for a line end", "---\nname: a\ndescription: one\u2028two: three\n---\n", "a", []string{"repaired", "hidden-character"},
			func(d Document) bool { return d.Description == "one two: three" }},
		{"text behind quotes", "---\nname: a\ndescription: \"One\" and \"two\"\n---\n", "a", []string{"repaired"}, func(d Document) bool { return d.Description == `"One" and "two"` }},
		{"text behind brackets", "---\nname: a\ndescription: d\nargument-hint: [issue] [branch]\n---\n", "a", []string{"repaired"}, func(d Document) bool { return d.ArgumentHint == "[issue] [branch]" }},
		{"control characters", "---\nname: a\ndescription: d\x1b[31m\x07e\n---\n", "a", []string{"YAML", "hidden-character"}, nil},
		{"carriage returns alone", "---\rname: a\r---\r", "a", []string{"FRONTMATTER-MISSING"}, nil},
		{"a second document", "---\nname: a\n...\ndescription: d\n---\n", "a", []string{"YAML"}, nil},
		{"a placeholder", "---\nname: {{name}}\ndescription: d\n---\n", "a", []string{"NAME-TYPE"}, nil},
		{"NUL", "---\nname: a\ndescription: d\n---\nx\x00", "a", []string{"NUL"}, nil},
		{"no UTF-8", "---\nname: a\ndescription: d\xff\n---\n", "a", []string{"ENCODING"}, nil},
		{"UTF-16", "\xff\xfe-\x00-\x00", "a", []string{"ENCODING"}, nil},
		{"a large file", "---\nname: a\ndescription: d\n---\n" + strings.Repeat("x", MaxFile), "a", []string{"FILE-TOO-LARGE"}, nil},
		{"a large frontmatter", "---\nname: a\ndescription: d\nx: " + strings.Repeat("x", frontmatter.MaxBlock) + "\n---\n", "a", []string{"FRONTMATTER-TOO-LARGE"}, nil},

		{"K2 a blank name", "---\nname: \"  \"\ndescription: d\n---\n", "a", []string{"NAME-BLANK"}, nil},
		{"K2 an empty name", "---\nname:\ndescription: d\n---\n", "a", []string{"NAME-BLANK"}, nil},
		{"K2 a name that is a map", "---\nname: {a: b}\ndescription: d\n---\n", "a", []string{"NAME-TYPE"}, nil},
		{"K2 a blank description", "---\nname: a\ndescription: ' '\n---\n", "a", []string{"DESCRIPTION-MISSING"}, nil},
		{"K2 a description that is a list", "---\nname: a\ndescription: [d]\n---\n", "a", []string{"DESCRIPTION-TYPE"}, nil},
		{"K3 tags in a text", "---\nname: a\ndescription: d\ntags: \"a, b ,,\"\n---\n", "a", nil, func(d Document) bool { return slices.Equal(d.Tags, []string{"a", "b"}) }},
		{"K3 tags in a list", "---\nname: a\ndescription: d\ntags: [a, b]\n---\n", "a", nil, func(d Document) bool { return slices.Equal(d.Tags, []string{"a", "b"}) }},
		{"K6 hyphens", "---\nname: pdf-tools\ndescription: d\n---\n", "pdf-tools", nil, func(d Document) bool { return d.Name == "pdf-tools" }},
		{"off by itself", "---\nname: a\ndescription: d\nenabled: \"no\"\n---\n", "a", nil, func(d Document) bool { return d.Loaded && d.Off }},
		{"on in an unclear way", "---\nname: a\ndescription: d\nenabled: perhaps\n---\n", "a", []string{"field-type"}, func(d Document) bool { return d.Loaded && d.Off }},
		{"fields of the wrong kind", "---\nname: a\ndescription: d\nversion: [1]\ntags: {a: b}\nmetadata: text\n---\n", "a", []string{"field-type", "field-type", "field-type"},
			func(d Document) bool { return d.Loaded && d.Version == "" && d.Tags == nil && d.Metadata == nil }},
		{"no list of fields", "---\njust text\n---\n", "a", []string{"FRONTMATTER-FIELDS"}, nil},
		{"a field indented by mistake", "---\nname: a\n description: d\n---\n", "a", []string{"YAML"}, nil},
		{"beyond repair", "---\nname: a\ndescription: [x\nlicense: MIT\n---\n", "a", []string{"YAML"}, func(d Document) bool { return d.Diagnostics[0].Line == 3 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse([]byte(c.text), c.folder)
			if got := codes(d); !slices.Equal(got, c.codes) {
				t.Fatalf("codes %v, want %v\n%+v", got, c.codes, d.Diagnostics)
			}
			if failed := slices.ContainsFunc(c.codes, func(s string) bool { return s == strings.ToUpper(s) }); d.Loaded == failed {
				t.Errorf("loaded: %v", d.Loaded)
			}
			if c.check != nil && !c.check(d) {
				t.Errorf("read as %+v", d)
			}
			checkDocument(t, d)
		})
	}
}

// checkDocument holds what must be true of every document.
func checkDocument(t interface {
	Helper()
	Fatalf(string, ...any)
}, d Document) {
	t.Helper()
	if d.Name == "" || SafeName(d.Name) != d.Name || strings.ContainsAny(d.Name, "/\\. \x00") {
		t.Fatalf("the name %q cannot be used", d.Name)
	}
	if d.Loaded && d.Description == "" {
		t.Fatalf("loaded without a description")
	}
	if strings.ContainsAny(d.Description, "\n\r\t\x00\x1b\u202e") {
		t.Fatalf("the description %q is not on one visible line", d.Description)
	}
	if d.Repaired && d.AllowedTools != nil {
		t.Fatalf("repaired, and %v approved in advance", d.AllowedTools)
	}
	if !d.Loaded && !slices.ContainsFunc(d.Diagnostics, func(x sdk.FileDiagnostic) bool { return x.Severity == "error" }) {
		t.Fatalf("not loaded, and no reason given")
	}
	if d.Repaired && !slices.ContainsFunc(d.Diagnostics, func(x sdk.FileDiagnostic) bool { return x.Code == "repaired" }) {
		t.Fatalf("repaired, and nothing says so")
	}
	for _, x := range d.Diagnostics {
		if x.Line < 1 || x.Column < 1 || x.Code == "" || x.Message == "" || x.Help == "" {
			t.Fatalf("a diagnostic without a place or without help: %+v", x)
		}
	}
	if _, err := json.Marshal(d.Skill); err != nil {
		t.Fatalf("not to be shown as JSON: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		code         string
		line, column int
	}{
		{"a repaired value", "\ufeff\r\n---\r\nname: a\r\ndescription: x: y\r\n---\r\n", "repaired", 4, 14},
		{"the second of two keys", "---\nname: a\n\n# comment\nname: b\ndescription: d\n---\n", "duplicate-key", 5, 1},
		{"a name that is a list", "---\ndescription: d\nname: [x]\n---\n", "name-type", 3, 7},
		{"an element", "---\nname: a\ndescription: d\ntags:\n  - x\n  - {y: z}\n---\n", "field-type", 6, 5},
		{"a byte", "---\nname: ä\xff\n---\n", "encoding", 2, 8},
		{"a NUL", "a\nb\x00", "nul", 2, 2},
		{"a hidden character", "---\nname: a\ndescription: d\n---\n\nä\u200bx", "hidden-character", 6, 2},
		{"no YAML, deep inside", "---\nname: a\ndescription: d\nmetadata: {\n  a: b,\n  c: 'd\n---\n", "yaml", 6, 3},
		{"a fence that is not closed", "\n\n---\nname: a\n", "frontmatter-unclosed", 3, 1},
		{"no description", "\n---\nname: a\n---\n", "description-missing", 2, 1},
		{"an unknown field", "---\nname: a\ndescription: d\nuser-invokable: true\n---\nx\n", "field-unknown", 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := parse([]byte(c.text), "a", true)
			i := slices.IndexFunc(d.Diagnostics, func(x sdk.FileDiagnostic) bool { return x.Code == c.code })
			if i < 0 {
				t.Fatalf("no %s in %+v", c.code, d.Diagnostics)
			}
			if x := d.Diagnostics[i]; x.Line != c.line || x.Column != c.column {
				t.Errorf("at %d:%d, want %d:%d: %+v", x.Line, x.Column, c.line, c.column, x)
			}
		})
	}
}

// TestBounds has frontmatters that would cost much memory or much time.
func TestBounds(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		name, of := string(rune('b'+i)), string(rune('a'+i))
		bomb += name + ": &" + name + " [" + strings.Repeat("*"+of+",", 9) + "*" + of + "]\n"
	}
	for _, c := range []struct{ name, block, code string }{
		{"a bomb of aliases", bomb, "yaml-bounds"},
		{"an alias within itself", "x: &x [*x]\n", "yaml-bounds"},
		{"lists in lists", "x: " + strings.Repeat("[", 8000) + strings.Repeat("]", 8000) + "\n", "yaml-bounds"},
		{"lists that are not closed", "x: " + strings.Repeat("[", 16000) + "\n", "yaml"},
		{"maps in maps", "x: " + strings.Repeat("{a: ", 3000) + strings.Repeat("}", 3000) + "\n", "yaml-bounds"},
		{"questions", strings.Repeat("? ", 8000) + "\n", ""},
		{"many fields", strings.Repeat("a: 1\n", 3000), ""},
		{"huge numbers", "version: " + strings.Repeat("9", 9000) + "\nx: 1e999999999\ny: 0x" + strings.Repeat("f", 5000) + "\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse([]byte("---\nname: a\ndescription: d\n"+c.block+"---\n"), "a")
			checkDocument(t, d)
			if c.code != "" && (d.Loaded || !slices.ContainsFunc(d.Diagnostics, func(x sdk.FileDiagnostic) bool { return x.Code == c.code })) {
				t.Errorf("loaded %v, codes %v, want %s", d.Loaded, codes(d), c.code)
			}
		})
	}
}
