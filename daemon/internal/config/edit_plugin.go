package config

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// PluginEdit is what is written into a plugin's or provider's block. What is
// empty stays as it is.
type PluginEdit struct {
	Kind    string // the type of the block: "plugin" or "provider"
	Label   string
	Plugin  string // the NAME of bothy-plugin-NAME, where the label is another
	Path    string
	SHA256  string
	Grants  []string
	OnUse   *bool
	Enabled *bool
	Sets    []Set    // attributes of the plugin's own
	Confine *Confine // only of a block that is new
}

func (e PluginEdit) attributes() (out attributes) {
	out.add("plugin", e.Plugin != "", cty.StringVal(e.Plugin))
	out.add("path", e.Path != "", cty.StringVal(e.Path))
	out.add("sha256", e.SHA256 != "", cty.StringVal(e.SHA256))
	out.add("grants", len(e.Grants) > 0, textsValue(e.Grants))
	out.add("on_use", e.OnUse != nil, cty.BoolVal(e.OnUse != nil && *e.OnUse))
	out.add("enabled", e.Enabled != nil, cty.BoolVal(e.Enabled != nil && *e.Enabled))
	for _, s := range e.Sets {
		out = append(out, s.attribute)
	}
	if c := e.Confine; c != nil {
		block := attributes{}
		block.add("best_effort", c.BestEffort, cty.True)
		block.add("network", c.Network, cty.True)
		block.add("paths", len(c.Paths) > 0, textsValue(c.Paths))
		block.add("read_paths", len(c.ReadPaths) > 0, textsValue(c.ReadPaths))
		out = append(out, attribute{name: "confine", block: block})
	}
	return out
}

// textsValue is a list of texts as HCL writes one.
func textsValue(list []string) cty.Value {
	values := make([]cty.Value, len(list))
	for i, s := range list {
		values[i] = cty.StringVal(s)
	}
	return cty.TupleVal(values)
}

// Text is the block as it is written where there is none yet.
func (e PluginEdit) Text() string {
	return blockText(e.Kind, e.Label, e.attributes())
}

// CheckLabel says what is wrong with the label of a plugin's or provider's block.
func CheckLabel(label string) error {
	if !labelPattern.MatchString(label) {
		return sdk.Errorf(sdk.Validation, "a block cannot be named %q: its name is made of a-z, 0-9, dot, dash and underscore, at most 64 of them, a letter or digit first", label)
	}
	return nil
}

// SetPlugin writes a plugin's or provider's block into the file at path, as
// SetSkill does: all else stays byte for byte, what is in the block already too.
func SetPlugin(path string, e PluginEdit) (bool, error) {
	if err := CheckLabel(e.Label); err != nil {
		return false, err
	}
	return edit(path, func(text []byte) ([]byte, error) { return setPlugin(text, path, e) })
}

func setPlugin(text []byte, path string, e PluginEdit) ([]byte, error) {
	return setBlock(text, path, e.Kind, e.Label, e.attributes(), "make it say this yourself:\n"+e.Text())
}

// RemoveBlock takes the block of a type and a label out of the file at path,
// and reports whether there was one. Comments around it stay.
func RemoveBlock(path, kind, label string) (bool, error) {
	return edit(path, func(text []byte) ([]byte, error) { return removeBlock(text, path, kind, label) })
}
