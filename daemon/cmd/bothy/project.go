package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// project is the directory that a call is about: the one named, else the
// nearest folder upwards with .bothy or .git, else the working directory.
// Never / and never the home directory itself unless named: agents write into
// their project.
func (c *console) project(named string) (root string, err error) {
	defer func() { c.at = root }()
	if named != "" {
		return c.namedProject(named)
	}
	dir, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		return "", fmt.Errorf("the working directory: %w", err)
	}
	root, is := sdk.ProjectOf(dir, c.env("HOME"))
	if !is {
		return "", usageError{fmt.Sprintf("%s is no project, and agents would write into it: go to a project's folder, or name one with --project DIR", dir)}
	}
	return root, nil
}

func (c *console) namedProject(named string) (string, error) {
	path, err := filepath.EvalSymlinks(c.path(named))
	if err != nil {
		return "", usageError{fmt.Sprintf("--project %s: %v", named, err)}
	}
	if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
		return "", usageError{fmt.Sprintf("--project %s is no directory", named)}
	}
	return path, nil
}

// path is a path that was named, seen from the working directory.
func (c *console) path(named string) string {
	if filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(c.dir, named)
}
