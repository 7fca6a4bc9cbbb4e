package main

// block is the plugin's block of the configuration.
type block struct {
	Learn    bool     `hcl:"learn" default:"true" doc:"Whether facts are learned from what a person wrote in a run, when it rests."`
	Model    string   `hcl:"learn_model,optional" doc:"The model that is asked for that, which models of the block names, too; the run's own when absent."`
	Agents   []string `hcl:"not_agents,optional" doc:"Agents of whose runs, and of whose prompts in other runs, nothing is learned."`
	Projects []string `hcl:"not_projects,optional" doc:"Projects, by their folders, in whose runs nothing is learned."`
	People   []string `hcl:"not_people,optional" doc:"Owners of whom nothing is learned: local, or the label of a person's block."`
}
