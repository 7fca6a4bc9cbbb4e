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
	doc    *Document
	folder string
	fence  int // line of the opening fence; the parser counts from behind it
	strict bool
	fields map[string]field
}

// field is one field of the frontmatter.
type field struct {
	key, node *yaml.Node
}

func (r *fieldReader) read(root *yaml.Node) {
	r.fields = map[string]field{}
	if root != nil {
		r.index(root)
	}
	r.name()
	r.description()
	d := r.doc
	d.Version = r.text("version")
	d.License = r.text("license")
	d.Compatibility = r.text("compatibility")
	d.Plugin = r.text("plugin")
	d.ArgumentHint = r.hint("argument-hint")
	d.Tags = r.list("tags", splitCommas)
	d.ToolsRequired = r.list("tools_required", splitTools)
	allowed := r.list("allowed-tools", splitTools)
	if !d.Repaired && !r.twice() {
		d.AllowedTools = allowed // what had to be guessed at approves nothing
	}
	d.PeopleOnly = r.flag("disable-model-invocation", false, true)
	d.Off = !r.flag("enabled", true, false)
	r.metadata()
	r.extensions()
	if r.strict {
		r.lint()
	}
}

// index sorts the fields by name; of a name that stands twice the last counts.
func (r *fieldReader) index(root *yaml.Node) {
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, node := root.Content[i], root.Content[i+1]
		name := scalarText(key)
		if first, ok := seen[name]; ok {
			r.warn("duplicate-key", key, fmt.Sprintf("the field %s stands twice, first in line %d; the last one counts", show(name), r.fence+first.Line),
				"Remove one of them. Until then no tools are approved in advance.")
		} else {
			seen[name] = key
		}
		r.fields[name] = field{key: key, node: follow(node)}
	}
}

func (r *fieldReader) twice() bool {
	return slices.ContainsFunc(r.doc.Diagnostics, func(x diagnostic) bool { return x.Code == "duplicate-key" })
}

func (r *fieldReader) warn(code string, at *yaml.Node, message, help string) {
	r.doc.note(warning(code, r.fence+at.Line, at.Column, message, help))
}

func (r *fieldReader) fail(code string, at *yaml.Node, message, help string) {
	r.doc.note(wrong(code, r.fence+at.Line, at.Column, message, help))
}

// name is the name as it can be used; a missing one is the folder's.
func (r *fieldReader) name() {
	d := r.doc
	f, ok := r.fields["name"]
	switch {
	case !ok:
		d.note(warning("name-missing", r.fence, 1, "there is no name; the folder's is taken: "+d.Name, "Add a line: name: "+d.Name))
		return
	case f.node.Kind != yaml.ScalarNode:
		r.fail("name-type", f.node, "the name is a "+wordFor(f.node)+" and not a text", "Write it as name: "+d.Name)
		return
	}
	written := visible(f.node.Value)
	if isNull(f.node) || written == "" {
		r.fail("name-blank", f.node, "the name is blank", "Write one, such as name: "+d.Name)
		return
	}
	d.Name = SafeName(written)
	if d.Name != written {
		r.warn("name-characters", f.node, fmt.Sprintf("the name %s is used as %s: names have up to %d lower-case letters, digits and single hyphens", show(written), d.Name, MaxName),
			"Write it as name: "+d.Name)
	} else if r.strict && strings.ContainsFunc(d.Name, func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.warn("name-characters", f.node, "the name has letters that other agents may not take", "Use a to z, 0 to 9 and hyphens.")
	}
	if own := SafeName(r.folder); r.strict && r.folder != "" && d.Name != own {
		r.warn("name-folder", f.node, fmt.Sprintf("the name is %s and the folder's is %s", d.Name, show(r.folder)), "Rename one of them, so that they are the same.")
	}
}

func (r *fieldReader) description() {
	d := r.doc
	f, ok := r.fields["description"]
	if !ok {
		d.note(wrong("description-missing", r.fence, 1, "there is no description", "Add a line description: that says what the skill does and when to use it."))
		return
	}
	if f.node.Kind != yaml.ScalarNode {
		r.fail("description-type", f.node, "the description is a "+wordFor(f.node)+" and not a text", "Write it as text, in quotes when it holds a colon or brackets.")
		return
	}
	if d.Description = visible(f.node.Value); isNull(f.node) || d.Description == "" {
		d.Description = ""
		r.fail("description-missing", f.node, "the description is blank", "Say what the skill does and when to use it.")
	}
}

// text is a field that is a text, as it was written: 1.0 stays 1.0.
func (r *fieldReader) text(name string) string {
	f, ok := r.fields[name]
	if !ok || isNull(f.node) {
		return ""
	}
	if f.node.Kind != yaml.ScalarNode {
		r.mistyped(f, name, "a text")
		return ""
	}
	return visible(f.node.Value)
}

// hint is a text whose author may have put it in brackets.
func (r *fieldReader) hint(name string) string {
	f, ok := r.fields[name]
	if !ok || f.node.Kind != yaml.SequenceNode {
		return r.text(name)
	}
	var parts []string
	for _, n := range f.node.Content {
		if s := visible(scalarText(n)); s != "" {
			parts = append(parts, s)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// list is a field that is a list, or a text to be split.
func (r *fieldReader) list(name string, split func(string) []string) []string {
	f, ok := r.fields[name]
	if !ok || isNull(f.node) {
		return nil
	}
	var out []string
	switch f.node.Kind {
	case yaml.ScalarNode:
		out = split(visible(f.node.Value))
	case yaml.SequenceNode:
		for _, n := range f.node.Content {
			if n = follow(n); n.Kind != yaml.ScalarNode {
				r.warn("field-type", n, fmt.Sprintf("an element of %s is a %s and not a text; it is left out", name, wordFor(n)), "Write it as text.")
			} else if s := visible(n.Value); s != "" && !isNull(n) {
				out = append(out, s)
			}
		}
	default:
		r.mistyped(f, name, "a list")
	}
	return unique(out)
}

// flag is a field that says yes or no, in any of the words for it. What is
// neither counts as unclear, which is the safe side.
func (r *fieldReader) flag(name string, missing, unclear bool) bool {
	f, ok := r.fields[name]
	if !ok || isNull(f.node) {
		return missing
	}
	switch strings.ToLower(visible(scalarText(f.node))) {
	case "true", "yes", "on", "1", "y":
		return true
	case "false", "no", "off", "0", "n":
		return false
	}
	r.warn("field-type", f.node, fmt.Sprintf("%s is neither true nor false; it is taken for %s", name, strconv.FormatBool(unclear)), "Write true or false.")
	return unclear
}

func (r *fieldReader) mistyped(f field, name, want string) {
	r.warn("field-type", f.node, fmt.Sprintf("%s is a %s and not %s; it is not heeded", name, wordFor(f.node), want), "Write it as "+want+".")
}

// metadata is a map of anything; a version in it counts when there is no other.
func (r *fieldReader) metadata() {
	f, ok := r.fields["metadata"]
	if !ok || isNull(f.node) {
		return
	}
	m, ok := plainNode(f.node).(map[string]any)
	if !ok {
		r.mistyped(f, "metadata", "a list of fields")
		return
	}
	r.doc.Metadata = m
	if r.doc.Version != "" || f.node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		if scalarText(f.node.Content[i]) == "version" {
			r.doc.Version = visible(scalarText(f.node.Content[i+1]))
		}
	}
}

// extensions keeps every field that is not ours.
func (r *fieldReader) extensions() {
	for name, f := range r.fields {
		if _, ours := ownFields[name]; ours {
			continue
		}
		if r.doc.Extensions == nil {
			r.doc.Extensions = map[string]any{}
		}
		r.doc.Extensions[name] = plainNode(f.node)
	}
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
func wordFor(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "list of fields"
	case yaml.SequenceNode:
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
