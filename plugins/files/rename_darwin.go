package main

import "golang.org/x/sys/unix"

// renameNew renames to a name that must not be taken: renamex_np(2), RENAME_EXCL.
func renameNew(from int, base string, to int, name string) error {
	return unix.RenameatxNp(from, base, to, name, unix.RENAME_EXCL)
}
