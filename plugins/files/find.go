package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// findArgs are the arguments of find_files.
type findArgs struct {
	Pattern string `json:"pattern" jsonschema:"a glob over paths relative to the folder: * and ? within one name, ** over folders, {a,b}, [a-z]; such as **/*.go"`
	Path    string `json:"path,omitempty" jsonschema:"the folder to look in, relative to the project; left out, the project itself"`
	Limit   *int   `json:"limit,omitempty" jsonschema:"how many paths to show, 500 unless given, at most 5000"`
}

// findData is what find_files found. More is how many are not in Paths.
type findData struct {
	Paths      []string `json:"paths"`
	Total      int      `json:"total"`
	More       int      `json:"more"`
	Unreadable []string `json:"unreadable,omitempty"`
}

// find shows the files whose path fits a glob, in the order of names, folder by
// folder. Folders are not among them, and .git is left out.
func (p *project) find(ctx context.Context, a findArgs) (answer, error) {
	glob, err := parseGlob(a.Pattern)
	if err != nil {
		return answer{}, err
	}
	t, err := p.tree(a.Path)
	if err != nil {
		return answer{}, err
	}
	defer t.close()

	data := findData{Paths: []string{}}
	most := limit(a.Limit, usualEntries, mostEntries)
	size := 0
	t.deep = true
	t.visit = func(e entry) error {
		if e.mode.IsDir() || !glob.Match(relative(e.path, t.path)) {
			return nil
		}
		data.Total++
		if len(data.Paths) < most && size <= shownBytes {
			data.Paths = append(data.Paths, e.path)
			size += len(e.path)
		}
		return nil
	}
	if err := t.walk(ctx, "search"); err != nil {
		return answer{}, err
	}
	data.More, data.Unreadable = data.Total-len(data.Paths), t.unreadable

	var text strings.Builder
	for _, path := range data.Paths {
		text.WriteString(shown(path) + "\n")
	}
	switch {
	case data.More > 0:
		fmt.Fprintf(&text, "[%d more of %d; make the pattern narrower]\n", data.More, data.Total)
	case data.Total == 0 && !glob.HasSlash():
		fmt.Fprintf(&text, "no file in %s fits %s; to look in the folders below as well, use **/%s\n", shown(t.path), a.Pattern, a.Pattern)
	case data.Total == 0:
		fmt.Fprintf(&text, "no file below %s fits %s\n", shown(t.path), a.Pattern)
	}
	text.WriteString(t.notes())
	return answer{text: text.String(), data: data, truncated: data.More > 0 || t.incomplete}, nil
}

func parseGlob(pattern string) (match.Glob, error) {
	glob, err := match.ParseGlob(strings.TrimPrefix(pattern, "./"))
	if err != nil {
		return glob, sdk.Errorf(sdk.Validation, "%w", err)
	}
	return glob, nil
}

// relative is a path as seen from a folder above it.
func relative(path, folder string) string {
	if folder == "." {
		return path
	}
	return strings.TrimPrefix(path, folder+"/")
}

// filterOf says which entries of a folder a glob wants, and whether it speaks of what lies
// in the folders below. An empty one wants all.
func filterOf(source string) (wanted func(e entry, folder string) bool, deep bool, err error) {
	if source == "" {
		return func(entry, string) bool { return true }, false, nil
	}
	glob, err := parseGlob(source)
	if err != nil {
		return nil, false, err
	}
	return func(e entry, folder string) bool { return fits(glob, e, folder) }, glob.HasSlash(), nil
}
