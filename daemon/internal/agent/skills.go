package agent

import (
	"fmt"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Skills come and go while the daemon runs, and each project has its own. So an agent that names one that there is not can
// be used all the same, and it is told: to who looks at the agent, and to whoever follows a prompt of it.

// Unknown are the skills that an agent names and that a project has not.
func (l *Library) Unknown(project string, a sdk.Agent) []string {
	return unknown(a, l.skills(project))
}

// skills asks for those of a project when the first name is asked about.
func (l *Library) skills(project string) func(string) bool {
	if l.sources.Skills == nil {
		return func(string) bool { return true }
	}
	ask := sync.OnceValue(func() func(string) bool { return l.sources.Skills(project) })
	return func(name string) bool { return ask()(name) }
}

func unknown(a sdk.Agent, knows func(string) bool) (names []string) {
	for _, name := range a.Skills {
		if !knows(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// withSkills is a definition with a note of each skill that there is not, and of where it is named.
func withSkills(d sdk.Definition, knows func(string) bool) sdk.Definition {
	d.Notes = slices.Clip(d.Notes)
	for _, name := range unknown(d.Agent, knows) {
		note := fmt.Sprintf("there is no skill %q here", name)
		if at := d.From["skills"]; at != "" {
			note = at + ": " + note
		}
		d.Notes = append(d.Notes, note)
	}
	return d
}
