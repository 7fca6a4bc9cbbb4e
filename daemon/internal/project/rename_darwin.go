package project

import "golang.org/x/sys/unix"

func renameExclusive(from int, base string, to int, name string) error {
	return unix.RenameatxNp(from, base, to, name, unix.RENAME_EXCL)
}
