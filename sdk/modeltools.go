package sdk

import "slices"

// The tools of a model that no other constant names.
const (
	ToolSearch = "search" // SearchTool by another name
	ToolSkill  = "skill"
	ToolThink  = "think"
)

// modelTools is the list of ModelTools.
var modelTools = []string{
	string(VerbGet), ToolSearch, ToolSkill, // gather
	ToolThink,                                                                                // reason
	string(VerbSet), string(VerbRemove), string(VerbMove), string(VerbCopy), ToolEnv, ToolSh, // act
	ToolAskUser, string(VerbUpdate), // communicate
}

// ModelTools are the names of the twelve tools of a model that is taught them (Agent.Taught), in the order in which it meets
// them: gather, reason, act, communicate.
func ModelTools() []string { return slices.Clone(modelTools) }

// IsModelTool reports whether a name is that of one of ModelTools.
func IsModelTool(name string) bool { return slices.Contains(modelTools, name) }

// standFor are tools of plugins, with those of ModelTools by which a model does the same.
var standFor = map[string]string{
	"read_file": "get", "list_files": "get", "find_files": "get", "grep": "get", "write_file": "set", "edit_file": "set",
	"delete_path": "rm", "move_path": "mv", "copy_path": "cp", "bash": "sh", "use_skill": ToolSkill, SearchTool: ToolSearch,
}

// StoodFor are the names of the tools of plugins, sorted, that have one of ModelTools by which a model does the same, among those of
// some names.
func StoodFor(names []string) (tools []string) {
	for tool, by := range standFor {
		if slices.Contains(names, by) {
			tools = append(tools, tool)
		}
	}
	slices.Sort(tools)
	return tools
}

// Taught reports whether the agent's model is taught its tools in the system text, since it writes calls as tags or
// has entries as a packet: it has ModelTools then, and of plugins what it names.
func (a Agent) Taught() bool { return a.Dialect == DialectTags || a.View == ViewPacket }

// Has are the globs over all that the agent has: its Tools, and where its model is taught them a list of names. Those of ModelTools that
// it names, by a glob too, are all that it has of them then; without any, and with *, it has the twelve. What changes nothing but what is
// said of the work it always has.
func (a Agent) Has() []string {
	if !a.Taught() {
		return a.Tools
	}
	globs := a.Tools
	names := func(name string) bool { return anyMatches(globs, name) || anyMatches(globs, OwnPlugin+"__"+name) }
	all := !slices.ContainsFunc(modelTools, names) || slices.Contains(globs, "*")
	named := make([]string, 0, len(modelTools)+len(globs))
	for _, name := range modelTools {
		if all || name == ToolThink || name == string(VerbUpdate) || names(name) {
			named = append(named, name)
		}
	}
	for _, glob := range globs {
		if glob != "*" && !slices.Contains(named, glob) {
			named = append(named, glob)
		}
	}
	return named
}

// OwnTools are those of ModelTools that an agent, as a run has it (In), has of the daemon itself, whatever plugins there are. Of one whose
// model is not taught its tools there are none.
func (a Agent) OwnTools() []string {
	own := []string{}
	for _, name := range modelTools {
		ofPlugin := name == ToolSearch || name == ToolSh || name == ToolEnv
		if a.Taught() && !ofPlugin && a.Admits(Tool{ToolSpec: ToolSpec{Name: name}, Plugin: OwnPlugin, Pinned: true, Named: true}) {
			own = append(own, name)
		}
	}
	return own
}

// boundTaught are the globs to which an agent is held whose model is taught its tools. Where they are all, the twelve are among them; of
// a list those that it names, and what changes nothing but what is said of the work.
func boundTaught(globs []string) []string {
	if len(globs) == 0 || slices.Contains(globs, "*") {
		return append(append(slices.Clone(globs), "*"), modelTools...)
	}
	bound := append(slices.Clone(globs), ToolThink, string(VerbUpdate))
	for _, name := range modelTools {
		if anyMatches(globs, name) || anyMatches(globs, OwnPlugin+"__"+name) {
			bound = append(bound, name)
		}
	}
	return bound
}
