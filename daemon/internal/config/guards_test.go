package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestAgentGuards: an agent has the guards that its block names and the guard
// block's for the rest, in whichever order the two stand.
func TestAgentGuards(t *testing.T) {
	const common = `
guard {
  max_turns        = 20
  window_calls     = 3
  window_size      = 9
  max_strikes      = 4
  min_cycles       = 3
  max_cycle_period = 4
  deadline         = "1h"
  max_cost         = 2.5
  max_children     = 5
}
`
	const agents = `
agent "plain" {}
agent "own" {
  repeated_calls     = 0
  consecutive_errors = 9
  window_calls       = 2
  window_size        = 5
  max_strikes        = 2
  min_cycles         = 2
  max_cycle_period   = 6
  deadline           = "90s"
  max_cost           = 0.5
  max_children       = 2
}
agent "off" {
  max_turns    = 0
  window_calls = 0
  max_strikes  = 0
  deadline     = "0s"
  max_cost     = 0
  max_children = 0
}
`
	want := map[string]sdk.Guards{
		"plain": {MaxTurns: 20, RepeatedCalls: 2, WindowCalls: 3, WindowSize: 9, ConsecutiveErrors: 3, MaxStrikes: 4, MinCycles: 3, MaxCyclePeriod: 4,
			Deadline: sdk.Duration(time.Hour), MaxCost: 2.5, MaxChildren: 5},
		"own": {MaxTurns: 20, WindowCalls: 2, WindowSize: 5, ConsecutiveErrors: 9, MaxStrikes: 2, MinCycles: 2, MaxCyclePeriod: 6,
			Deadline: sdk.Duration(90 * time.Second), MaxCost: 0.5, MaxChildren: 2},
		"off": {RepeatedCalls: 2, WindowSize: 9, ConsecutiveErrors: 3, MinCycles: 3, MaxCyclePeriod: 4},
	}
	for _, text := range []string{common + agents, agents + common} {
		cfg, diags := load(t, text)
		if cfg == nil {
			t.Fatal(diags.Error())
		}
		for name, guards := range want {
			if got := cfg.Agents[name].Guards; got != guards {
				t.Errorf("agent %s has\n%+v, want\n%+v", name, got, guards)
			}
		}
	}
}

// TestGuardsThatDoNotGoTogether: each is one mistake, wherever it stands.
func TestGuardsThatDoNotGoTogether(t *testing.T) {
	for text, says := range map[string]string{
		"window_calls = 3":                                          "window_size is 0",
		"window_calls = 4\nwindow_size = 3":                         "could never stop",
		"window_calls = 1\nwindow_size = 3":                         "at least 2",
		"min_cycles = 3\nmax_strikes = 3":                           "max_cycle_period is 0",
		"min_cycles = 1\nmax_cycle_period = 3\nmax_strikes = 3":     "at least 2",
		"min_cycles = 3\nmax_cycle_period = 3":                      "max_strikes is 0",
		"min_cycles = 3\nmax_cycle_period = 3\nmax_strikes = 0":     "max_strikes is 0",
		"window_calls = 3\nwindow_size = 1001":                      "1000 at most",
		"min_cycles = 3\nmax_cycle_period = 9999\nmax_strikes = 3":  "1000 at most",
		"deadline = \"soon\"":                                       "a duration",
		"deadline = \"-1s\"":                                        "a duration",
		"deadline = 30":                                             "",
		"max_cost = -1":                                             "",
		"window_size = -2":                                          "",
		"max_strikes = 2.5":                                         "",
		"window_calls = 3\nwindow_size = 9\nmin_cycles = \"often\"": "",
	} {
		for _, block := range []string{"guard", `agent "a"`} {
			cfg, diags := load(t, block+" {\n"+text+"\n}\n")
			if cfg != nil || len(diags) != 1 || !strings.Contains(diags.Error(), says) {
				t.Errorf("%s { %q }: %d diagnostics, want one that says %q: %s", block, text, len(diags), says, diags.Error())
			}
		}
	}
	for _, text := range []string{"window_size = 9", "max_cycle_period = 4", "max_strikes = 3", "window_calls = 2\nwindow_size = 2"} {
		for _, block := range []string{"guard", `agent "a"`} {
			if cfg, diags := load(t, block+" {\n"+text+"\n}\n"); cfg == nil {
				t.Errorf("%s { %q }: %s", block, text, diags.Error())
			}
		}
	}
}

// TestEveryGuard has a name, a kind and words, so that the guard block and the
// block of an agent have it.
func TestEveryGuard(t *testing.T) {
	for _, f := range guardFields {
		name := attributeName(f)
		s := findSetting("guard", name)
		if s.name == "" || name == "" || s.doc == "" || s.kind == "" {
			t.Errorf("sdk.Guards.%s: %+v", f.Name, s)
		}
		value := map[kind]string{kindInt: "7", kindNumber: "7.5", kindDuration: `"7s"`}[s.kind]
		var all strings.Builder
		for _, g := range guardFields { // some need others
			if attributeName(g) != name && g.Type.Kind() == reflect.Int {
				fmt.Fprintf(&all, "%s = 7\n", attributeName(g))
			}
		}
		cfg, diags := load(t, "agent \"a\" {\n"+all.String()+name+" = "+value+"\n}\n")
		if cfg == nil {
			t.Fatal(diags.Error())
		}
		if got := reflect.ValueOf(cfg.Agents["a"].Guards).FieldByIndex(f.Index); got.IsZero() {
			t.Errorf("%s of an agent's block counts for nothing", name)
		}
	}
}

// TestGuardsOfADialect: in tags what nobody wrote has another default, and what somebody wrote holds in each dialect. Who is held
// to an agent of another dialect has what its own says, and no more.
func TestGuardsOfADialect(t *testing.T) {
	usual := sdk.Guards{MaxTurns: 99, MaxStrikes: 3, MinCycles: 3, MaxCyclePeriod: 4, MaxChildren: 16}
	changed := func(change func(*sdk.Guards)) sdk.Guards {
		g := usual
		change(&g)
		return g
	}
	for text, want := range map[string]sdk.Guards{
		"":                                  usual,
		"max_turns = 7":                     changed(func(g *sdk.Guards) { g.MaxTurns = 7 }),
		"repeated_calls = 2":                changed(func(g *sdk.Guards) { g.RepeatedCalls = 2 }),
		"consecutive_errors = 5":            changed(func(g *sdk.Guards) { g.ConsecutiveErrors = 5 }),
		"max_strikes = 0":                   changed(func(g *sdk.Guards) { g.MaxStrikes, g.MinCycles = 0, 0 }),
		"max_strikes = 9":                   changed(func(g *sdk.Guards) { g.MaxStrikes = 9 }),
		"min_cycles = 0":                    changed(func(g *sdk.Guards) { g.MinCycles = 0 }),
		"max_cycle_period = 6":              changed(func(g *sdk.Guards) { g.MaxCyclePeriod = 6 }),
		"window_calls = 2\nwindow_size = 4": changed(func(g *sdk.Guards) { g.WindowCalls, g.WindowSize = 2, 4 }),
	} {
		cfg, diags := load(t, "guard {\n"+text+"\n}\n")
		if cfg == nil {
			t.Fatal(diags.Error())
		}
		if got := cfg.GuardsIn(sdk.DialectTags); got != want {
			t.Errorf("%q: in tags\n%+v, want\n%+v", text, got, want)
		}
		if got := cfg.GuardsIn(sdk.DialectTools); got != cfg.Guards || got != cfg.Agents["default"].Guards {
			t.Errorf("%q: in tools\n%+v", text, got)
		}
		if got := cfg.GuardsLike(sdk.Agent{Dialect: sdk.DialectTools, Guards: cfg.Guards}, sdk.DialectTags); got != want {
			t.Errorf("%q: as the agent has them in tools\n%+v", text, got)
		}
		if got := cfg.GuardsLike(sdk.Agent{Dialect: sdk.DialectTags, Guards: want}, sdk.DialectTools); got != cfg.Guards {
			t.Errorf("%q: as the agent has them in tags\n%+v", text, got)
		}
		own := want
		own.MaxStrikes, own.MaxTurns = 8, 3
		if got := cfg.GuardsLike(sdk.Agent{Dialect: sdk.DialectTags, Guards: own}, sdk.DialectTools); got.MaxStrikes != 8 || got.MaxTurns != 3 {
			t.Errorf("%q: what the agent says itself is lost: %+v", text, got)
		}
	}
	cfg, _ := load(t, "", "BOTHY_GUARD_REPEATED_CALLS", "4")
	if cfg == nil || cfg.GuardsIn(sdk.DialectTags).RepeatedCalls != 4 {
		t.Errorf("a variable counts for nothing")
	}
	for _, s := range settings {
		if def := s.in(sdk.DialectTags); def != "" {
			if _, err := s.read(def); err != nil || s.block != "guard" {
				t.Errorf("%s: %v", s.key(), err)
			}
		}
	}
}
