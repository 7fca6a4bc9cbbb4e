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

// Taught reports whether the agent's model is taught its tools in the system text, since it writes calls as tags or
// has entries as a packet: it has ModelTools then, and of plugins what it names.
func (a Agent) Taught() bool { return a.Dialect == DialectTags || a.View == ViewPacket }

// taught are the globs of an agent that is taught its tools. Those of ModelTools that it names, by a glob too, are all that it has of
// them; without any, and with *, it has the twelve. What changes nothing but what is said of the work it always has.
func taught(globs []string) []string {
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
