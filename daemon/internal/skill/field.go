package skill

import (
	"fmt"
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
		r.warn("duplicate-key", r.key(name), fmt.Sprintf("the field %s stands twice; the last one counts", show(name)),
			"Remove one of them. Until then no tools are approved in advance.")
	}
	r.name()
	r.description()
	d := r.doc
	d.License = r.text("license")
	d.Compatibility = r.text("compatibility")
	d.Plugin = r.text("plugin")
	d.ArgumentHint = r.hint("argument-hint")
	d.Tags = r.list("tags", splitCommas)
	d.ToolsRequired = r.list("tools_required", splitTools)
	allowed := r.list("allowed-tools", splitTools)
	if !d.Repaired && len(r.twice) == 0 {
		d.AllowedTools = allowed // what had to be guessed at approves nothing
	}
	d.PeopleOnly = r.flag("disable-model-invocation", false, true)
	d.Off = !r.flag("enabled", true, false)
	switch m := r.values["metadata"].(type) {
	case nil:
	case map[string]any:
		d.Metadata = m
	default:
		r.mistyped("metadata", "a list of fields")
	}
	if d.Version = r.text("version"); d.Version == "" && d.Metadata["version"] != nil {
		d.Version = r.written(d.Metadata["version"], r.within("metadata", "version"))
	}
	for name, v := range r.values {
		if _, ours := ownFields[name]; !ours {
			if d.Extensions == nil {
				d.Extensions = map[string]any{}
			}
			d.Extensions[name] = v
		}
	}
	if r.strict {
		r.lint()
	}
}

func (r *fieldReader) key(name string) *yaml.Node   { key, _ := r.node(name); return key }
func (r *fieldReader) value(name string) *yaml.Node { _, value := r.node(name); return value }

// within is a value in a field that is a list of fields.
func (r *fieldReader) within(field, name string) (value *yaml.Node) {
	if n := r.value(field); n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if scalarText(n.Content[i]) == name {
				value = n.Content[i+1]
			}
		}
	}
	return value
}

func (r *fieldReader) warn(code string, at *yaml.Node, message, help string) {
	line, column := r.place(at)
	r.doc.note(warning(code, line, column, message, help))
}

func (r *fieldReader) fail(code string, at *yaml.Node, message, help string) {
	line, column := r.place(at)
	r.doc.note(wrong(code, line, column, message, help))
}

// place is where a node stands in the file; what has none stands at the fence.
func (r *fieldReader) place(at *yaml.Node) (line, column int) {
	if at == nil {
		return r.fence, 1
	}
	return r.fence + at.Line, at.Column
}

// written is a scalar as it was written, on one line: 1.0 stays 1.0. at is its
// node; others have none.
func (r *fieldReader) written(v any, at *yaml.Node) string {
	if text, ok := v.(string); ok {
		return visible(text)
	}
	return visible(scalarText(at))
}

// name is the name as it can be used; a missing one is the folder's.
func (r *fieldReader) name() {
	d := r.doc
	v, ok := r.values["name"]
	if !ok {
		d.note(warning("name-missing", r.fence, 1, "there is no name; the folder's is taken: "+d.Name, "Add a line: name: "+d.Name))
		return
	}
	if word := wordFor(v); word != "text" {
		r.fail("name-type", r.value("name"), "the name is a "+word+" and not a text", "Write it as name: "+d.Name)
		return
	}
	written := r.text("name")
	if written == "" {
		r.fail("name-blank", r.value("name"), "the name is blank", "Write one, such as name: "+d.Name)
		return
	}
	d.Name = SafeName(written)
	if d.Name != written {
		r.warn("name-characters", r.value("name"), fmt.Sprintf("the name %s is used as %s: names have up to %d lower-case letters, digits and single hyphens", show(written), d.Name, MaxName),
			"Write it as name: "+d.Name)
	} else if r.strict && strings.ContainsFunc(d.Name, func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.warn("name-characters", r.value("name"), "the name has letters that other agents may not take", "Use a to z, 0 to 9 and hyphens.")
	}
	if own := SafeName(r.folder); r.strict && r.folder != "" && d.Name != own {
		r.warn("name-folder", r.value("name"), fmt.Sprintf("the name is %s and the folder's is %s", d.Name, show(r.folder)), "Rename one of them, so that they are the same.")
	}
}

func (r *fieldReader) description() {
	v, ok := r.values["description"]
	if !ok {
		r.doc.note(wrong("description-missing", r.fence, 1, "there is no description", "Add a line description: that says what the skill does and when to use it."))
		return
	}
	if word := wordFor(v); word != "text" {
		r.fail("description-type", r.value("description"), "the description is a "+word+" and not a text", "Write it as text, in quotes when it holds a colon or brackets.")
		return
	}
	if r.doc.Description = r.text("description"); r.doc.Description == "" {
		r.fail("description-missing", r.value("description"), "the description is blank", "Say what the skill does and when to use it.")
	}
}

// text is a field that is a text.
func (r *fieldReader) text(name string) string {
	switch v := r.values[name].(type) {
	case nil:
		return ""
	case string:
		return visible(v)
	case []any, map[string]any:
		r.mistyped(name, "a text")
		return ""
	}
	return r.written(nil, r.value(name))
}

// elements are those of a list as texts, and for each that is none its node.
func (r *fieldReader) elements(name string, list []any) (texts []string, others []*yaml.Node) {
	for i, v := range list {
		text, is := v.(string)
		if !is && v != nil { // the node knows how it was written
			n := r.value(name)
			if n == nil || i >= len(n.Content) {
				continue
			}
			if n = follow(n.Content[i]); n.Kind != yaml.ScalarNode {
				others = append(others, n)
				continue
			}
			text = n.Value
		}
		if text = visible(text); text != "" {
			texts = append(texts, text)
		}
	}
	return texts, others
}

// hint is a text whose author may have put it in brackets.
func (r *fieldReader) hint(name string) string {
	list, ok := r.values[name].([]any)
	if !ok {
		return r.text(name)
	}
	parts, _ := r.elements(name, list)
	return "[" + strings.Join(parts, ", ") + "]"
}

// list is a field that is a list, or a text to be split.
func (r *fieldReader) list(name string, split func(string) []string) []string {
	var out []string
	switch v := r.values[name].(type) {
	case []any:
		var others []*yaml.Node
		out, others = r.elements(name, v)
		for _, n := range others {
			r.warn("field-type", n, fmt.Sprintf("an element of %s is no text; it is left out", name), "Write it as text.")
		}
	case map[string]any:
		r.mistyped(name, "a list")
	default:
		out = split(r.text(name))
	}
	return unique(out)
}

// flag is a field that says yes or no, in any of the words for it. What is
// neither counts as unclear, which is the safe side.
func (r *fieldReader) flag(name string, missing, unclear bool) bool {
	v := r.values[name]
	if v == nil {
		return missing
	}
	switch strings.ToLower(visible(fmt.Sprint(v))) {
	case "true", "yes", "on", "1", "y":
		return true
	case "false", "no", "off", "0", "n":
		return false
	}
	r.warn("field-type", r.value(name), fmt.Sprintf("%s is neither true nor false; it is taken for %s", name, strconv.FormatBool(unclear)), "Write true or false.")
	return unclear
}

func (r *fieldReader) mistyped(name, want string) {
	r.warn("field-type", r.value(name), fmt.Sprintf("%s is a %s and not %s; it is not heeded", name, wordFor(r.values[name]), want), "Write it as "+want+".")
}

// ownFields are the fields that are heeded.
var ownFields = set("name", "description", "license", "compatibility", "metadata", "allowed-tools",
	"tools_required", "plugin", "enabled", "version", "tags", "argument-hint", "disable-model-invocation")

// foreignFields are those of other agents, which are kept and shown.
var foreignFields = set("when_to_use", "arguments", "user-invocable", "model", "effort", "context", "agent", "hooks", "paths", "shell",
	"author", "origin", "requires", "dependencies", "category", "homepage", "repository", "source")

func set(names ...string) map[string]struct{} {
	m := make(map[string]struct{}, len(names))
	for _, n := range names {
		m[n] = struct{}{}
	}
	return m
}

// wordFor names what a value is, for people.
func wordFor(v any) string {
	switch v.(type) {
	case map[string]any:
		return "list of fields"
	case []any:
		return "list"
	}
	return "text"
}

// unique keeps the first of equal texts.
func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// show is a text of somebody else in a message: quoted, and not long.
func show(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "..."
	}
	return strconv.Quote(s)
}
