package markdown

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// permissions reads what other agents say of each tool: allow, ask or deny, also by a pattern
// of its arguments. What is denied the agent has not, asking makes its mode the one that asks,
// and allow gives nothing.
func (r *reader) permissions() {
	name, is := r.has("permission", "permissions")
	if !is {
		return
	}
	n := r.Value(name)
	if n.Kind == yaml.ScalarNode {
		r.permit(name, "*", n, n)
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Mistyped(name, "a list of fields")
		r.only(nil)
		return
	}
	had := r.file.Agent.Tools
	var allowed []string // where * is denied
	closed := false
	for key, value := range frontmatter.Pairs(n) {
		tool := frontmatter.ScalarText(frontmatter.Follow(key))
		switch word := r.permit(name, tool, key, value); {
		case tool == "*":
			closed = word == "deny"
		case word != "deny":
			allowed = append(allowed, meant(tool).tools...)
		}
	}
	if closed && had != nil { // what both have
		allowed = slices.DeleteFunc(allowed, func(t string) bool { return !slices.Contains(had, t) })
	}
	if closed {
		r.file.Agent.Tools = nil
		r.only(allowed)
	}
}

// permit reads what is said of one tool, and returns the word that holds for it.
func (r *reader) permit(name, tool string, key, value *yaml.Node) string {
	word := strings.ToLower(frontmatter.ScalarText(value))
	if value.Kind == yaml.MappingNode {
		word = r.patterns(name, tool, key, value)
	}
	switch word {
	case "allow", "true", "":
		return "allow"
	case "ask":
		r.asks(key, name+" "+frontmatter.Show(tool))
		return word
	case "deny", "false":
	default:
		r.Warn("field-value", value, fmt.Sprintf("%s of %s is neither allow nor ask nor deny; it is taken for deny", frontmatter.Show(tool), name), "Write one of them.")
	}
	r.deny(meant(tool))
	return "deny"
}

// patterns reads what is said of a tool by its arguments. Policy has rules for that, and a file
// has none: the strictest of the words holds for the whole tool, but for those that name the
// agents and the skills that it may use.
func (r *reader) patterns(name, tool string, key, value *yaml.Node) string {
	a := &r.file.Agent
	var allowed, words []string
	usual := "allow"
	for k, v := range frontmatter.Pairs(value) {
		of, word := frontmatter.ScalarText(frontmatter.Follow(k)), strings.ToLower(frontmatter.ScalarText(v))
		words = append(words, word)
		switch {
		case of == "*":
			usual = word
		case word == "allow" || word == "ask":
			allowed = append(allowed, of)
		}
	}
	switch {
	case tool == "task" || tool == "agent":
		for _, agent := range allowed {
			if agent = nameOf(agent); agent != "" && !slices.Contains(a.Agents, agent) {
				a.Agents = append(a.Agents, agent)
			}
		}
		return "allow"
	case tool == "skill":
		if usual == "deny" {
			a.Skills = append([]string{}, allowed...)
		}
		return "allow"
	case usual == "deny" && len(allowed) > 0:
		r.Warn("tool-pattern", key, fmt.Sprintf("%s of %s is allowed for some arguments alone, which a file cannot say: the agent has not got the tool", frontmatter.Show(tool), name), "Give an agent block the tool, and write rule blocks for it.")
	case usual == "deny":
	case slices.Contains(words, "deny"):
		r.Warn("tool-pattern", key, fmt.Sprintf("%s of %s is denied for some arguments, which a file cannot say: the agent asks about whatever changes something", frontmatter.Show(tool), name), "Write a rule block of the configuration that denies it.")
		return "ask"
	case slices.Contains(words, "ask"):
		return "ask"
	}
	return usual
}
