package team

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// Route is the plan of a prompt for which no model made a usable one, and why it is that. Every capability that the
// prompt names, as whole words, has an agent, and none is asked who could be left out; of those that are good at as
// much the first. A prompt that names none is for the agent default. The task of each is the prompt as somebody
// needs it who knows nothing of what came before.
func Route(prompt, task string, members []sdk.Agent, mode sdk.TeamMode) (p Plan, why string) {
	p.Mode = mode
	said := words(prompt)
	asked := map[string]bool{}
	for _, a := range members {
		for _, c := range a.Capabilities {
			if within(said, words(c)) {
				asked[folded(c)] = true
			}
		}
	}
	named := []string{sdk.DefaultAgent}
	why = "the prompt names nothing that an agent of the team is good at, so that the agent default gets it"
	if all := cover(asked, members); len(all) > 0 {
		slices.SortFunc(all, func(a, b sdk.Agent) int { return at(members, a.Name) - at(members, b.Name) })
		named = names(all)
		why = fmt.Sprintf("by what the prompt names and agents are good at, %s gets it", strings.Join(named, ", "))
	}
	p.Assignments = give(task, named)
	return p, why
}

// Routed is the plan that Route made before, by the steps that it left in the run: whatever the agents are by now.
func Routed(prompt string, steps []sdk.PlanStep, mode sdk.TeamMode) Plan {
	var named []string
	for _, s := range steps {
		name, _, _ := strings.Cut(s.Text, ": ")
		named = append(named, name)
	}
	return Plan{Mode: mode, Assignments: give(prompt, named)}
}

// give has each agent do what a prompt says.
func give(prompt string, names []string) (all []Assignment) {
	for _, name := range names {
		all = append(all, Assignment{Task: delegate.Task{Agent: name, Task: prompt}})
	}
	return all
}

// cover are members that have the capabilities together, as far as a plan has room for them: none could be left out.
func cover(asked map[string]bool, members []sdk.Agent) (all []sdk.Agent) {
	left := maps.Clone(asked)
	for len(left) > 0 && len(all) < mostAssignments {
		best, most := sdk.Agent{}, 0
		for _, a := range members {
			if n := good(left, a); n > most {
				best, most = a, n
			}
		}
		for _, c := range best.Capabilities {
			delete(left, folded(c))
		}
		all = append(all, best)
	}
	for i := 0; i < len(all); { // those that came later may have all that one was taken for
		if rest := slices.Concat(all[:i], all[i+1:]); good(asked, rest...) == good(asked, all...) {
			all = rest
		} else {
			i++
		}
	}
	return all
}

// good is how many of some capabilities agents have together.
func good(asked map[string]bool, agents ...sdk.Agent) int {
	has := map[string]bool{}
	for _, a := range agents {
		for _, c := range a.Capabilities {
			if asked[folded(c)] {
				has[folded(c)] = true
			}
		}
	}
	return len(has)
}

func at(members []sdk.Agent, name string) int {
	return slices.IndexFunc(members, func(a sdk.Agent) bool { return a.Name == name })
}

// words are those of a text, in lower case. What joins the parts of a name, as in file_io, is within a word.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '+' && r != '#'
	})
}

// within reports whether words stand in a text, next to each other.
func within(text, of []string) bool {
	for i := 0; len(of) > 0 && i+len(of) <= len(text); i++ {
		if slices.Equal(text[i:i+len(of)], of) {
			return true
		}
	}
	return false
}
