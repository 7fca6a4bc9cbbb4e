package markdown

import (
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/misnamed"
	"github.com/bothyd/bothy/sdk"
)

// noTool stands in the list of an agent that is to have no tool: no tool has this name, and
// an empty list is all of them.
const noTool = "!none"

var (
	looking  = []string{"read_file", "list_files", "find_files", "grep", "diff_files"}
	changing = []string{"write_file", "edit_file", "create_directory", "delete_path", "move_path", "copy_path"}
	moving   = changing[2:] // of which others have none: who is to change no file has them neither
)

// sets are the words of other agents that stand for several tools, as they write them: the
// tool Edit edits, and edit is all that changes a file.
var sets = map[string][]string{
	"search": looking[1:4], "edit": changing, "read-only": looking, "readonly": looking,
	"execute": {"bash"}, "runCommands": {"bash"}, "editFiles": changing, "files": slices.Concat(looking, changing),
	"mcp": {sdk.MCPPrefix + "*"},
}

// editorSets are the first parts of names such as search/codebase, which say nothing of a server.
var editorSets = []string{"vscode", "execute", "read", "edit", "search", "web", "agent", "todo", "browser", "editor"}

// meaning is what an element of a list of tools stands for here.
type meaning struct {
	tools   []string // names and globs over them
	all     bool
	agents  []string // that it may delegate to, by the tool of another agent that does that
	calls   bool     // it is that tool
	pattern string   // what it asks for of the arguments
	foreign bool     // a tool of another agent, for which there is none
	unknown bool     // nobody knows it: it may be a plugin's
	garbled bool     // it is neither a name nor a glob
}

func meant(element string) (m meaning) {
	bare, inside, has := strings.Cut(element, "(")
	bare = strings.TrimSpace(bare)
	if has {
		m.pattern = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inside), ")"))
	}
	bare = slashed(strings.TrimPrefix(bare, "#"))
	switch word := strings.ToLower(bare); {
	case word == "*" || word == "all":
		m.all = true
		return m
	case word == "task" || word == "agent" || word == "runsubagent":
		m.calls = true
		for _, name := range commas(m.pattern) {
			if name = nameOf(name); name != "" {
				m.agents = append(m.agents, name)
			}
		}
		return m
	}
	if m.tools = sets[bare]; m.tools != nil {
		return m
	}
	if server, is := strings.CutPrefix(bare, sdk.MCPPrefix); is && server != "" && !strings.ContainsAny(server, "*?[") && !strings.Contains(server, "__") {
		bare += "__*" // all of one server
	}
	here, foreign := misnamed.Here(bare)
	if here == "" {
		m.foreign, m.unknown = foreign, !foreign
		here = bare
	}
	if _, err := path.Match(here, ""); err != nil || here == "" {
		m.garbled = true
	} else if !m.foreign {
		m.tools = []string{here}
	}
	return m
}

// slashed reads a name such as github/* or search/codebase: a server of MCP and its tool, or
// a set of an editor's and one of it.
func slashed(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) < 2 {
		return name
	}
	server, tool := parts[len(parts)-2], parts[len(parts)-1]
	switch {
	case !slices.Contains(editorSets, strings.ToLower(server)):
		return sdk.MCPPrefix + nameOf(server) + "__" + tool
	case tool == "*" || tool == "":
		return server
	}
	return tool
}

// withheld are the tools that are gone where some are denied. Who may not edit files, or not
// write them, may not do by another tool what others have no tool for.
func withheld(m meaning) (names []string) {
	if slices.ContainsFunc(m.tools, func(t string) bool { return slices.Contains(changing, t) }) {
		return slices.Concat(m.tools, moving)
	}
	return m.tools
}
