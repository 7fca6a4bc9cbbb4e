package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// PluginEdit is what is written into a plugin's or provider's block. What is empty stays as it is.
type PluginEdit struct {
	Kind    string // the type of the block: "plugin" or "provider"
	Label   string
	Plugin  string   `hcl:"plugin,optional"` // the NAME of bothy-plugin-NAME, where the label is another
	Path    string   `hcl:"path,optional"`
	SHA256  string   `hcl:"sha256,optional"`
	Grants  []string `hcl:"grants,optional"`
	OnUse   *bool    `hcl:"on_use,optional"`
	Enabled *bool    `hcl:"enabled,optional"`
	Sets    []Set    // attributes of the plugin's own
	Confine *Confine `hcl:"confine,block"` // only of a block that has none
}

func (e PluginEdit) attributes() attributes { return append(attributesOf(e), e.Sets...) }

// Text is the block as it is written where there is none yet.
func (e PluginEdit) Text() string { return blockText(e.Kind, e.Label, e.attributes()) }

// SetPlugin writes a plugin's or provider's block into the file at path, as
// SetSkill does: all else stays byte for byte, what is in the block already too.
func SetPlugin(path string, e PluginEdit) (bool, error) {
	return putBlock(path, e.Kind, e.Label, e.attributes(), false)
}

// RemoveBlock takes the block of a type and a label out of the file at path,
// and reports whether there was one. Comments around it stay.
func RemoveBlock(path, kind, label string) (bool, error) {
	return edit(path, func(text []byte) ([]byte, error) { return removeBlock(text, path, kind, label) })
}

// Set is an attribute that a plugin declares, with the value that its block is to have.
type Set = attribute

// reference is a value that is looked up when it is used.
var reference = regexp.MustCompile(`^(env|secret|file)\("[^"\\$%{}]+"\)$`)

// ParseSet reads the value of an attribute as a person writes it in a shell: a text as it is, a list with
// commas, a map as NAME=VALUE with commas, and env("NAME"), secret("NAME") or file("PATH") for what is
// looked up when it is used. Of a secret it takes nothing else: what stands in a command is seen by others.
func ParseSet(a sdk.ConfigAttribute, text string) (Set, error) {
	wrong := func(format string, args ...any) (Set, error) {
		return Set{}, sdk.Errorf(sdk.Validation, a.Name+": "+format, args...)
	}
	if !utf8.ValidString(text) {
		return wrong("%q is no UTF-8", text)
	}
	if reference.MatchString(text) {
		return Set{name: a.Name, value: text}, nil
	}
	if a.Secret {
		return wrong(`it is a secret, which no command should hold: keep it with bothy auth login NAME, or in the environment, and write --set '%s=secret("NAME")'`, a.Name)
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	var value any = text
	switch a.Type {
	case "list(string)":
		value = parts
	case "map(string)":
		named := map[string]string{}
		for _, s := range parts {
			name, v, is := strings.Cut(s, "=")
			if !is {
				return wrong("%q is no NAME=VALUE", s)
			}
			named[name] = v
		}
		value = named
	case "number":
		n, err := cty.ParseNumberVal(text)
		if err != nil {
			return wrong("%q is no number", text)
		}
		value = json.Number(hclwrite.TokensForValue(n).Bytes())
	case "bool":
		is, err := strconv.ParseBool(text)
		if err != nil {
			return wrong("%q is no bool", text)
		}
		value = is
	}
	said, err := json.Marshal(value)
	if err == nil {
		err = a.CheckValue(said)
	}
	if err != nil {
		return wrong("%w", err)
	}
	return Set{name: a.Name, value: expression(reflect.ValueOf(value))}, nil
}

// String is how the attribute stands in a block.
func (s Set) String() string { return fmt.Sprintf("%s = %s", s.name, s.value) }
