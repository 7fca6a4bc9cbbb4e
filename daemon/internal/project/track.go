package project

import (
	"path"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// track follows one thing that was touched, through all its paths.
type track struct {
	was     string // its path at the time that the planner has come to; empty: it was not there
	now     string // its present path; empty: something else is there, or nothing
	name    string // for people: the latest path that it had
	turns   []int
	last    sdk.FileChange
	step    int    // the last that touched it
	acted   bool   // something of it is to be taken back
	blocked string // why it cannot be taken back

	before, after *node // how it was, and how it is now; known at the end

	// Of a planner that shows some of the steps alone: how the thing was before the first of
	// them, and after the last.
	shows       bool
	past, as    string // its paths; empty: it was not there
	since, then *node
}

// show takes note of how the thing is after a step that is shown, before that is taken back.
func (t *track) show(p *planner, s Step) {
	if p.shown == nil || !p.shown(s) || t.shows {
		return
	}
	t.shows, t.as, t.then = true, s.Path, p.overlay.look(s.Path)
}

// showBefore takes note of how it was before such a step, once that is taken back.
func (t *track) showBefore(p *planner, s Step) {
	if p.shown == nil || !p.shown(s) {
		return
	}
	if t.past, t.since = t.was, nil; t.was != "" {
		t.since = p.overlay.look(t.was)
	}
}

// tracks are the things that were touched, found by their paths.
type tracks struct {
	all []*track
	was map[string]*track
	now map[string]*track
}

// of finds what had a path at the time that the planner has come to, or begins
// to follow it.
func (ts *tracks) of(c sdk.FileChange, step int) *track {
	if t := ts.was[c.Path]; t != nil {
		return t
	}
	t := &track{was: c.Path, now: ts.present(c.Path), name: c.Path, last: c, step: step}
	if t.now != "" && ts.past(t.now) != c.Path {
		t.now = ""
	} else if t.now != "" {
		t.name = t.now
	}
	ts.all = append(ts.all, t)
	ts.was[t.was] = t
	if t.now != "" && ts.now[t.now] == nil {
		ts.now[t.now] = t
	}
	return t
}

// present gives a path of the past the one that it has now, through the
// folders that were moved; past does the contrary. Empty is none.
func (ts *tracks) present(at string) string {
	return follow(at, ts.was, func(t *track) string { return t.now })
}

func (ts *tracks) past(at string) string {
	return follow(at, ts.now, func(t *track) string { return t.was })
}

func follow(at string, from map[string]*track, to func(*track) string) string {
	for dir := at; dir != "." && dir != "/"; dir = path.Dir(dir) {
		t := from[dir]
		if t == nil {
			continue
		}
		if to(t) == "" {
			return ""
		}
		return to(t) + strings.TrimPrefix(at, dir)
	}
	return at
}

// moved takes a move back: what is at from was at to, and nothing that is at to
// by now was there yet.
func (ts *tracks) moved(from, to string) {
	for _, t := range ts.all {
		was := t.was
		switch {
		case was == "":
			continue
		case was == to || strings.HasPrefix(was, to+"/"):
			t.was = ""
		case was == from || strings.HasPrefix(was, from+"/"):
			t.was = to + strings.TrimPrefix(was, from)
		}
	}
	clear(ts.was)
	for _, t := range ts.all {
		if t.was != "" {
			ts.was[t.was] = t
		}
	}
}

// turn makes what was of what is, and the contrary.
func (t *track) turn() {
	t.before, t.after = t.after, t.before
	if t.was != "" {
		t.was, t.now, t.name = t.name, t.was, t.was
	} else {
		t.was, t.now = t.name, ""
	}
	c := t.last
	t.last.Before, t.last.After = c.After, c.Before
	if c.From != "" {
		t.last.Path, t.last.From, t.last.Before, t.last.After = c.From, c.Path, nil, c.After
	}
}
