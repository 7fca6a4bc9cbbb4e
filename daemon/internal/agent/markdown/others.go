package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

// kept are fields of other agents that change nothing of what the agent may do.
var kept = []string{"color", "colour", "icon", "emoji", "vibe", "title", "display_name", "displayName", "version", "author", "license", "category", "tags", "metadata",
	"target", "infer", "hidden", "handoffs", "argument-hint", "user-invocable", "user-invokable", "background", "is_background", "isolation", "memory", "initialPrompt",
	"top_p", "topP", "variant", "fallback_models", "options", "examples", "date", "updated", "created", "source", "priority", "services", "tool_settings", "kind"}

// holding are fields by which another agent holds its own back, and this one does not.
var holding = map[string]string{
	"hooks":                    "what its hooks would keep from happening is for policy and for plugins' hooks here",
	"disable-model-invocation": "whoever may delegate to the agent still may",
	"writes":                   "which paths a child may change is said when it is delegated to",
	"deny":                     "what is denied stands in policy",
	"sandbox":                  "the sandbox is the configuration's",
}

// ownFields are those that are read.
var ownFields = []string{"name", "description", "capabilities", "model", "tools", "disallowedTools", "permission", "mode", "permissionMode", "network", "mcp", "skills", "agents",
	"reasoning", "temperature", "max_tokens", "max_turns", "max_cost", "deadline", "finish", "disable", "enabled"}

// configured are attributes of an agent's block that a file cannot give.
var configured = []string{"inherits", "persona", "prompt", "view", "dialect", "busy", "without_view", "messages"}

// others looks at the fields that nothing has read.
func (r *reader) others() {
	for name := range r.Names() {
		switch why, holds := holding[name]; {
		case slices.Contains(r.used, name), slices.Contains(kept, name) && !(name == "kind" && r.Text(name) == "remote"):
		case name == "kind":
			r.Fail("agent-remote", r.Value(name), "the agent runs elsewhere, and there is nothing here that calls it", "Have an MCP server or a plugin call it.")
		case holds:
			r.Warn("field-unheeded", r.Key(name), fmt.Sprintf("the field %s is not heeded: %s", name, why), "Leave it out once you have seen to that.")
		case slices.Contains(configured, name):
			r.Warn("field-unheeded", r.Key(name), fmt.Sprintf("%s cannot be given by a file; the persona is the text below the fields", name), "Give an agent block of your configuration what only that can say.")
		default:
			help := "Leave it out, or put it below metadata:."
			known := slices.Concat(ownFields, kept)
			if similar := sdk.Nearest(name, known, flat); flat(similar) == flat(name) || sdk.EditDistance(flat(similar), flat(name)) == 1 && len(name) > 4 {
				help = "Did you mean " + similar + "?"
			}
			r.Warn("field-unknown", r.Key(name), fmt.Sprintf("the field %s is not known, and not heeded", frontmatter.Show(name)), help)
		}
	}
}

// flat is a name of a field as its spellings are compared.
func flat(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}
