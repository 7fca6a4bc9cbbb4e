package config

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/bothyd/bothy/sdk"
)

// Set is an attribute that a plugin declares, with the value that its block is to
// have.
type Set struct{ attribute }

// reference is a value that is looked up when it is used.
var reference = regexp.MustCompile(`^(env|secret|file)\("[^"\\$%{}]+"\)$`)

// ParseSet reads the value of an attribute as a person writes it in a shell: a text as
// it is, a list with commas, a map as NAME=VALUE with commas, and env("NAME"),
// secret("NAME") or file("PATH") for what is looked up when it is used. The value of
// a secret is no other than that: what stands in a command is seen by others.
func ParseSet(a sdk.ConfigAttribute, text string) (Set, error) {
	wrong := func(format string, args ...any) (Set, error) {
		return Set{}, sdk.Errorf(sdk.Validation, a.Name+": "+format, args...)
	}
	if reference.MatchString(text) {
		return Set{attribute{name: a.Name, value: text}}, nil
	}
	if a.Secret {
		return wrong(`it is a secret, which no command should hold: keep it with bothy auth login NAME, or in the environment, and write --set '%s=secret("NAME")'`, a.Name)
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	value := cty.StringVal(text)
	var err error
	switch a.Type {
	case "list(string)":
		value = textsValue(parts)
	case "map(string)":
		named := map[string]cty.Value{}
		for _, s := range parts {
			name, v, is := strings.Cut(s, "=")
			if !is {
				return wrong("%q is no NAME=VALUE", s)
			}
			named[name] = cty.StringVal(v)
		}
		value = cty.ObjectVal(named)
	case "number", "bool":
		kind := map[string]cty.Type{"number": cty.Number, "bool": cty.Bool}[a.Type]
		if value, err = convert.Convert(value, kind); err != nil {
			return wrong("%q is no %s", text, a.Type)
		}
	case "duration":
		if _, err := time.ParseDuration(text); err != nil {
			return wrong(`write it with a unit, such as "30s" or "5m"`)
		}
	}
	var set attributes
	set.add(a.Name, true, value)
	return Set{set[0]}, nil
}

// String is how the attribute stands in a block.
func (s Set) String() string { return fmt.Sprintf("%s = %s", s.name, s.value) }
