//go:build !linux

package confine

import "errors"

// Become is not possible here.
func Become() error { return errors.New("only Linux can confine a process") }
