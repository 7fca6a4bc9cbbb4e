package confine

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// SendSpec writes a Spec to a file that has no name, to be inherited as SpecFD.
func SendSpec(spec Spec) (*os.File, error) {
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("bounds", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("hand over what a plugin is allowed: %w", err)
	}
	f := os.NewFile(uintptr(fd), "bounds")
	if _, err = f.Write(b); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close() // it is not used
		return nil, fmt.Errorf("hand over what a plugin is allowed: %w", err)
	}
	return f, nil
}
