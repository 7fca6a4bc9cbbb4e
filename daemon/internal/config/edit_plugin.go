package config

import (
	"bytes"

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

func (e PluginEdit) attributes() []attribute {
	var out []attribute
	text := func(name, value string) {
		if value != "" {
			out = append(out, attribute{name: name, value: cty.StringVal(value)})
		}
	}
	truth := func(name string, value *bool) {
		if value != nil {
			out = append(out, attribute{name: name, value: cty.BoolVal(*value)})
		}
	}
	text("plugin", e.Plugin)
	text("path", e.Path)
	text("sha256", e.SHA256)
	if len(e.Grants) > 0 {
		var list []cty.Value
		for _, g := range e.Grants {
			list = append(list, cty.StringVal(g))
		}
		out = append(out, attribute{name: "grants", value: cty.TupleVal(list)})
	}
	truth("on_use", e.OnUse)
	truth("enabled", e.Enabled)
	for _, s := range e.Sets {
		out = append(out, s.attribute)
	}
	if e.Confine != nil {
		out = append(out, attribute{name: "confine", value: e.Confine.value(), block: true})
	}
	return out
}

// value is the block in the file: an object is written as one.
func (c *Confine) value() cty.Value {
	says := map[string]cty.Value{}
	for name, paths := range map[string][]string{"paths": c.Paths, "read_paths": c.ReadPaths} {
		var list []cty.Value
		for _, p := range paths {
			list = append(list, cty.StringVal(p))
		}
		if list != nil {
			says[name] = cty.TupleVal(list)
		}
	}
	for name, open := range map[string]bool{"network": c.Network, "best_effort": c.BestEffort} {
		if open {
			says[name] = cty.True
		}
	}
	return cty.ObjectVal(says)
}

// Text is the block as it is written where there is none yet.
func (e PluginEdit) Text() string {
	return string(appendBlock(nil, e.Kind, e.Label, e.attributes()...))
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

func removeBlock(text []byte, path, kind, label string) ([]byte, error) {
	block, err := findBlock(text, path, kind, label)
	if err != nil || block == nil {
		return text, err
	}
	begin, end := block.Range().Start.Byte, block.CloseBraceRange.End.Byte
	rest := text[end:]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 && len(bytes.TrimSpace(rest[:n])) == 0 {
		end += n + 1
	}
	edited := splice(text, begin, end, "")
	// The empty line that set it apart goes with it.
	eol := []byte(lineEnd(text))
	empty := append(bytes.Clone(eol), eol...)
	if bytes.HasSuffix(edited[:begin], empty) && (begin == len(edited) || bytes.HasPrefix(edited[begin:], eol)) {
		edited = splice(edited, begin-len(eol), begin, "")
	}
	if left, err := findBlock(edited, path, kind, label); err != nil || left != nil {
		return nil, sdk.Errorf(sdk.Conflict, "the block %s %q of %s is written in a way that cannot be edited here: remove it yourself", kind, label, path)
	}
	return edited, nil
}
