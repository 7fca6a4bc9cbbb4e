package sandbox

import (
	"fmt"
	"path/filepath"
)

// bothyPaths are those of Bothy's own paths that lie below a project, relative to
// it. A project that lies in one of them is an error.
func bothyPaths(project string, own []string) ([]string, error) {
	var paths []string
	for _, path := range own {
		for _, base := range both(project) {
			for _, path := range both(path) {
				if within(path, base) {
					return nil, invalid(fmt.Sprintf("the project %s lies in %s, which is Bothy's own: choose another project", project, path))
				}
				if within(base, path) {
					rel, err := filepath.Rel(base, path)
					if err != nil {
						return nil, failed("compare the project with "+path, err)
					}
					paths = append(paths, rel)
				}
			}
		}
	}
	return paths, nil
}

// within says whether a path is a folder or lies in it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// both are a path as it is written and as it is without links, as far as it is
// there.
func both(path string) []string {
	path = filepath.Clean(path)
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		real, err := filepath.EvalSymlinks(at)
		if err != nil && at != filepath.Dir(at) {
			continue
		}
		if real = filepath.Join(real, rest); err == nil && real != path {
			return []string{path, real}
		}
		return []string{path}
	}
}
