package main

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// given are the only paths that the run may change, as globs. Its zero value is all that it may otherwise.
type given struct {
	globs []string
	paths match.Paths // none of them, where the globs cannot be read
}

func givenOf(call sdk.Invocation) given {
	paths, _ := match.ParsePaths(call.Writes) // the daemon has read them
	return given{call.Writes, paths}
}

// check refuses to change a place that is not among them; whole says that what is in a folder goes with it.
func (g given) check(pl *place, whole bool) error {
	if whole && pl.isDir() {
		return g.folder(pl.path)
	}
	return g.may(pl.path, g.paths.Has(pl.path))
}

// folder refuses to change a folder with all that is in it.
func (g given) folder(at string) error { return g.may(at, g.paths.HasAll(at)) }

// above refuses to make a folder in which nothing may lie.
func (g given) above(at string) error { return g.may(at, g.paths.MayHaveBelow(at)) }

func (g given) may(at string, may bool) error {
	if may || len(g.globs) == 0 {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "%s was not given to this run to change, which may change only %s; say in your result what has to change there", shown(at), strings.Join(g.globs, ", "))
}
