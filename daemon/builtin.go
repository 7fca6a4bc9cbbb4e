package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// catalogues is what use_skill needs of the skills on disk.
type catalogues interface {
	Catalogue(ctx context.Context, project string) (*skill.Catalogue, error)
}

// builtins is package builtin in the words of the engine.
type builtins struct{ skills *builtin.Skills }

var _ engine.Builtin = builtins{}

// newBuiltins gives the own tools their parts. trusted says whether a
// workspace's skill may be what its folder is now.
func newBuiltins(d *Daemon, library catalogues, trusted func(project, name, hash string) bool) builtins {
	pin := pinner{trusted}
	return builtins{builtin.New(builtin.Config{
		Catalogue: func(ctx context.Context, project string) (builtin.Catalogue, error) {
			c, err := library.Catalogue(ctx, project)
			if err != nil {
				return nil, err
			}
			return offered{c, d.current().Skills.Budget}, nil
		},
		Entries: d.store,
		Pin:     pin.pin,
		Kept:    pin.kept,
		Missing: lacking,
		Execute: func(ctx context.Context, plugin string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error) {
			return d.plugins.Execute(ctx, plugin, call, out)
		},
		Network: openings{d},
	})}
}

func (b builtins) place(t engine.Taking) builtin.Place {
	return builtin.Place{
		Project: t.Project.Root, Run: t.Run, RunDir: t.RunDir, Loop: t.Loop, Model: t.Model, Tools: t.Tools, Context: t.Context, Admits: t.Admits,
	}
}

// Own implements engine.Builtin.
func (b builtins) Own(ctx context.Context, t engine.Taking) (engine.Own, error) {
	turn, err := b.skills.Take(ctx, b.place(t))
	if err != nil {
		return nil, err
	}
	return ownTools{turn}, nil
}

// tools are the own tools of a person who makes a call without a project; none
// when they cannot be had.
func (b builtins) tools(ctx context.Context) []sdk.Tool {
	if b.skills == nil {
		return nil
	}
	turn, err := b.skills.Take(ctx, builtin.Place{})
	if err != nil {
		return nil
	}
	return turn.Tools()
}

// Typed implements engine.Builtin.
func (b builtins) Typed(ctx context.Context, t engine.Taking, prompt string) (engine.Typed, error) {
	typed, err := b.skills.Typed(ctx, b.place(t), prompt)
	if typed == nil || err != nil {
		return nil, err
	}
	return typed, nil
}

// ownTools are the own tools of one turn.
type ownTools struct{ turn *builtin.Turn }

// Tools implements engine.Own.
func (o ownTools) Tools() []sdk.Tool { return o.turn.Tools() }

// System implements engine.Own.
func (o ownTools) System() string { return o.turn.System() }

// Once implements engine.Own.
func (o ownTools) Once(ctx context.Context, tool string, arguments json.RawMessage) bool {
	return tool != builtin.OpenNetwork && o.turn.Once(ctx, arguments)
}

// Invoke implements engine.Own.
func (o ownTools) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	return o.turn.Invoke(ctx, call, out)
}

// offered is a catalogue as package builtin knows it.
type offered struct {
	*skill.Catalogue
	percent float64 // of a model's context, for the list
}

// Find implements builtin.Catalogue.
func (o offered) Find(name string) (builtin.Skill, bool) {
	d, ok := o.Catalogue.Find(name)
	if !ok {
		return builtin.Skill{}, false
	}
	return builtin.Skill{Skill: d.Skill, Body: d.Body}, true
}

// Named implements builtin.Catalogue.
func (o offered) Named(name string) []sdk.Skill {
	var all []sdk.Skill
	for _, d := range o.Catalogue.Named(name) {
		all = append(all, d.Skill)
	}
	return all
}

// Names implements builtin.Catalogue.
func (o offered) Names() []string {
	var names []string
	for _, d := range o.Usable() {
		names = append(names, d.Name)
	}
	return names
}

// List implements builtin.Catalogue.
func (o offered) List(context int, prompt string) builtin.Listing {
	l := skill.List(o.Catalogue, skill.Budget(o.percent, context), prompt)
	return builtin.Listing{Text: l.Text, Shown: l.Shown, Left: len(l.Left)}
}

// lacking are the names of tools_required for which nothing is offered, by
// whichever agent's name they are called.
func lacking(required []string, tools []sdk.Tool) []string {
	var missing []string
	for _, element := range required {
		bare, _, _ := strings.Cut(element, "(")
		names := append(skill.Tools(element), strings.TrimSpace(bare))
		if !slices.ContainsFunc(tools, func(t sdk.Tool) bool {
			return slices.Contains(names, t.Name) || slices.Contains(names, t.Plugin+"__"+t.Name)
		}) {
			missing = append(missing, element)
		}
	}
	return missing
}

// pinner copies skills' folders into runs'.
type pinner struct {
	trusted func(project, name, hash string) bool
}

// pin takes the place of what is there: without an entry that tells of it, a
// copy is what a dead daemon left. The folder of a workspace's skill is copied
// only as it was trusted.
func (p pinner) pin(ctx context.Context, project string, s builtin.Skill, runDir string) (builtin.Pinned, error) {
	want := ""
	if s.Tier == sdk.TierWorkspace {
		hash, err := skill.FolderHash(s.Folder)
		if err != nil {
			return builtin.Pinned{}, err
		}
		if want = hash; !p.trusted(project, s.Name, hash) {
			return builtin.Pinned{}, sdk.Errorf(sdk.Permission, "the files of the skill %s are not what was trusted; a person can look at them and trust them with `bothy trust`", s.Name)
		}
	}
	if err := removePin(runDir, s.Name); err != nil {
		return builtin.Pinned{}, err
	}
	pinned, err := skill.Pin(ctx, &skill.Document{Skill: s.Skill, Body: s.Body}, runDir, want)
	return builtin.Pinned(pinned), err
}

// removePin removes a run's copy of a skill.
func removePin(runDir, name string) error {
	root, err := os.OpenRoot(filepath.Join(runDir, "skills"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(root.RemoveAll(name), root.Close())
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "remove what is left of the skill %s in the run's folder: %w", name, err)
	}
	return nil
}

// kept describes the copy that a run has.
func (pinner) kept(ctx context.Context, name, runDir string) (builtin.Pinned, bool) {
	if !filepath.IsLocal(name) {
		return builtin.Pinned{}, false
	}
	if _, err := os.Stat(filepath.Join(runDir, "skills", name)); err != nil {
		return builtin.Pinned{}, false
	}
	pinned, err := skill.Pin(ctx, &skill.Document{Skill: sdk.Skill{Name: name}}, runDir, "")
	return builtin.Pinned(pinned), err == nil
}

// forkSkills gives a fork its own copies of what its parent had loaded. What
// cannot be copied is made anew when it is used again, if it still can be.
func (d *Daemon) forkSkills(ctx context.Context, event sdk.RunEvent) error {
	if event.Run.Parent == 0 {
		return nil
	}
	parent, err := d.store.Run(ctx, event.Run.Parent)
	if err != nil {
		return err
	}
	entries, err := d.store.Entries(ctx, event.Run.ID, "skill://*")
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		name := strings.TrimPrefix(e.Path, "skill://")
		folder := filepath.Join(filepath.Dir(event.RunDir), parent.Key, "skills", name)
		if _, err := os.Stat(folder); err != nil || !filepath.IsLocal(name) {
			continue
		}
		_, err := skill.Pin(ctx, &skill.Document{Skill: sdk.Skill{Name: name, Folder: folder, Path: filepath.Join(folder, "SKILL.md")}}, event.RunDir, "")
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
