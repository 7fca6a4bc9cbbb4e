package sdk

import (
	"os"
	"path/filepath"
)

// ProjectOf is the project of a folder: the nearest one upwards with .bothy or .git, else the
// folder itself, without links. Home and / are no projects, since agents write into theirs: it
// is false there, where no prompt is taken.
func ProjectOf(dir, home string) (root string, is bool) {
	dir, home = WithoutLinks(dir), WithoutLinks(home)
	for at := dir; at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		for _, mark := range []string{".bothy", ".git"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at, true
			}
		}
	}
	return dir, dir != home && dir != filepath.Dir(dir)
}

// WithoutLinks is the real path of a file or folder. One that is not there, or cannot be
// reached, is as it is written, in its shortest form.
func WithoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
