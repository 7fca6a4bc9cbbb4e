package verbs

// AgentsCheck reads the agents of the configuration, of files and of plugins.
type AgentsCheck struct {
	Names   []string `arg:"" optional:"" name:"file-or-name" complete:"agent" help:"Markdown files, folders of such, or names of agents; all of the configuration, the project and the plugins when there is none."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the help of the verb.
func (AgentsCheck) Help() string {
	return `Says of each agent what is wrong or odd, in which line, and what of it does not hold here because it would widen what the agent "default" may do. Those of plugins are told by what these declare of themselves. The exit code is 1 when one cannot be used. No plugin and no daemon is started.

Examples:

    bothy agents check
    bothy agents check .claude/agents/reviewer.md
    bothy agents check --json reviewer | jq '.agents[].problems'
`
}
