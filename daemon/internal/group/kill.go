//go:build unix

package group

import (
	"errors"
	"syscall"
)

func kill(id int) error {
	if err := syscall.Kill(-id, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
