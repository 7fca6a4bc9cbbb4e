//go:build !linux

package confine

import (
	"errors"
	"os"
)

// SendSpec is not possible here.
func SendSpec(Spec) (*os.File, error) { return nil, errors.New("only Linux can confine a process") }
