package skill

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// fieldReader coerces the fields of a frontmatter into a document. A value of an
// unexpected kind costs its field and never the skill, but name and description.
type fieldReader struct {
	*frontmatter.Fields
	doc    *Document
	folder string
	strict bool
}

func (r *fieldReader) read() {
	for _, name := range r.Twice {
		r.Warn("duplicate-key", r.Key(name), fmt.Sprintf("the field %s stands twice; the last one counts", frontmatter.Show(name)),
			"Remove one of them. Until then no tools are approved in advance.")
	}
	r.name()
	r.description()
	d := r.doc
	d.License = r.Text("license")
	d.Compatibility = r.Text("compatibility")
	d.Plugin = r.Text("plugin")
	d.Version = r.Text("version")
	d.ArgumentHint = r.hint("argument-hint")
	d.Tags = r.List("tags", func(text string) []string { return strings.Split(text, ",") })
	d.ToolsRequired = r.List("tools_required", frontmatter.SplitTools)
	allowed := r.List("allowed-tools", frontmatter.SplitTools)
	if !d.Repaired && len(r.Twice) == 0 {
		d.AllowedTools = allowed // what had to be guessed at approves nothing
	}
	d.PeopleOnly = r.Flag("disable-model-invocation", false, true)
	d.Off = !r.Flag("enabled", true, false)
	switch m := r.Value("metadata"); {
	case frontmatter.IsNull(m):
	case m.Kind != yaml.MappingNode:
		r.Mistyped("metadata", "a list of fields")
	default:
		d.Metadata, _ = frontmatter.Plain(m).(map[string]any)
		if d.Version == "" {
			for key, value := range frontmatter.Pairs(m) {
				if frontmatter.Follow(key).Value == "version" {
					d.Version = frontmatter.ScalarText(value)
				}
			}
		}
	}
	for name := range r.Names() {
		if !slices.Contains(ownFields, name) {
			if d.Extensions == nil {
				d.Extensions = map[string]any{}
			}
			d.Extensions[name] = frontmatter.Plain(r.Value(name))
		}
	}
	if r.strict {
		r.lint()
	}
}

// name is the name as it can be used; a missing one is the folder's.
func (r *fieldReader) name() {
	d, at := r.doc, r.Value("name")
	if at == nil {
		r.Warn("name-missing", nil, "there is no name; the folder's is taken: "+d.Name, "Add a line: name: "+d.Name)
		return
	}
	if at.Kind != yaml.ScalarNode {
		r.Fail("name-type", at, "the name is a "+frontmatter.KindOf(at)+" and not a text", "Write it as name: "+d.Name)
		return
	}
	written := r.Text("name")
	if written == "" {
		r.Fail("name-blank", at, "the name is blank", "Write one, such as name: "+d.Name)
		return
	}
	d.Name = SafeName(written)
	if d.Name != written {
		r.Warn("name-characters", at, fmt.Sprintf("the name %s is used as %s: names have up to %d lower-case letters, digits and single hyphens", frontmatter.Show(written), d.Name, MaxName),
			"Write it as name: "+d.Name)
	} else if r.strict && strings.ContainsFunc(d.Name, func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.Warn("name-characters", at, "the name has letters that other agents may not take", "Use a to z, 0 to 9 and hyphens.")
	}
	if own := SafeName(r.folder); r.strict && r.folder != "" && d.Name != own {
		r.Warn("name-folder", at, fmt.Sprintf("the name is %s and the folder's is %s", d.Name, frontmatter.Show(r.folder)), "Rename one of them, so that they are the same.")
	}
}

func (r *fieldReader) description() {
	switch at := r.Value("description"); {
	case at == nil:
		r.Fail("description-missing", nil, "there is no description", "Add a line description: that says what the skill does and when to use it.")
	case at.Kind != yaml.ScalarNode:
		r.Fail("description-type", at, "the description is a "+frontmatter.KindOf(at)+" and not a text", "Write it as text, in quotes when it holds a colon or brackets.")
	default:
		if r.doc.Description = r.Text("description"); r.doc.Description == "" {
			r.Fail("description-missing", at, "the description is blank", "Say what the skill does and when to use it.")
		}
	}
}

// hint is a text whose author may have put it in brackets.
func (r *fieldReader) hint(name string) string {
	if n := r.Value(name); n == nil || n.Kind != yaml.SequenceNode {
		return r.Text(name)
	}
	return "[" + strings.Join(r.List(name, nil), ", ") + "]"
}

// ownFields are the fields that are heeded.
var ownFields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools",
	"tools_required", "plugin", "enabled", "version", "tags", "argument-hint", "disable-model-invocation"}

// foreignFields are those of other agents, which are kept and shown.
var foreignFields = []string{"when_to_use", "arguments", "user-invocable", "model", "effort", "context", "agent", "hooks", "paths", "shell",
	"author", "origin", "requires", "dependencies", "category", "homepage", "repository", "source"}
