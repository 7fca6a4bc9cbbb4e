package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// The numbers of entries that list_files and find_files show.
const (
	usualEntries = 500
	mostEntries  = 5000
)

// listArgs are the arguments of list_files.
type listArgs struct {
	Path      string `json:"path,omitempty" jsonschema:"the folder, relative to the project; left out, the project itself"`
	Pattern   string `json:"pattern,omitempty" jsonschema:"a glob, to list only what fits: *.go speaks of names, src/**/*.go of paths relative to the folder and looks into the folders below"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"also what lies in the folders below, except in .git"`
	Limit     *int   `json:"limit,omitempty" jsonschema:"how many entries to show, 500 unless given, at most 5000"`
}

// listed is one entry of a folder.
type listed struct {
	Path     string    `json:"path"`
	Kind     string    `json:"kind"` // file, directory, link, fifo, socket or device
	Size     int64     `json:"size"` // bytes of a file
	Target   string    `json:"target,omitempty"`
	Modified time.Time `json:"modified"`
}

// listData is what list_files found.
type listData struct {
	Path       string   `json:"path"`
	Entries    []listed `json:"entries"`
	Total      int      `json:"total"`
	Unreadable []string `json:"unreadable,omitempty"`
}

// list shows what is in a folder, hidden files included, by name.
func (p *project) list(ctx context.Context, a listArgs) (answer, error) {
	wanted, deep, err := filterOf(a.Pattern)
	if err != nil {
		return answer{}, err
	}
	t, err := p.tree(a.Path)
	if err != nil {
		return answer{}, err
	}
	defer t.close()

	data := listData{Path: t.path, Entries: []listed{}}
	most := limit(a.Limit, usualEntries, mostEntries)
	size := 0
	t.deep = a.Recursive || deep
	t.visit = func(e entry) error {
		if !wanted(e, t.path) {
			return nil
		}
		data.Total++
		if len(data.Entries) == most || size > shownBytes {
			return nil
		}
		l, err := describe(e)
		if err != nil {
			data.Total--
			t.failed(e.path, err)
			return nil
		}
		data.Entries = append(data.Entries, l)
		size += len(l.Path) + len(l.Target)
		return nil
	}
	if err := t.walk(ctx, "list"); err != nil {
		return answer{}, err
	}
	data.Unreadable = t.unreadable

	var text strings.Builder
	for _, l := range data.Entries {
		text.WriteString(l.line())
	}
	more := data.Total - len(data.Entries)
	switch {
	case data.Total == 0 && a.Pattern != "":
		fmt.Fprintf(&text, "nothing in %s fits %s\n", shown(t.path), a.Pattern)
	case data.Total == 0:
		fmt.Fprintf(&text, "%s is empty\n", shown(t.path))
	case more > 0:
		fmt.Fprintf(&text, "[%d more of %d; name a folder further down, or use find_files]\n", more, data.Total)
	}
	text.WriteString(t.notes())
	return answer{text: text.String(), data: data, truncated: more > 0 || t.incomplete}, nil
}

func describe(e entry) (listed, error) {
	info, err := e.dir.Lstat(e.name)
	if err != nil {
		return listed{}, err
	}
	l := listed{Path: e.path, Kind: kindOf(info.Mode()), Modified: info.ModTime()}
	switch info.Mode().Type() {
	case 0:
		l.Size = info.Size()
	case fs.ModeSymlink:
		l.Target, err = e.dir.Readlink(e.name)
	}
	return l, err
}

// line shows an entry as ls -F does: folders end in a slash.
func (l listed) line() string {
	switch l.Kind {
	case "directory":
		return shown(l.Path) + "/\n"
	case "file":
		return fmt.Sprintf("%s  %s\n", shown(l.Path), sized(l.Size))
	case "link":
		return fmt.Sprintf("%s -> %s\n", shown(l.Path), shown(l.Target))
	}
	return fmt.Sprintf("%s  (%s)\n", shown(l.Path), l.Kind)
}
