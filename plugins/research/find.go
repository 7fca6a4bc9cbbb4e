package main

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// find returns the files to read, the most promising first: those of the
// places that the input names, else those in which words of the question stand.
func (w *work) find(ctx context.Context, where []string) ([]string, error) {
	var paths []string
	for _, place := range where {
		more, err := w.expand(ctx, place)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	if len(where) == 0 {
		var err error
		if paths, err = w.search(ctx); err != nil {
			return nil, err
		}
	}
	paths = unique(paths)
	if len(paths) > w.limits.MaxFiles {
		for _, p := range paths[w.limits.MaxFiles:min(len(paths), w.limits.MaxFiles+mostNamed)] {
			w.skip(p, "more files than are read for one question")
		}
		paths = paths[:w.limits.MaxFiles]
	}
	if asks := w.limits.MaxCalls - 1; len(paths) > asks {
		paths = paths[:asks] // each file costs at least one call
	}
	return paths, nil
}

// mostNamed is how many files that were left out are named.
const mostNamed = 20

// expand makes files of a glob, a folder or a file.
func (w *work) expand(ctx context.Context, place string) ([]string, error) {
	arguments := map[string]any{"pattern": place}
	if !strings.ContainsAny(place, "*?[{") {
		arguments = map[string]any{"pattern": "**/*", "path": strings.TrimSuffix(place, "/")}
	}
	r, err := host.Use(ctx, "find_files", arguments)
	if ofThisOne(err) {
		w.refuse = err
		w.skip(place, err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !r.Success {
		if arguments["path"] != nil {
			return []string{place}, nil // no folder: the file itself, and reading it says what is wrong with it
		}
		w.skip(place, r.Error)
		return nil, nil
	}
	var data struct {
		Paths []string `json:"paths"`
	}
	if err := json.Unmarshal(r.Structured, &data); err != nil {
		return nil, sdk.Errorf(sdk.Internal, "the tool find_files answered what cannot be read: %w", err)
	}
	if len(data.Paths) == 0 {
		w.skip(place, "there is no such file")
	}
	return data.Paths, nil
}

// match is a line that grep found.
type match struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// search ranks files by how many words of the question stand in them, then by
// how often.
func (w *work) search(ctx context.Context) ([]string, error) {
	words := terms(w.Question)
	if len(words) == 0 {
		return nil, nil
	}
	type file struct {
		path  string
		words map[string]bool
		lines int
	}
	byPath := map[string]*file{}
	var files []*file
	for _, word := range words { // one at a time: a frequent word must not crowd out a rare one
		r, err := host.Use(ctx, "grep", map[string]any{"pattern": regexp.QuoteMeta(word), "ignore_case": true, "limit": 300})
		if err != nil {
			return nil, err
		}
		var data struct {
			Matches []match `json:"matches"`
		}
		if !r.Success || json.Unmarshal(r.Structured, &data) != nil {
			continue
		}
		for _, m := range data.Matches {
			f := byPath[m.Path]
			if f == nil {
				f = &file{path: m.Path, words: map[string]bool{}}
				byPath[m.Path], files = f, append(files, f)
			}
			f.words[word], f.lines = true, f.lines+1
		}
	}
	slices.SortStableFunc(files, func(a, b *file) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), cmp.Compare(b.lines, a.lines), cmp.Compare(a.path, b.path))
	})
	var paths []string
	for _, f := range files[:min(len(files), w.limits.MaxFiles)] {
		paths = append(paths, f.path)
	}
	return paths, nil
}

func (w *work) skip(path, reason string) {
	w.Skipped = append(w.Skipped, skipped{Path: path, Reason: reason})
}

func unique(paths []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range paths {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}
