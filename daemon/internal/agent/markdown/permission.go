package markdown

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// permissions reads what other agents say of each tool: allow, ask or deny, also by a pattern
// of its arguments. What is denied the agent has not, asking makes its mode the one that asks,
// and allow gives nothing.
func (r *reader) permissions() {
	for _, spelling := range []string{"permission", "permissions"} {
		if name, is := r.has(spelling); is {
			r.permitted(name)
		}
	}
}

// permitted reads one field of permissions.
func (r *reader) permitted(name string) {
	n := r.Value(name)
	if n.Kind == yaml.ScalarNode {
		r.permit(name, "*", n, n)
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Mistyped(name, "a list of fields")
		r.none()
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
	var word string
	if value.Kind == yaml.MappingNode {
		word = r.patterns(name, tool, key, value)
	} else {
		word = r.word(name, tool, value)
	}
	switch word {
	case "ask":
		r.asks(key, name+" "+frontmatter.Show(tool))
	case "deny":
		r.deny(meant(tool))
	}
	return word
}

// word is what is said of a tool, or of some of its arguments: allow, ask or deny, for which all is taken that is
// none of them.
func (r *reader) word(name, of string, value *yaml.Node) string {
	word := strings.ToLower(frontmatter.ScalarText(value))
	switch {
	case value.Kind != yaml.ScalarNode:
	case word == "allow" || word == "true" || word == "":
		return "allow"
	case word == "ask":
		return word
	case word == "deny" || word == "false":
		return "deny"
	}
	r.Warn("field-value", value, fmt.Sprintf("%s of %s is neither allow nor ask nor deny; it is taken for deny", frontmatter.Show(of), name), "Write one of them.")
	return "deny"
}

// patterns reads what is said of a tool by its arguments. Policy has rules for that, and a file
// has none: the strictest of the words holds for the whole tool, but for those that name the
// agents and the skills that it may use.
func (r *reader) patterns(name, tool string, key, value *yaml.Node) string {
	a := &r.file.Agent
	allowed, denied := []string{}, []string{}
	usual, asks := "allow", false
	for k, v := range frontmatter.Pairs(value) {
		of := frontmatter.ScalarText(frontmatter.Follow(k))
		word := r.word(name, of, v)
		asks = asks || word == "ask"
		switch {
		case of == "*":
			usual = word
		case word == "deny":
			denied = append(denied, of)
		default:
			allowed = append(allowed, of)
		}
	}
	switch {
	case tool == "task" || tool == "agent":
		r.delegates(allowed, denied, usual == "deny")
		return "allow"
	case tool == "skill":
		if usual == "deny" || len(denied) > 0 {
			a.Skills = allowed
		}
		return "allow"
	case usual == "deny" && len(allowed) > 0:
		r.Warn("tool-pattern", key, fmt.Sprintf("%s of %s is allowed for some arguments alone, which a file cannot say: the agent has not got the tool", frontmatter.Show(tool), name), "Give an agent block the tool, and write rule blocks for it.")
	case usual == "deny":
	case len(denied) > 0:
		r.Warn("tool-pattern", key, fmt.Sprintf("%s of %s is denied for some arguments, which a file cannot say: the agent asks about whatever changes something", frontmatter.Show(tool), name), "Write a rule block of the configuration that denies it.")
		return "ask"
	case asks:
		return "ask"
	}
	return usual
}

// delegates takes agents by name as those that it may delegate to, others as those that it may not, and where nothing
// else is allowed no others.
func (r *reader) delegates(allowed, denied []string, only bool) {
	a := &r.file.Agent
	for i, agent := range allowed {
		if allowed[i] = nameOf(agent); allowed[i] != "" && !slices.Contains(a.Agents, allowed[i]) {
			a.Agents = append(a.Agents, allowed[i])
		}
	}
	before := r.barred
	r.barred = func(agent string) bool {
		return before != nil && before(agent) || only && !slices.Contains(allowed, agent) || slices.ContainsFunc(denied, func(glob string) bool {
			ok, err := path.Match(glob, agent)
			return ok || err != nil
		})
	}
}
