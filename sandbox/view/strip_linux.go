package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// strip takes off what must not reach the project: what the kernel noted for the
// overlay, and what would give a file of the project more than its owner has. In
// a folder also what is neither file, folder nor link.
func strip(f folder, name, kind string) error {
	switch kind {
	case kindLink:
		return nil
	case kindFile, kindDirectory:
	default:
		return refused("%s is neither a file nor a folder nor a link", name)
	}
	attributes, err := f.attributes(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, a := range attributes {
		if !stripped(a) {
			continue
		}
		if err := f.detach(name, a); err != nil && !errors.Is(err, unix.ENODATA) {
			return fmt.Errorf("%s: take off %s: %w", name, a, err)
		}
	}
	if kind == kindDirectory {
		return stripIn(f, name)
	}
	n, err := f.node(name)
	if err != nil || n.Mode&(unix.S_ISUID|unix.S_ISGID) == 0 {
		return err
	}
	return unix.Fchmodat(int(f), name, n.Mode&^(unix.S_ISUID|unix.S_ISGID), 0) // it is a file, and nobody else comes here
}

func stripIn(f folder, name string) error {
	inner, err := f.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer inner.close()
	names, err := inner.entries(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		n, err := inner.node(name)
		if err != nil {
			return err
		}
		if n.Kind == kindOther || n.Kind == kindWhiteout {
			err = unix.Unlinkat(int(inner), name, 0)
		} else {
			err = strip(inner, name, n.Kind)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
