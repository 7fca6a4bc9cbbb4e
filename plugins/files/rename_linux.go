package main

import "golang.org/x/sys/unix"

// renameNew renames to a name that must not be taken: rename(2), RENAME_NOREPLACE.
func renameNew(from int, base string, to int, name string) error {
	return unix.Renameat2(from, base, to, name, unix.RENAME_NOREPLACE)
}
