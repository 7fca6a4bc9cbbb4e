// Command bothy-plugin-research executes the skill research: it answers a
// question from the files of a project, which it finds and reads with the
// daemon's tools and takes notes of with the run's model, a part at a time.
package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/skill"
)

func main() {
	r := &research{}
	plugin.Serve(plugin.Options{
		Name:      "research",
		Version:   sdk.Version,
		Skill:     skill.Set{skill.New("research", r.execute)},
		Grants:    []string{sdk.GrantModels},
		Calls:     sdk.Calls{Tools: []string{"find_files", "grep", "read_file"}},
		Config:    &r.limits,
		Configure: r.configure,
	})
}
