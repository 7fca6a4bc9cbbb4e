package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// unset marks a guard that the agent's block does not name: the guard block
// and its defaults rule, also when that block stands in a later file.
const unset = -1

// longestMemory is the most that a guard keeps of a loop, in calls or turns.
const longestMemory = 1000

// guardFields are the guards, one a field.
var guardFields = reflect.VisibleFields(reflect.TypeFor[sdk.Guards]())

// takeGuards takes from other each guard of which takes says so, by both limits.
func takeGuards(own *sdk.Guards, other sdk.Guards, takes func(own, other float64) bool) {
	for _, f := range guardFields {
		a, b := reflect.ValueOf(own).Elem().FieldByIndex(f.Index), reflect.ValueOf(other).FieldByIndex(f.Index)
		if takes(number(a), number(b)) {
			a.Set(b)
		}
	}
}

// guardSchema are the guards as attributes of a block.
var guardSchema = func() (schema hcl.BodySchema) {
	for _, f := range guardFields {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: attributeName(f)})
	}
	return schema
}()

// number is a limit, whatever its type.
func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// unsetGuards are guards of which none is named.
func unsetGuards() (g sdk.Guards) {
	for _, f := range guardFields {
		reflect.ValueOf(&g).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(unset).Convert(f.Type))
	}
	return g
}

// ownGuards are those that an agent's block names.
func (l *loader) ownGuards(attributes hcl.Attributes) sdk.Guards {
	own := Config{Guards: unsetGuards()}
	l.take("guard", attributes, "", func(setting, string) string { return "" }, func(s setting, _ *hcl.Attribute, value any, _ string) error {
		s.set(&own, value)
		return nil
	})
	return own.Guards
}

// fillGuards completes the guards of every agent and checks what no single one can tell.
func (l *loader) fillGuards() {
	common := guardMistakes(l.cfg.Guards)
	for _, text := range common {
		l.fail("Guards that do not go together", "In the guard block "+text+".")
	}
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Agents)) {
		a := l.cfg.Agents[name]
		own := a.Guards
		takeGuards(&a.Guards, l.cfg.Guards, func(own, _ float64) bool { return own == unset })
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

// guardMistakes says what is wrong with guards that need each other. One that is off is never wrong.
func guardMistakes(g sdk.Guards) []string {
	var wrong []string
	says := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if g.RepeatedCalls == 1 {
		says("repeated_calls is 1, and the first call repeats nothing; write 0 to turn it off, or at least 2")
	}
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
