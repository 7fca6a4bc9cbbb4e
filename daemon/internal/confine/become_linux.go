package confine

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Become reads the Spec, bounds this process by it and executes the plugin in
// its place: process, group and parent stay the same. It returns only when it
// could not. Its goroutine must be locked to the first thread.
func Become() error {
	spec, err := inherited()
	if err != nil {
		return err
	}
	return become(spec)
}

func inherited() (Spec, error) {
	var spec Spec
	f := os.NewFile(SpecFD, "spec")
	b, err := io.ReadAll(f)
	if err != nil {
		return spec, fmt.Errorf("read what is allowed: %w", err)
	}
	if err := f.Close(); err != nil {
		return spec, err
	}
	if err := json.Unmarshal(b, &spec); err != nil {
		return spec, fmt.Errorf("read what is allowed: %w", err)
	}
	return spec, nil
}

// become ends in the plugin. The descriptor stays open in it: the interpreter
// of a script reads the script from there.
func become(spec Spec) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("this kernel cannot keep a process from new privileges: %w", err)
	}
	return syscall.Exec(fmt.Sprintf("/proc/self/fd/%d", BinaryFD), spec.Args, spec.Env)
}
