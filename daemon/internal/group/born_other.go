//go:build !linux

package group

// born is not known here: the number of a group has to do.
func born(int) uint64 { return 0 }
