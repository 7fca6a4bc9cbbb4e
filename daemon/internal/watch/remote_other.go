//go:build !linux

package watch

// Remote names the kind of a folder's file system, if others can change it
// without an event here; otherwise it is empty.
func Remote(string) string { return "" }
