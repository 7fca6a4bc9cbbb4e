package inspect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Opening is what an installed plugin is to have beyond its own folder.
type Opening struct {
	Network    bool
	Paths      []string // to read and write
	ReadPaths  []string // to read and execute
	BestEffort bool     // it runs also where this kernel cannot hold it to all of that
	Unconfined bool     // the kernel holds it to nothing
}

// checked refuses an opening that contradicts itself. What it returns has no relative
// paths: those of a block are the configuration's.
func (o Opening) checked() (Opening, error) {
	if o.Unconfined && o.Flags() != "--unconfined" {
		return o, sdk.Errorf(sdk.Validation, "an unconfined plugin has the network and every path: give --unconfined alone")
	}
	dir, err := os.Getwd()
	for _, list := range []*[]string{&o.Paths, &o.ReadPaths} {
		*list = slices.Clone(*list)
		for n, p := range *list {
			if !strings.HasPrefix(p, "~/") {
				(*list)[n] = config.Resolve(dir, filepath.Clean(p))
			}
		}
	}
	return o, err
}

// openingOf is what a block opens.
func openingOf(c *config.Confine) Opening {
	if c == nil {
		return Opening{Unconfined: true}
	}
	return Opening{Network: c.Network, Paths: c.Paths, ReadPaths: c.ReadPaths, BestEffort: c.BestEffort}
}

// Wanted are the openings that a stored plugin says it needs and has not, one question
// each, and that it runs where this kernel lacks something; With gives it what was agreed
// to. Nothing is wanted for a block that is there already: its confine stays as it is.
func (in *Installation) Wanted() []Opening {
	needs, has := in.Manifest.Needs, in.Opening
	switch {
	case in.Kept || has.Unconfined:
		return nil
	case needs.Unconfined != "":
		return []Opening{{Unconfined: true}}
	}
	return slices.DeleteFunc([]Opening{
		{Network: needs.Network && !has.Network},
		{Paths: notOpen(needs.Paths, has.Paths)},
		{ReadPaths: notOpen(needs.ReadPaths, has.ReadPaths)},
		{BestEffort: len(in.Unheld) > 0 && !has.BestEffort},
	}, func(o Opening) bool { return o.Flags() == "" })
}

// notOpen are the paths that do not lie at or below one that is open, however either
// was written: a shell makes the home of ~/.
func notOpen(paths, open []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(x string) bool {
		return slices.ContainsFunc(open, func(o string) bool {
			below, err := filepath.Rel(config.Resolve("/", o), config.Resolve("/", x))
			return err == nil && filepath.IsLocal(below)
		})
	})
}

// With opens more to a plugin that is about to be configured.
func (in *Installation) With(more Opening) {
	o := &in.Opening
	if more.Unconfined {
		*o = Opening{Unconfined: true}
	}
	o.Network, o.BestEffort = o.Network || more.Network, o.BestEffort || more.BestEffort
	o.Paths, o.ReadPaths = append(o.Paths, more.Paths...), append(o.ReadPaths, more.ReadPaths...)
	in.edit.Confine = o.confine()
	in.Block = in.edit.Text()
}

// confine is the block that an opening makes; nil for none.
func (o Opening) confine() *config.Confine {
	if o.Unconfined {
		return nil
	}
	return &config.Confine{Network: o.Network, Paths: o.Paths, ReadPaths: o.ReadPaths, BestEffort: o.BestEffort}
}

// String says for people what is open: "the network", "~/notes (read)".
func (o Opening) String() string {
	if o.Unconfined {
		return "everything that you may read and write, and the network: nothing confines it"
	}
	parts := slices.Clone(o.Paths)
	for _, p := range o.ReadPaths {
		parts = append(parts, p+" (read)")
	}
	if o.Network {
		parts = append(parts, "the network")
	}
	if len(parts) == 0 {
		return "nothing: it has a folder of its own, and no network"
	}
	return strings.Join(parts, ", ")
}

// Flags are what a command line says for an opening.
func (o Opening) Flags() string {
	var flags []string
	say := func(flag string, is bool) {
		if is {
			flags = append(flags, flag)
		}
	}
	say("--network", o.Network)
	for _, p := range o.Paths {
		say("--path "+p, true)
	}
	for _, p := range o.ReadPaths {
		say("--read-path "+p, true)
	}
	say("--best-effort", o.BestEffort)
	say("--unconfined", o.Unconfined)
	return strings.Join(flags, " ")
}
