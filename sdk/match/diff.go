package match

import "github.com/aymanbagabas/go-udiff"

// Diff returns the unified diff of two versions of the file at path, with three
// lines around each change, or "" when they are the same. The headers name
// a/path and b/path, as git's do.
func Diff(path, before, after string) string {
	return udiff.Unified("a/"+path, "b/"+path, before, after)
}
