//go:build !linux || (!amd64 && !arm64)

package reader

import (
	"errors"
	"fmt"
	"syscall"
)

// wall bounds what the process can use; no kernel but Linux keeps it from files and the network.
func wall() error {
	rest()
	limit := syscall.Rlimit{Cur: Memory, Max: Memory}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("the memory of a reader cannot be bounded: %w", err)
	}
	return fmt.Errorf("walls of a reader: %w", errors.ErrUnsupported)
}

// Walled reports whether the kernel can keep a reader from more than that.
func Walled() bool { return false }
