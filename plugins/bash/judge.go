package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/protect"
)

// judge rules on what commands changed by the one list of protected paths.
type judge struct {
	rules      protect.Rules
	configured *configured
	// undo is how many bytes of former contents the store keeps; zero is no bound.
	undo int64
}

// configured is what is protected in projects beside what is by itself. It comes with each call, since a project's own
// file takes part, and what its run has read; the last one counts.
type configured struct{ runs, projects sync.Map }

// heard takes over what a call says of its run and of its project.
func (c *configured) heard(call sdk.Invocation) {
	c.runs.Store(call.Run, call.Protection)
	c.projects.Store(call.Project, call.Protection)
}

// forget lets go of what is known of a run.
func (c *configured) forget(run string) { c.runs.Delete(run) }

// in is what was last said in a run, else of its project; nothing before any call.
func (c *configured) in(run, project string) sdk.Protection {
	p, known := c.runs.Load(run)
	if !known {
		p, _ = c.projects.Load(project)
	}
	protection, _ := p.(sdk.Protection)
	return protection
}

// mostRead is how much of a changed file is read to rule on it: what git or an
// editor obeys is small.
const mostRead = 1 << 20

// Rule implements sandbox.Judge.
func (j judge) Rule(run, project string, writes []string, changes []sandbox.Change, readers sandbox.Readers) []sandbox.Ruling {
	all := make([]protect.Change, len(changes))
	for i, c := range changes {
		all[i] = protect.Change{
			Path: c.Path, Was: protect.Kind(c.Was.Kind), Is: protect.Kind(c.Is.Kind), Whole: c.Whole,
			Read:       func() ([]byte, error) { return readers.After(c.Path, mostRead) },
			ReadBefore: func() ([]byte, error) { return readers.Before(c.Path, mostRead) },
		}
	}
	rules, set := j.rules, j.configured.in(run, project)
	rules.Refuse, rules.Ask, rules.Free = set.Refuse, set.Ask, set.Free
	found := rules.Changes(project, all)
	rulings := make([]sandbox.Ruling, len(changes))
	for i, f := range found {
		rulings[i] = ruling(f)
		if isSample(changes[i]) && f.Class == protect.Refused {
			rulings[i].Class = sandbox.Dropped
		}
		if rulings[i].Class == sandbox.Asked && !utf8.ValidString(changes[i].Path) {
			rulings[i] = sandbox.Ruling{Class: sandbox.Refused, Reason: rulings[i].Reason + ", and nobody can be asked about a name that is not UTF-8"}
		}
		rulings[i].Spare = refreshes(changes[i], readers)
		if reason := lossy(changes[i]); reason != "" && rulings[i].Class == sandbox.Free {
			rulings[i] = sandbox.Ruling{Class: sandbox.Asked, Reason: reason}
		}
	}
	outside(writes, changes, rulings)
	j.beyondUndo(changes, rulings)
	return rulings
}

// onlyGiven begins the reason of what is refused since the run was not given it.
const onlyGiven = "this run was given only "

// outside refuses what is not among the paths that the run may change. A new folder in which some of them may lie is
// made, and what is in it looked at by itself; one that goes takes all in it along.
func outside(writes []string, changes []sandbox.Change, rulings []sandbox.Ruling) {
	if len(writes) == 0 {
		return
	}
	may, err := match.ParsePaths(writes)
	for i, c := range changes {
		given := may.Has(c.Path)
		switch wasDir := c.Was.Kind == sandbox.NodeDirectory; {
		case wasDir && (c.Is.Kind != sandbox.NodeDirectory || c.Whole):
			given = may.HasAll(c.Path)
		case !wasDir && c.Was.Kind == "" && c.Is.Kind == sandbox.NodeDirectory:
			given = given || may.MayHaveBelow(c.Path)
		}
		switch {
		case rulings[i].Class == sandbox.Dropped, err == nil && given:
		case rulings[i].Spare && rulings[i].Class == sandbox.Free:
			rulings[i].Class = sandbox.Dropped
		default:
			rulings[i] = sandbox.Ruling{Class: sandbox.Refused, Reason: onlyGiven + strings.Join(writes, ", ") + " to change"}
		}
	}
}

// lossy is why a change cannot be taken back as if it had never been; empty of most.
func lossy(c sandbox.Change) string {
	switch {
	case c.Busy:
		return "a program of this machine has it open to write, and would go on with what is taken away"
	case c.Was.Kind == sandbox.NodeOther:
		return "undo could not give back a socket, a pipe or a device"
	}
	return ""
}

// beyondUndo asks about the largest of the changes that are free where all of them
// together replace or remove more than undo can give back.
func (j judge) beyondUndo(changes []sandbox.Change, rulings []sandbox.Ruling) {
	if j.undo <= 0 {
		return
	}
	var total int64
	var free []int
	for i, c := range changes {
		if rulings[i].Class == sandbox.Free && c.Bytes > 0 {
			total += c.Bytes
			free = append(free, i)
		}
	}
	slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(changes[b].Bytes, changes[a].Bytes) })
	for _, i := range free {
		if total <= j.undo {
			return
		}
		total -= changes[i].Bytes
		rulings[i] = sandbox.Ruling{Class: sandbox.Asked, Reason: fmt.Sprintf(
			"%s that undo could not give back: the command replaces or removes more than store.undo_size (%s) keeps", inMB(changes[i].Bytes), inMB(j.undo))}
	}
}

// inMB is a number of bytes for people.
func inMB(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB" }

func ruling(f protect.Finding) sandbox.Ruling {
	switch f.Class {
	case protect.Refused:
		return sandbox.Ruling{Class: sandbox.Refused, Reason: f.Name + ": " + f.Reason}
	case protect.Asked:
		return sandbox.Ruling{Class: sandbox.Asked, Reason: f.Name + ": " + f.Reason}
	}
	return sandbox.Ruling{}
}

// isSample says whether a change is one of the examples of hooks that git puts into
// each new repository: nothing runs them, and nobody misses them.
func isSample(c sandbox.Change) bool {
	dir, name := path.Split(c.Path)
	return c.Was.Kind == "" && c.Is.Kind == sandbox.NodeFile && path.Base(dir) == "hooks" && strings.HasSuffix(name, ".sample")
}
