package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk/client/show"
)

// placeArguments are the names of arguments that hold paths of the project.
var placeArguments = []string{"path", "from", "to", "other", "source", "destination", "file", "file_path"}

// lineArguments are the names of arguments that say where in a file.
var lineArguments = []string{"line", "start_line", "from_line", "offset"}

// places are the files that the arguments of a call name, by absolute path.
func places(arguments json.RawMessage, project string) (all []acp.ToolCallLocation) {
	names, values, _ := show.Members(arguments)
	var line *int
	for i, name := range names {
		var path string
		var paths []struct{ Path string }
		var number int
		switch {
		case slices.Contains(placeArguments, name) && json.Unmarshal(values[i], &path) == nil:
			all = addPlace(all, absolute(path, project))
		case name == "paths" && json.Unmarshal(values[i], &paths) == nil:
			for _, p := range paths {
				all = addPlace(all, absolute(p.Path, project))
			}
		case slices.Contains(lineArguments, name) && json.Unmarshal(values[i], &number) == nil && number > 0:
			line = &number
		}
	}
	if len(all) == 1 {
		all[0].Line = line
	}
	return all
}

func addPlace(all []acp.ToolCallLocation, path string) []acp.ToolCallLocation {
	if path == "" || slices.ContainsFunc(all, func(l acp.ToolCallLocation) bool { return l.Path == path }) {
		return all
	}
	return append(all, acp.ToolCallLocation{Path: path})
}

// absolute is a path of the project as the editor knows it; empty where it is none of the project.
func absolute(path, project string) string {
	if inside, is := strings.CutPrefix(path, commandsRoot+"/"); is {
		path = inside
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(project, path)
	}
	if inside, err := filepath.Rel(project, path); err != nil || !filepath.IsLocal(inside) {
		return ""
	}
	return path
}

// commandsRoot is the project's root as commands see it.
const commandsRoot = "/workspace"
