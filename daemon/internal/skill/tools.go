package skill

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// aliases are the names that other agents have for what our tools do, in lower
// case.
var aliases = map[string][]string{
	"bash":         {"bash"},
	"shell":        {"bash"},
	"execute":      {"bash"},
	"terminal":     {"bash"},
	"read":         {"read_file"},
	"view":         {"read_file"},
	"notebookread": {"read_file"},
	"write":        {"write_file", "create_directory"},
	"edit":         {"edit_file"},
	"multiedit":    {"edit_file"},
	"notebookedit": {"edit_file"},
	"glob":         {"find_files"},
	"grep":         {"grep"},
	"search":       {"grep"},
	"ls":           {"list_files"},
	"list":         {"list_files"},
	"skill":        {"use_skill"},
}

// ourTools are the tools that come with Bothy.
var ourTools = set("bash", "read_file", "list_files", "find_files", "grep", "diff_files", "write_file", "edit_file",
	"create_directory", "delete_path", "move_path", "copy_path", "use_skill", "finish_task")

// foreignTools are tools of other agents for which there is none of ours. They
// are no spelling mistakes.
var foreignTools = set("agent", "task", "webfetch", "websearch", "todowrite", "todoread", "askuserquestion", "killshell", "bashoutput",
	"exitplanmode", "enterplanmode", "slashcommand", "taskcreate", "taskupdate", "taskget", "tasklist", "toolsearch", "sendmessage", "lsp")

// Tools are the names of our tools for an element of allowed-tools or
// tools_required: Bash(git:*) is bash, Read is read_file, mcp__server__tool and
// plugin__tool are themselves. What no tool is known for has none.
func Tools(element string) []string {
	name, _, _ := strings.Cut(element, "(")
	name = strings.TrimSpace(name)
	if _, ours := ourTools[name]; ours {
		return []string{name}
	}
	if strings.Contains(name, "__") {
		return []string{name}
	}
	return aliases[strings.ToLower(name)]
}

// Missing are the names of tools_required for which nothing is offered, by
// whichever agent's name they are called.
func Missing(required []string, offered []sdk.Tool) []string {
	var missing []string
	for _, element := range required {
		bare, _, _ := strings.Cut(element, "(")
		names := append(Tools(element), strings.TrimSpace(bare))
		if !slices.ContainsFunc(offered, func(t sdk.Tool) bool {
			return slices.Contains(names, t.Name) || slices.Contains(names, t.Plugin+"__"+t.Name)
		}) {
			missing = append(missing, element)
		}
	}
	return missing
}

// splitTools splits a text of tool names at commas and white space, but not
// within parentheses: "Bash(git:*, jq:*) Read" has two.
func splitTools(text string) []string {
	var out []string
	depth, start := 0, 0
	take := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
	}
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n'):
			take(i)
			start = i + 1
		}
	}
	take(len(text))
	return out
}

// splitCommas splits a text at commas and drops what is empty.
func splitCommas(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
