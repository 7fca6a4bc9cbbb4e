package main

import (
	"context"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// block is the plugin's block of the configuration.
type block struct {
	Learn    bool     `hcl:"learn" default:"true" doc:"Whether facts are learned from what a person wrote in a run, when it rests."`
	Model    string   `hcl:"learn_model,optional" doc:"The model that is asked for that, which models of the block names, too; the run's own when absent."`
	Agents   []string `hcl:"not_agents,optional" doc:"Agents of whose runs, and of whose prompts in other runs, nothing is learned."`
	Projects []string `hcl:"not_projects,optional" doc:"Projects, by their folders, in whose runs nothing is learned."`
	People   []string `hcl:"not_people,optional" doc:"Owners of whom nothing is learned: local, or the label of a person's block."`
}

// configure takes the block as it was filled. The folders of projects are whole paths: the home of this process is not the person's, and
// one that fits no project would have what is not to be learned be learned.
func (m *memory) configure(context.Context, sdk.Settings) error {
	for i, root := range m.block.Projects {
		if !filepath.IsAbs(root) {
			return sdk.Errorf(sdk.Validation, "not_projects has %q: write the whole path of the project's folder, as /home/me/work", root)
		}
		m.block.Projects[i] = sdk.WithoutLinks(root)
	}
	return nil
}
