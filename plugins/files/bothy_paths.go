package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// bothyPaths are the paths of Bothy itself, in case a project holds them: what is
// written there would run on the host. plugins/bash has the same.
func bothyPaths(s sdk.Settings) []string {
	paths := []string{
		s.DataDir, filepath.Join(s.Prefix, "libexec", "bothy"), filepath.Join(s.Prefix, "share", "bothy"),
		filepath.Join(s.Prefix, "bin", "bothy"), filepath.Join(s.Prefix, "bin", "bothyd"),
	}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "bothy"))
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// bothyNames are those of Bothy's paths that lie in the project, relative to it.
// Nothing can be changed in a project that lies in one of Bothy's paths.
func (p *project) bothyNames() ([]string, error) {
	var names []string
	for _, own := range p.bothyPaths {
		for _, dir := range both(p.dir) {
			for _, path := range both(own) {
				if rel, err := filepath.Rel(path, dir); err == nil && filepath.IsLocal(rel) {
					return nil, sdk.Errorf(sdk.Permission, "the project lies in %s, which is Bothy's own and protected: nothing in it can be changed", shown(path))
				}
				if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
					names = append(names, filepath.ToSlash(rel))
				}
			}
		}
	}
	return names, nil
}

// both are a path as it is written and, when that differs, without links.
func both(path string) []string {
	if to, err := filepath.EvalSymlinks(path); err == nil && to != filepath.Clean(path) {
		return []string{filepath.Clean(path), to}
	}
	return []string{filepath.Clean(path)}
}
