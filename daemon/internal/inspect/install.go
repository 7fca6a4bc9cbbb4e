package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Installation is a plugin in the store that may become one of the configuration.
type Installation struct {
	Path     string       `json:"path"` // in the store
	Digest   string       `json:"digest"`
	Script   bool         `json:"script,omitempty"` // no digest covers its interpreter, nor what it imports from elsewhere
	Files    int          `json:"files,omitempty"`  // of a bundle
	Fresh    bool         `json:"-"`                // it was not there before
	Manifest sdk.Manifest `json:"manifest"`

	Label   string                `json:"label"`
	Kept    bool                  `json:"kept,omitempty"`   // there is a block of this label already: its confine stays
	Opening Opening               `json:"opening"`          // what its block opens
	Unheld  []string              `json:"unheld,omitempty"` // what this kernel cannot hold a plugin back from
	Kind    string                `json:"kind"`             // the type of its block: "plugin" or "provider"
	Grants  []string              `json:"grants"`           // that its block gives
	Config  string                `json:"config,omitempty"` // the file with its block; empty: it is in none
	Block   string                `json:"block"`            // as it stands in a file that had none
	Note    string                `json:"note,omitempty"`
	Changes []string              `json:"changes,omitempty"` // of an upgrade: what it declares that the one before did not, or otherwise
	Lacks   []sdk.ConfigAttribute `json:"lacks,omitempty"`   // what the plugin needs and its block would not say
	edit    config.PluginEdit     // the same
}

// String names a plugin for people.
func (in Installation) String() string { return in.Manifest.Name + " " + in.Manifest.Version }

// Store copies a plugin into the store and looks at it. Nothing is configured yet:
// Configure does that, or Discard takes it back; with look neither follows, and the block
// may lack what the plugin needs. Each of sets is NAME=VALUE, an attribute that the plugin
// declares. What open says, with paths of the working directory, is for a block that is
// new, or that runs the plugin from that path and has no confine; another keeps its own.
func (f *Files) Store(ctx context.Context, path, label string, grants, sets []string, open Opening, look bool) (in Installation, err error) {
	if open, err = open.checked(); err != nil {
		return in, err
	}
	if f.Inspector.cfg.Installed == "" {
		return in, sdk.Errorf(sdk.Unavailable, "there is no place for the store of plugins: set HOME or XDG_DATA_HOME")
	}
	known := sdk.Grants()
	if n := slices.IndexFunc(grants, func(g string) bool { return !slices.Contains(known, g) }); n >= 0 {
		return in, sdk.Errorf(sdk.Validation, "there is no grant %q; there are: %s", grants[n], strings.Join(known, ", "))
	}
	if path, err = filepath.Abs(path); err != nil {
		return in, err
	}
	if in, err = f.Inspector.Add(ctx, path); err != nil {
		return in, err
	}
	in.Label, in.Grants, in.Opening, in.Unheld = label, append([]string{}, grants...), open, f.Inspector.cfg.Kernel().Lacks()
	if err = f.place(ctx, &in, path, sets); err == nil && len(in.Lacks) > 0 && !look {
		var needs []string
		for _, a := range in.Lacks {
			needs = append(needs, strings.TrimSpace(fmt.Sprintf("the attribute %q, a %s (--set %[1]s=VALUE). %[3]s", a.Name, a.Type, a.Doc)))
		}
		err = sdk.Errorf(sdk.Validation, "%s was not installed, since its block needs %s", in.Label, strings.Join(needs, "\nand "))
	}
	if err != nil {
		err = errors.Join(err, f.Discard(in))
	}
	return in, err
}

// place decides which block a stored plugin gets that was copied from a path.
func (f *Files) place(ctx context.Context, in *Installation, from string, sets []string) error {
	m := in.Manifest
	in.Label = cmp.Or(in.Label, m.Name)
	if err := config.CheckLabel("plugin", in.Label); err != nil {
		return err
	}
	if err := m.Needs.Check(); err != nil {
		return sdk.Errorf(sdk.Validation, "%s cannot be installed: %w", m.Name, err)
	}
	in.Kind = "plugin"
	if slices.Equal(m.Kinds, []string{plugin.KindProvider}) {
		in.Kind = "provider"
	}
	b, kind, had := f.labelled(in.Label)
	developed := filepath.Clean(b.Path) == from && b.Binary == m.Name // it was run from there while it was written
	// What a plugin calls itself gives it nothing of another's.
	upgrades := f.Inspector.digestOf(b.Path) != "" && filepath.Base(b.Path) == "bothy-plugin-"+m.Name && (b.Locked == nil || b.Locked.Plugin == m.Name)
	switch {
	case !had:
	case f.bundled(b):
		return sdk.Errorf(sdk.Conflict, "%s is a plugin that comes with Bothy: give this one another name with --name", in.Label)
	case kind != in.Kind:
		return sdk.Errorf(sdk.Conflict, "%s is the name of a block of another type: give this one another name with --name", in.Label)
	case developed && b.Confine == nil:
	case !developed && !upgrades:
		return sdk.Errorf(sdk.Conflict, "%s is the name of a block that is not of an installed plugin called %s, and what that block opens and grants is not for this one: give it another name with --name, or remove the block first", in.Label, m.Name)
	case in.Opening.Flags() != "":
		return sdk.Errorf(sdk.Conflict, "%s has a block already, and its confine block says what is open to it: change it there, without %s", in.Label, in.Opening.Flags())
	default:
		in.Kept, in.Opening = true, openingOf(b.Confine)
	}
	if in.Kept && filepath.Clean(b.Path) != from {
		if was, err := f.Inspector.Manifest(ctx, SpecOf(f.Config, b)); err == nil { // else nobody knows
			in.Changes = changes(was, m)
		}
	}
	yes := true
	in.edit = config.PluginEdit{Kind: in.Kind, Label: in.Label, Path: in.Path, SHA256: in.Digest, Grants: in.Grants}
	if in.Label != m.Name {
		in.edit.Plugin = m.Name
	}
	if slices.Equal(m.Kinds, []string{plugin.KindSkill}) {
		in.edit.OnUse = &yes
	}
	if len(in.Grants) == 0 {
		in.Grants = append(in.Grants, b.Grants...)
	}
	if err := in.fill(b.Body, sets); err != nil {
		return err
	}
	whole := in.edit
	whole.Grants, whole.Confine = in.Grants, in.Opening.confine()
	in.Block = whole.Text()
	if !in.Kept {
		in.edit.Confine = whole.Confine
	}
	if had && !b.Enabled {
		in.edit.Enabled = &yes
	}
	return nil
}

// changes are what a plugin declares, and what another version of it does not, or otherwise:
// all that the lock holds, and its attributes.
func changes(was, now sdk.Manifest) (out []string) {
	facts := func(m sdk.Manifest) map[string]string {
		all := config.LockOf(m, "", false).Facts()
		declared, _, _ := attributesOf(m.Config)
		for _, a := range declared {
			all["attribute "+a.Name] = a.String()
		}
		return all
	}
	for _, c := range config.DiffFacts(facts(was), facts(now)) {
		out = append(out, c.String())
	}
	return out
}

// fill takes the attributes that the block is to have beside those of its body, and says
// which it needs besides.
func (in *Installation) fill(body hcl.Body, sets []string) error {
	declared, names, shape := attributesOf(in.Manifest.Config)
	given := map[string]bool{}
	for _, s := range sets {
		name, value, is := strings.Cut(s, "=")
		n := slices.Index(names, name)
		switch {
		case !is:
			return sdk.Errorf(sdk.Validation, "--set %s: write NAME=VALUE", s)
		case n < 0:
			return sdk.Errorf(sdk.Validation, "--set %s: the plugin declares no attribute %q; it declares: %s", s, name, cmp.Or(strings.Join(names, ", "), "none"))
		}
		set, err := config.ParseSet(declared[n], value)
		if err != nil {
			return err
		}
		in.edit.Sets, given[name] = append(in.edit.Sets, set), true
	}
	if body != nil {
		content, _, _ := body.PartialContent(&shape) // what is wrong with it was wrong before
		for name := range content.Attributes {
			given[name] = true
		}
	}
	in.Lacks = slices.DeleteFunc(slices.Clone(declared), func(a sdk.ConfigAttribute) bool { return !a.Required || given[a.Name] })
	return nil
}

// Configure writes the block of a stored plugin into the user's configuration,
// and before that its entry into the lock: a daemon that runs finds both. Where
// it cannot, neither stays, nor what Store copied.
func (f *Files) Configure(in *Installation) error {
	entry := config.LockOf(in.Manifest, in.Digest, in.Script)
	was, err := f.pin(in.Label, &entry)
	if err != nil {
		return errors.Join(err, f.Discard(*in))
	}
	if _, err := config.SetPlugin(f.Path, in.edit); err != nil {
		_, undone := f.pin(in.Label, was)
		return errors.Join(err, undone, f.Discard(*in))
	}
	in.Config, in.Note = f.Path, f.afterwards()
	b, _, _ := f.labelled(in.Label)
	switch skills := strings.Join(in.Manifest.Skills, ", "); {
	case in.Note != "":
	case slices.Contains(in.Manifest.Kinds, plugin.KindChannel):
		in.Note = "nobody can write to its channel until a block says who may: write person \"" + in.Label + "/ID\" {} with what its service calls them"
	case skills != "" && in.Files > 0:
		in.Note = "a model is told of " + skills + " when a folder with the SKILL.md lies among your skills: copy it from " + in.Path
	case skills != "":
		in.Note = "a model is told of " + skills + " when a folder with the SKILL.md lies among your skills; a plugin of one file brings none along"
	case len(in.Manifest.Agents) > 0 && len(b.Agents) == 0:
		in.Note = "its agents can be chosen when its block takes them: write those that you want into it, such as agents = [\"" + in.Manifest.Agents[0].Name + "\"]"
	}
	return nil
}

// afterwards says what is wrong with the configuration since it was edited.
func (f *Files) afterwards() string {
	if err := f.Check(); err != nil {
		return "the configuration cannot be used like this, mend it:\n" + f.Redact(err.Error())
	}
	return ""
}

// Discard takes a plugin out of the store again, unless it was there before or
// is in use.
func (f *Files) Discard(in Installation) error {
	if !in.Fresh {
		return nil
	}
	_, err := f.drop(in.Path, "")
	return err
}

// drop removes a file from the store that no block but that of a label names, and
// what is kept of it.
func (f *Files) drop(file, label string) (gone bool, err error) {
	digest := f.Inspector.digestOf(file)
	used := func(b config.Plugin) bool { return b.Label != label && f.Inspector.digestOf(b.Path) == digest }
	if slices.ContainsFunc(f.blocks(), used) {
		return false, nil
	}
	f.Inspector.forget(file)
	return true, f.Inspector.remove(digest)
}
