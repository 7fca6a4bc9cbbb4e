package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exec reads the Spec, bounds this process by it and executes the plugin in
// its place: process, group and parent stay the same. It returns only when it
// could not. Its goroutine must be locked to the first thread.
func Exec() error {
	spec, err := inherited()
	if err != nil {
		return err
	}
	return executeAs(spec)
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
func executeAs(spec Spec) error {
	if err := limit(spec); err != nil {
		return err
	}
	// The daemon may have inherited descriptors itself, which it knows nothing of.
	if err := unix.CloseRange(BinaryFD+1, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !spec.BestEffort {
		return fmt.Errorf("this kernel cannot keep open files from a process: %w", err)
	}
	if spec.Apart {
		if err := enter(spec); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("this kernel cannot keep a process from new privileges: %w", err)
	}
	k := Kernel{landlock: landlockVersion(), filters: filters(), roots: spec.Apart}
	if lacks := k.Lacks(); len(lacks) > 0 && !spec.BestEffort {
		return fmt.Errorf("this kernel cannot hold it back from %s", strings.Join(lacks, "; "))
	}
	if k.landlock > 0 {
		if err := restrict(spec, k.landlock); err != nil {
			return err
		}
	}
	if k.filters {
		if err := install(filter(spec.Network, spec.Apart)); err != nil {
			return err
		}
	}
	if err := endWith(spec.Parent); err != nil {
		return err
	}
	err := syscall.Exec(spec.Path, spec.Args, spec.Env)
	return fmt.Errorf("start the plugin: %w (a script's interpreter must lie below /usr, or in read_paths)", err)
}

// limit bounds what the process may take up. It leaves no image of its memory
// behind when it crashes: that would be its secrets, in a file.
func limit(spec Spec) error {
	limits := []struct {
		what int
		most int64
	}{{unix.RLIMIT_DATA, spec.Memory}, {unix.RLIMIT_NOFILE, spec.Files}}
	for _, l := range limits {
		if l.most <= 0 {
			continue
		}
		var have syscall.Rlimit
		if err := syscall.Getrlimit(l.what, &have); err != nil {
			return err
		}
		most := min(uint64(l.most), have.Max)
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit the process: %w", err)
		}
	}
	return syscall.Setrlimit(unix.RLIMIT_CORE, &syscall.Rlimit{})
}

// endWith asks again for the signal that ends the process with its parent: it
// is a thread's, and who started this one may be gone already.
func endWith(parent int) error {
	if parent == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() != parent {
		return errors.New("the daemon has ended")
	}
	return nil
}
