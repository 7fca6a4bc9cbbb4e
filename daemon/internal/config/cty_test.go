package config

import "github.com/zclconf/go-cty/cty"

func ctyStrings(list ...string) []cty.Value {
	var out []cty.Value
	for _, s := range list {
		out = append(out, cty.StringVal(s))
	}
	return out
}
