package sdk

import (
	"os"
	"path/filepath"
)

// ProjectOf is the project of a folder: the nearest one upwards with .bothy or .git, else the
// folder itself, without links. Home and / are no projects, since agents write into theirs: it
// is false there, where no prompt is taken.
func ProjectOf(dir, home string) (root string, is bool) {
	dir, home = withoutLinks(dir), withoutLinks(home)
	for at := dir; at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		for _, mark := range []string{".bothy", ".git"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at, true
			}
		}
	}
	return dir, dir != home && dir != filepath.Dir(dir)
}

// withoutLinks is the real path of a file, or the path itself when it has none.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
