package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// prepareFile sees to it that the database lies in a folder which nobody else
// can write to, and that nobody else can read it. A folder it makes, and one
// that holds nothing but the store, gets mode 0700. SQLite gives the -wal and
// -shm files the mode of the database.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the database: %w", err)
	}
	if err := closeFolder(dir, filepath.Base(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("giving the database mode 0600: %w", err)
	}
	return nil
}

// closeFolder gives dir mode 0700 when it is ours and holds only the store, and
// refuses one that others can write to.
func closeFolder(dir, base string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("looking at the folder of the database: %w", err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the folder of the database: %w", err)
	}
	ours := ownedByUs(info)
	for _, n := range names {
		ours = ours && strings.HasPrefix(n.Name(), base)
	}
	switch {
	case ours:
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("giving the folder of the database mode 0700: %w", err)
		}
	case info.Mode().Perm()&0o022 != 0:
		return sdk.Errorf(sdk.Permission, "other users can write to %s (mode %04o), so the database is not safe there; run: chmod 700 %s", dir, info.Mode().Perm(), dir)
	}
	return nil
}

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// takeLock takes the lock that makes this process the only one to open the
// database. The kernel gives it free when the process ends, however it ends;
// the file itself stays, since removing it would let two processes each hold a
// lock of their own. The file holds the pid of who has the lock.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the database: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = sdk.Errorf(sdk.Conflict, "%s is open in %s; only one daemon may use it, stop that one first (bothy stop)",
			strings.TrimSuffix(path, ".lock"), holder(f))
	} else if err != nil {
		err = fmt.Errorf("locking %s: %w", path, err)
	}
	if err == nil {
		err = writePid(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func writePid(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("writing the lock of the database: %w", err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("writing the lock of the database: %w", err)
	}
	return nil
}

// holder names the process that has the lock, as far as the file tells.
func holder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || convErr != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
}
