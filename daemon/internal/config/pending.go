package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// NeedsStart warns of what a daemon that was started with one configuration can
// take from another only at its next start, where that stands.
func NeedsStart(began, now *Config) Diagnostics {
	var out Diagnostics
	for _, c := range Diff(began, now) {
		if c.Block == "plugin" && c.Kind == Moved {
			out = append(out, waits("The order of the plugin blocks", "It decides which of two tools of one name has the bare name.", hcl.Range{}, now))
		}
		for _, name := range c.Settings {
			if s := findSetting(c.Block, name); s.atStart {
				was, is := find(began, s.key()), find(now, s.key())
				out = append(out, waits(s.key(), fmt.Sprintf("The daemon goes on with %s.", orDefault(was.Value)), is.place, now))
			}
		}
	}
	return out
}

func waits(what, detail string, at hcl.Range, cfg *Config) Diagnostic {
	d := Diagnostic{
		Severity: "warning", Summary: what + " takes effect at the next start",
		Detail: detail + " `bothy stop` ends it, and the next call of bothy starts it anew.",
	}
	if at.Filename != "" {
		place(&d, at, cfg.Files)
	}
	return d
}

func find(cfg *Config, key string) Value {
	for _, v := range cfg.Values {
		if v.Key == key {
			return v
		}
	}
	return Value{}
}

func orDefault(value string) string {
	if strings.TrimSpace(value) == "" {
		return "its default"
	}
	return value
}
