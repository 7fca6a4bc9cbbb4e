package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// longestMemory is the most that a guard keeps of a loop, in calls or turns.
const longestMemory = 1000

// guardFields are the guards, one a field, and guardSchema has them as attributes of a block.
var (
	guardFields = reflect.VisibleFields(reflect.TypeFor[sdk.Guards]())
	guardSchema = func() (schema hcl.BodySchema) {
		for _, f := range guardFields {
			schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: attributeName(f)})
		}
		return schema
	}()
)

// number is a limit, whatever its type.
func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// Restrict takes from guards what the workspace has lower: it puts each limit in
// the place of one that is higher, or off.
func (w Workspace) Restrict(g sdk.Guards) sdk.Guards {
	for _, f := range guardFields {
		own, limit := reflect.ValueOf(&g).Elem().FieldByIndex(f.Index), reflect.ValueOf(w.Guards).FieldByIndex(f.Index)
		if number(limit) > 0 && (number(own) == 0 || number(limit) < number(own)) {
			own.Set(limit)
		}
	}
	return g
}

// GuardsIn are the guards of agents of a dialect that name none: those of the guard block. In the dialect tags a guard that
// nobody wrote has the default of that dialect.
func (c *Config) GuardsIn(dialect string) sdk.Guards {
	set := Config{Guards: c.Guards}
	for _, s := range settings {
		if def := s.in(dialect); s.block == "guard" && def != "" && c.Values[s.at].unsaid {
			v, _ := s.read(def) // a test reads them all
			s.set(&set, v)
		}
	}
	if set.Guards.MaxStrikes == 0 && c.Values[findSetting("guard", "min_cycles").at].unsaid {
		set.Guards.MinCycles = 0 // which goes with strikes
	}
	return set.Guards
}

// GuardsLike are the guards of an agent, as another one has them that is held to it: of what the first took from its
// dialect the other one has what its own says.
func (c *Config) GuardsLike(a sdk.Agent, dialect string) sdk.Guards {
	from, to := reflect.ValueOf(c.GuardsIn(a.Dialect)), reflect.ValueOf(c.GuardsIn(dialect))
	for _, f := range guardFields {
		if own := reflect.ValueOf(&a.Guards).Elem().FieldByIndex(f.Index); own.Equal(from.FieldByIndex(f.Index)) {
			own.Set(to.FieldByIndex(f.Index))
		}
	}
	return a.Guards
}

// agentGuards are the guards of an agent of a dialect: what its block names, and the guard block's for the rest.
func (l *loader) agentGuards(label, dialect string, named hcl.Attributes, r hcl.Range) sdk.Guards {
	set := Config{Guards: l.cfg.GuardsIn(dialect)}
	common := guardMistakes(set.Guards)
	l.take(&set, "guard", named, func(setting) bool { return true }, "", "", nil)
	checked := set.Guards
	if named["min_cycles"] == nil && named["max_strikes"] != nil && checked.MaxStrikes == 0 {
		checked.MinCycles = 0 // strikes turned off are no mistake, and cycles go with them
	}
	for _, text := range guardMistakes(checked) {
		if !slices.Contains(common, text) {
			l.reportAt(r, "Guards that do not go together", fmt.Sprintf("For agent %q %s.", label, text))
		}
	}
	return set.Guards
}

// guardMistakes says what is wrong with guards that need each other. One that is off is never wrong.
func guardMistakes(g sdk.Guards) []string {
	var wrong []string
	says := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch {
	case g.WindowCalls > 0 && g.WindowSize == 0:
		says("window_calls is %d and window_size is 0; say among how many calls it looks", g.WindowCalls)
	case g.WindowCalls > g.WindowSize && g.WindowSize > 0:
		says("window_calls is %d and window_size only %d, so it could never stop anything", g.WindowCalls, g.WindowSize)
	}
	switch {
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
