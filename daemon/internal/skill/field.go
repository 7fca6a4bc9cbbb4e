package skill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// fieldReader coerces the fields of a frontmatter into a document. A value of an
// unexpected kind costs its field and never the skill, but name and description.
type fieldReader struct {
	*frontmatter
	doc    *Document
	folder string
	fence  int // line of the opening fence; nodes are counted from behind it
	strict bool
}

func (r *fieldReader) read() {
	for _, name := range r.twice {
		r.warn("duplicate-key", r.fields[name].key, fmt.Sprintf("the field %s stands twice; the last one counts", show(name)),
			"Remove one of them. Until then no tools are approved in advance.")
	}
	r.name()
	r.description()
	d := r.doc
	d.License = r.text("license")
	d.Compatibility = r.text("compatibility")
	d.Plugin = r.text("plugin")
	d.Version = r.text("version")
	d.ArgumentHint = r.hint("argument-hint")
	d.Tags = r.list("tags", func(text string) []string { return strings.Split(text, ",") })
	d.ToolsRequired = r.list("tools_required", splitTools)
	allowed := r.list("allowed-tools", splitTools)
	if !d.Repaired && len(r.twice) == 0 {
		d.AllowedTools = allowed // what had to be guessed at approves nothing
	}
	d.PeopleOnly = r.flag("disable-model-invocation", false, true)
	d.Off = !r.flag("enabled", true, false)
	switch m := r.fields["metadata"].value; {
	case isNull(m):
	case m.Kind != yaml.MappingNode:
		r.mistyped("metadata", "a list of fields")
	default:
		d.Metadata, _ = plain(m).(map[string]any)
		if d.Version == "" {
			for name, x := range pairs(m) {
				if name == "version" {
					d.Version = scalarText(x.value)
				}
			}
		}
	}
	for name, f := range r.fields {
		if !slices.Contains(ownFields, name) {
			if d.Extensions == nil {
				d.Extensions = map[string]any{}
			}
			d.Extensions[name] = plain(f.value)
		}
	}
	if r.strict {
		r.lint()
	}
}

// warn and fail note a diagnostic at a node; without one it stands at the fence.
func (r *fieldReader) warn(code string, at *yaml.Node, message, help string) {
	line, column := r.place(at)
	r.doc.note(warning(code, line, column, message, help))
}

func (r *fieldReader) fail(code string, at *yaml.Node, message, help string) {
	line, column := r.place(at)
	r.doc.note(wrong(code, line, column, message, help))
}

func (r *fieldReader) place(at *yaml.Node) (line, column int) {
	if at == nil {
		return r.fence, 1
	}
	return r.fence + at.Line, at.Column
}

// name is the name as it can be used; a missing one is the folder's.
func (r *fieldReader) name() {
	d, at := r.doc, r.fields["name"].value
	if at == nil {
		r.warn("name-missing", nil, "there is no name; the folder's is taken: "+d.Name, "Add a line: name: "+d.Name)
		return
	}
	if at.Kind != yaml.ScalarNode {
		r.fail("name-type", at, "the name is a "+wordFor(at)+" and not a text", "Write it as name: "+d.Name)
		return
	}
	written := r.text("name")
	if written == "" {
		r.fail("name-blank", at, "the name is blank", "Write one, such as name: "+d.Name)
		return
	}
	d.Name = SafeName(written)
	if d.Name != written {
		r.warn("name-characters", at, fmt.Sprintf("the name %s is used as %s: names have up to %d lower-case letters, digits and single hyphens", show(written), d.Name, MaxName),
			"Write it as name: "+d.Name)
	} else if r.strict && strings.ContainsFunc(d.Name, func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.warn("name-characters", at, "the name has letters that other agents may not take", "Use a to z, 0 to 9 and hyphens.")
	}
	if own := SafeName(r.folder); r.strict && r.folder != "" && d.Name != own {
		r.warn("name-folder", at, fmt.Sprintf("the name is %s and the folder's is %s", d.Name, show(r.folder)), "Rename one of them, so that they are the same.")
	}
}

func (r *fieldReader) description() {
	switch at := r.fields["description"].value; {
	case at == nil:
		r.fail("description-missing", nil, "there is no description", "Add a line description: that says what the skill does and when to use it.")
	case at.Kind != yaml.ScalarNode:
		r.fail("description-type", at, "the description is a "+wordFor(at)+" and not a text", "Write it as text, in quotes when it holds a colon or brackets.")
	default:
		if r.doc.Description = r.text("description"); r.doc.Description == "" {
			r.fail("description-missing", at, "the description is blank", "Say what the skill does and when to use it.")
		}
	}
}

// text is a field that is a text, on one line.
func (r *fieldReader) text(name string) string {
	n := r.fields[name].value
	if n != nil && n.Kind != yaml.ScalarNode {
		r.mistyped(name, "a text")
	}
	return scalarText(n)
}

// hint is a text whose author may have put it in brackets.
func (r *fieldReader) hint(name string) string {
	if n := r.fields[name].value; n == nil || n.Kind != yaml.SequenceNode {
		return r.text(name)
	}
	return "[" + strings.Join(r.list(name, nil), ", ") + "]"
}

// list is a field that is a list, or a text to be split. Of equal elements the
// first counts.
func (r *fieldReader) list(name string, split func(string) []string) (out []string) {
	add := func(text string) {
		if text = visible(text); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	switch n := r.fields[name].value; {
	case n != nil && n.Kind == yaml.MappingNode:
		r.mistyped(name, "a list")
	case n != nil && n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			if c = follow(c); c.Kind != yaml.ScalarNode {
				r.warn("field-type", c, fmt.Sprintf("an element of %s is no text; it is left out", name), "Write it as text.")
			}
			add(scalarText(c))
		}
	default:
		for _, text := range split(r.text(name)) {
			add(text)
		}
	}
	return out
}

// splitTools splits a text of tool names at commas and white space, but not
// within parentheses: "Bash(git:*, jq:*) Read" has two.
func splitTools(text string) (out []string) {
	depth, start := 0, 0
	take := func(end int) {
		if start < end {
			out = append(out, text[start:end])
		}
		start = end + 1
	}
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ' '):
			take(i)
		}
	}
	take(len(text))
	return out
}

// flag is a field that says yes or no, in any of the words for it. What is
// neither counts as unclear, which is the safe side.
func (r *fieldReader) flag(name string, missing, unclear bool) bool {
	n := r.fields[name].value
	if isNull(n) {
		return missing
	}
	switch strings.ToLower(scalarText(n)) {
	case "true", "yes", "on", "1", "y":
		return true
	case "false", "no", "off", "0", "n":
		return false
	}
	r.warn("field-type", n, fmt.Sprintf("%s is neither true nor false; it is taken for %s", name, strconv.FormatBool(unclear)), "Write true or false.")
	return unclear
}

func (r *fieldReader) mistyped(name, want string) {
	at := r.fields[name].value
	r.warn("field-type", at, fmt.Sprintf("%s is a %s and not %s; it is not heeded", name, wordFor(at), want), "Write it as "+want+".")
}

// ownFields are the fields that are heeded.
var ownFields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools",
	"tools_required", "plugin", "enabled", "version", "tags", "argument-hint", "disable-model-invocation"}

// foreignFields are those of other agents, which are kept and shown.
var foreignFields = []string{"when_to_use", "arguments", "user-invocable", "model", "effort", "context", "agent", "hooks", "paths", "shell",
	"author", "origin", "requires", "dependencies", "category", "homepage", "repository", "source"}

// wordFor names what a value is, for people.
func wordFor(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "list of fields"
	case yaml.SequenceNode:
		return "list"
	}
	return "text"
}

// show is a text of somebody else in a message: quoted, and not long.
func show(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "..."
	}
	return strconv.Quote(s)
}
