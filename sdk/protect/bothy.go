package protect

import (
	"os"
	"path/filepath"
	"slices"
)

// BothyPaths are the paths of Bothy itself, given the folder of its data and the
// one that it is installed in: what is written there would run on the host.
func BothyPaths(data, prefix string) []string {
	paths := []string{
		data, filepath.Join(prefix, "libexec", "bothy"), filepath.Join(prefix, "share", "bothy"),
		filepath.Join(prefix, "bin", "bothy"), filepath.Join(prefix, "bin", "bothyd"),
	}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "bothy"))
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// Own are those of Bothy's own paths that lie in a project, relative to it. Where
// the project lies in one of them itself, that is the holder, and nothing in the
// project may be changed; but the folder of a private run, which lies among the daemon's data, is that run's.
func (r Rules) Own(project string) (paths []string, holder string) {
	for _, own := range r.Bothy {
		for _, base := range both(project) {
			for _, path := range both(own) {
				if at, ok := local(path, base); ok {
					if ofRun, _ := filepath.Match("runs/*/workspace", at); ofRun {
						continue
					}
					return nil, path
				}
				if rel, ok := local(base, path); ok {
					paths = append(paths, rel)
				}
			}
		}
	}
	return paths, ""
}

// local is a path relative to a folder, if it is the folder or lies in it.
func local(folder, path string) (string, bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
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
