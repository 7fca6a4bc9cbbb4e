package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// heldName is the file in a run's folder in which the bash plugin names the paths
// that commands of the run changed and a person has not agreed to: a JSON array.
const heldName = "held.json"

// mostHeldShown is how many held paths a note names.
const mostHeldShown = 5

// heldPaths are the held paths of a run. Without the file there are none.
func heldPaths(runDir string) []string {
	if !filepath.IsAbs(runDir) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(runDir, heldName))
	if err != nil {
		return nil
	}
	var paths []string
	if json.Unmarshal(text, &paths) != nil {
		return nil
	}
	return paths
}

// checkHeld refuses to change what a command of the run changed, where a person
// has not agreed to that yet: when it is applied, one of the two would be lost.
// Whole says that what is in a folder goes with it.
func checkHeld(held []string, at string, whole bool) error {
	for _, h := range held {
		if protect.Within(at, h) || whole && protect.Within(h, at) {
			return sdk.Errorf(sdk.Conflict, "a command of this run changed %s, and a person has not agreed to that yet, so no other tool changes it; later commands of this run see that change and can go on from it", shown(h))
		}
	}
	return nil
}

// look notes that a place, or something in it, is held: what is read of it is not
// what commands of the run see.
func (p *project) look(pl *place) {
	for _, h := range p.held {
		if (pl.path == "." || protect.Within(pl.path, h) || protect.Within(h, pl.path)) && !slices.Contains(p.looked, h) {
			p.looked = append(p.looked, h)
		}
	}
}

// note is what is said behind a result about held paths that it is about.
func (p *project) note() string {
	if len(p.looked) == 0 {
		return ""
	}
	names := make([]string, 0, mostHeldShown)
	for _, h := range p.looked[:min(len(p.looked), mostHeldShown)] {
		names = append(names, shown(h))
	}
	list := strings.Join(names, ", ")
	if more := len(p.looked) - len(names); more > 0 {
		list += " and " + plural(more, "more path")
	}
	return "[a command of this run changed " + list + ", and a person has not agreed to that yet; this is what the project has]\n"
}
