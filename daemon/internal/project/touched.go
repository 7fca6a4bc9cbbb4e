package project

import (
	"cmp"
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Touched are the files that each prompt of a run changed, by its loop. The disk is not
// looked at: it is what was done, and of it what was taken back.
func (h *History) Touched(ctx context.Context, run int64) (map[int64]rpc.PromptFiles, error) {
	t, err := h.told(ctx, run)
	if err != nil {
		return nil, err
	}
	for i := range t.steps {
		t.steps[i].at = i
	}
	stands := map[int]bool{}
	for _, s := range standing(t.steps).steps {
		stands[s.at] = true
	}
	all := map[int64]rpc.PromptFiles{}
	for _, s := range t.steps {
		if s.Back != 0 || s.Unsure || s.Loop == 0 || s.other {
			continue
		}
		p := all[s.Loop]
		p.Files = touch(p.Files, s, stands[s.at])
		all[s.Loop] = p
	}
	for _, e := range t.untold {
		p := all[e.Loop]
		p.Untold++
		all[e.Loop] = p
	}
	for _, p := range all {
		slices.SortFunc(p.Files, func(a, b rpc.PromptFile) int { return cmp.Compare(a.Path, b.Path) })
	}
	return all, nil
}

// touch adds a step to what a prompt did to its path. What was added and deleted again is
// left out.
func touch(files []rpc.PromptFile, s Step, stands bool) []rpc.PromptFile {
	f := rpc.PromptFile{Path: s.Path, From: s.From, Status: "changed", Undone: !stands}
	switch {
	case s.From != "":
		f.Status = "moved"
	case s.Before == nil:
		f.Status = "added"
	case s.After == nil:
		f.Status = "deleted"
	}
	if of := cmp.Or(s.After, s.Before); of != nil {
		f.Kind = of.Kind
	}
	i := slices.IndexFunc(files, func(x rpc.PromptFile) bool { return x.Path == cmp.Or(s.From, s.Path) })
	if i < 0 {
		f.Turns = []int{s.Turn}
		return append(files, f)
	}
	was := &files[i]
	switch {
	case was.Status == "added" && f.Status == "deleted":
		return slices.Delete(files, i, i+1)
	case was.Status == "added" || was.Status == "moved" && f.Status == "changed":
	case was.Status == "deleted" && f.Status == "added":
		was.Status = "changed"
	case was.Status == "moved" && f.Status == "moved":
	default:
		was.Status, was.From = f.Status, f.From
	}
	was.Path, was.Kind, was.Undone = s.Path, f.Kind, was.Undone && f.Undone
	if !slices.Contains(was.Turns, s.Turn) {
		was.Turns = append(was.Turns, s.Turn)
	}
	return files
}
