package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
)

// crashName is the file in the data folder to which the runtime writes why the
// process dies, should it die by a mistake of its own: a panic that nobody
// answers for, or a signal such as SIGQUIT.
const crashName = "bothyd.crash"

// crashShown is how much of it the log gets.
const crashShown = 64 << 10

// watchCrash says in the log how the daemon before this one died, if it could
// still tell, and has the runtime write down how this one does. It comes after
// the store, which a second daemon with another socket does not get: nobody
// else uses the file.
func (d *Daemon) watchCrash(context.Context) error {
	path := filepath.Join(d.paths.Data, crashName)
	if text := lastWords(path); text != "" {
		d.cfg.LearnSecrets() // nobody has used one yet, and the text may hold any
		d.log.Error("the daemon before this one died by a mistake of its own", "crash", text)
		d.problem(aboutCrash, "the daemon before this one died by a mistake of its own; `bothy logs --level error` has the stack. What it was working on is taken up")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(debug.SetCrashOutput(f, debug.CrashOptions{}), f.Close())
	}
	if err != nil {
		d.log.Warn("a crash could not be written down", "file", path, "error", err)
		return nil // a daemon is more than its last words
	}
	d.onClose("crash file", func() error {
		return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), os.Remove(path))
	})
	return nil
}

// lastWords reads what a crash left, its beginning when it is long.
func lastWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // read only
	text, err := io.ReadAll(io.LimitReader(f, crashShown))
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", path, err)
	}
	return string(bytes.TrimSpace(text))
}
