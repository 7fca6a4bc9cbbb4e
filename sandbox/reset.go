package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Reset does to a run's files what [Manager.Reset] does, when there is no manager
// to ask. No container of the run may be alive.
func Reset(run RunSpec) error {
	if err := run.checkNames(); err != nil {
		return err
	}
	return run.reset()
}

// reset removes a run's home, its private workspace and the list of what waits for an
// answer, which goes with the run's views. The folders are renamed first,
// so that the next command finds a fresh one even when removing takes long.
func (r RunSpec) reset() error {
	root, err := os.OpenRoot(r.RunDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed("open the run's directory", err)
	}
	defer func() { _ = root.Close() }()
	var errs []error
	for _, name := range []string{"home", "workspace"} { // a workspace of before the run had a project too
		away := fmt.Sprintf(".%s-%d", name, time.Now().UnixNano())
		if err := root.Rename(name, away); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			continue
		}
		if err := removeTree(root, away); err != nil {
			errs = append(errs, err)
		}
	}
	if err := root.Remove(heldListName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err) // nothing waits for an answer any more
	}
	if err := errors.Join(errs...); err != nil {
		return failed("remove the run's home", err)
	}
	return nil
}
