package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
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

// connectIn is project, and connect.
func (c *console) connectIn(ctx context.Context, named string) (project string, cl *client.Client, err error) {
	if project, err = c.project(named); err != nil {
		return "", nil, err
	}
	cl, err = c.connect(ctx)
	return project, cl, err
}

// newFile is the path of a file that is to be written. One that is there already is a mistake, unless the person said force.
func (c *console) newFile(named string, force bool) (string, error) {
	path := c.path(named)
	if _, err := os.Lstat(path); err == nil && !force {
		return "", usageError{fmt.Sprintf("%s is there already: name another file, or say --force", path)}
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
