//go:build !linux

package confine

import (
	"errors"
	"os"
)

// Hand is not possible here.
func Hand(Spec) (*os.File, error) { return nil, errors.New("only Linux can confine a process") }
