package config

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// unset marks a guard that the agent's block does not name: the guard block
// and its defaults rule, also when that block stands in a later file.
const unset = -1

// longestMemory is the most that a guard keeps of a loop, in calls or turns.
const longestMemory = 1000

// ownGuards are those that an agent's block names.
func (l *loader) ownGuards(label string, b *agentBlock, r hcl.Range) sdk.Guards {
	own := sdk.Guards{
		MaxTurns: or(b.MaxTurns, unset), RepeatedCalls: or(b.RepeatedCalls, unset), ConsecutiveErrors: or(b.ConsecutiveErrors, unset),
		WindowCalls: or(b.WindowCalls, unset), WindowSize: or(b.WindowSize, unset), MaxStrikes: or(b.MaxStrikes, unset),
		MinCycles: or(b.MinCycles, unset), MaxCyclePeriod: or(b.MaxCyclePeriod, unset), Deadline: unset, MaxCost: or(b.MaxCost, unset),
	}
	for _, n := range []*int{b.MaxTurns, b.RepeatedCalls, b.ConsecutiveErrors, b.WindowCalls, b.WindowSize, b.MaxStrikes, b.MinCycles, b.MaxCyclePeriod} {
		if n != nil && *n < 0 {
			l.reportAt(r, "Wrong value", fmt.Sprintf("agent %q sets a guard to %d; 0 turns one off, less than that means nothing.", label, *n))
		}
	}
	if b.MaxCost != nil && *b.MaxCost < 0 {
		l.reportAt(r, "Wrong value", fmt.Sprintf("agent %q sets max_cost to %g; 0 turns it off, less than that means nothing.", label, *b.MaxCost))
	}
	if own.RepeatedCalls == 1 {
		l.reportAt(r, "Wrong value", fmt.Sprintf("repeated_calls of agent %q %s.", label, oneCall))
	}
	if b.Deadline != nil {
		s, _ := findSetting("guard", "deadline")
		v, err := s.read(*b.Deadline)
		if err != nil {
			l.reportAt(r, "Wrong value", fmt.Sprintf("agent %q: %s.", label, err))
			return own
		}
		own.Deadline = sdk.Duration(v.(time.Duration))
	}
	return own
}

// fillGuards completes the guards of every agent and checks what no single one
// can tell.
func (l *loader) fillGuards() {
	common := guardMistakes(l.cfg.Guards)
	for _, text := range common {
		l.fail("Guards that do not go together", "In the guard block "+text+".")
	}
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Agents)) {
		a := l.cfg.Agents[name]
		own := a.Guards
		fillGuards(&a.Guards, l.cfg.Guards)
		l.cfg.Agents[name] = a
		checked := a.Guards
		if own.MinCycles == unset && own.MaxStrikes == 0 {
			checked.MinCycles = 0 // strikes turned off are no mistake, and cycles go with them
		}
		for _, text := range guardMistakes(checked) {
			if !slices.Contains(common, text) {
				l.reportAt(l.labelled["agent"].ranges[name], "Guards that do not go together", fmt.Sprintf("For agent %q %s.", name, text))
			}
		}
	}
}

func fillGuards(own *sdk.Guards, common sdk.Guards) {
	fill(&own.MaxTurns, common.MaxTurns)
	fill(&own.RepeatedCalls, common.RepeatedCalls)
	fill(&own.WindowCalls, common.WindowCalls)
	fill(&own.WindowSize, common.WindowSize)
	fill(&own.ConsecutiveErrors, common.ConsecutiveErrors)
	fill(&own.MaxStrikes, common.MaxStrikes)
	fill(&own.MinCycles, common.MinCycles)
	fill(&own.MaxCyclePeriod, common.MaxCyclePeriod)
	fill(&own.Deadline, common.Deadline)
	fill(&own.MaxCost, common.MaxCost)
}

func fill[T int | sdk.Duration | float64](own *T, common T) {
	if *own == unset {
		*own = common
	}
}

// guardMistakes says what is wrong with guards that need each other. One that
// is off is never wrong.
func guardMistakes(g sdk.Guards) []string {
	var wrong []string
	says := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch {
	case g.WindowCalls == 1:
		says("window_calls is 1, which would stop the first call already; write 0 to turn it off, or at least 2")
	case g.WindowCalls > 0 && g.WindowSize == 0:
		says("window_calls is %d and window_size is 0; say among how many calls it looks", g.WindowCalls)
	case g.WindowCalls > g.WindowSize && g.WindowSize > 0:
		says("window_calls is %d and window_size only %d, so it could never stop anything", g.WindowCalls, g.WindowSize)
	}
	switch {
	case g.MinCycles == 1:
		says("min_cycles is 1, and everything happens once; write 0 to turn it off, or at least 2")
	case g.MinCycles > 0 && g.MaxCyclePeriod == 0:
		says("min_cycles is %d and max_cycle_period is 0; say how many turns the longest pattern has", g.MinCycles)
	case g.MinCycles > 0 && g.MaxStrikes == 0:
		says("min_cycles is %d and max_strikes is 0; a pattern that repeats is a strike, so say how many stop the loop", g.MinCycles)
	}
	if g.WindowSize > longestMemory || g.MaxCyclePeriod > longestMemory {
		says("window_size and max_cycle_period may be %d at most", longestMemory)
	}
	return wrong
}
