package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// NeedsStart warns of what a daemon that was started with one configuration can
// take from another only at its next start, where that stands.
func NeedsStart(began, now *Config) (out Diagnostics) {
	waits := func(what, detail string, at hcl.Range) {
		d := FromHCL(hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: what + " takes effect at the next start",
			Detail: detail + " `bothy stop` ends it, and the next call of bothy starts it anew."}}, now.Files)
		if at.Filename != "" {
			place(&d[0], at, now.Files)
		}
		out = append(out, d...)
	}
	for _, c := range Diff(began, now) {
		if c.Block == "plugin" && c.Kind == Moved {
			waits("The order of the plugin blocks", "It decides which of two tools of one name has the bare name.", hcl.Range{})
		}
		for _, name := range c.Settings {
			if s := findSetting(c.Block, name); s.atStart {
				goesOn := cmp.Or(strings.TrimSpace(find(began, s.key()).Value), "its default")
				waits(s.key(), fmt.Sprintf("The daemon goes on with %s.", goesOn), find(now, s.key()).place)
			}
		}
	}
	return out
}

// find is the value of a setting.
func find(cfg *Config, key string) Value {
	for _, v := range cfg.Values {
		if v.Key == key {
			return v
		}
	}
	return Value{}
}
