package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/pidlock"
	"github.com/bothyd/bothy/sdk"
)

// realPath follows links, so that two daemons that come by two names meet at one
// lock. A link that leads nowhere is refused, since a database made through it
// would surprise whoever laid it.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the database: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", refuseFile("making the folder of the database", dir, err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", sdk.Errorf(sdk.NotFound, "%s is a link that leads nowhere: remove the link, or mount what it leads to: %w", path, err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", refuseFile("finding the database", path, err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", refuseFile("finding the folder of the database", dir, err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// prepareFile sees to it that nobody else can write to the folder of the database
// or read it. SQLite gives the -wal and -shm files its mode.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := closeFolder(dir, filepath.Base(path)); err != nil {
		return err
	}
	if err := mayWrite(dir); err != nil {
		return err // SQLite makes its log there, and would blame the disk
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return refuseFile("opening the database", path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = sdk.Errorf(sdk.Conflict, "%s is no regular file; give Bothy a path of its own (store.path)", path)
	default:
		if err = refuseOthers(path, info); err == nil && info.Mode().Perm()&0o077 != 0 {
			err = f.Chmod(0o600)
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return refuseFile("giving the database mode 0600", path, err)
	}
	return nil
}

// closeFolder refuses a folder of somebody else and one that others can write
// to. One that is ours and holds only the store gets mode 0700.
func closeFolder(dir, base string) error {
	info, err := ownFolder(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return refuseFile("reading the folder of the database", dir, err)
	}
	others := slices.ContainsFunc(names, func(n fs.DirEntry) bool { return !strings.HasPrefix(n.Name(), base) })
	switch {
	case !others:
		if err := os.Chmod(dir, 0o700); err != nil {
			return refuseFile("giving the folder of the database mode 0700", dir, err)
		}
	case info.Mode().Perm()&0o022 != 0:
		return openToOthers(dir, info)
	}
	return nil
}

// mayWrite refuses a file or folder that we may not write to.
func mayWrite(path string) error {
	const readAndWrite = 4 | 2
	return refuseFile("opening the database", path, syscall.Access(path, readAndWrite))
}

// refuseFile says what to do about a file or folder that cannot be used.
func refuseFile(doing, path string, err error) error {
	var own *sdk.Error
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case errors.Is(err, syscall.EROFS):
		return sdk.Errorf(sdk.Unavailable, "%s: %s lies on a filesystem that is mounted read-only; mount it for writing, or give Bothy another place (XDG_STATE_HOME, or store.path): %w", doing, path, err)
	case errors.Is(err, fs.ErrPermission):
		return sdk.Errorf(sdk.Permission, "%s: you may not write to %s; run: chmod u+rwX %s, or give Bothy another place (XDG_STATE_HOME, or store.path): %w", doing, path, path, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return sdk.Errorf(sdk.Unavailable, "%s: there is no room for %s; free some space and try again: %w", doing, path, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// ownFolder looks at a folder, and refuses one of somebody else.
func ownFolder(dir string) (fs.FileInfo, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, refuseFile("looking at the folder of the database", dir, err)
	}
	return info, refuseOthers(dir, info)
}

func refuseOthers(path string, info fs.FileInfo) error {
	owner, us := info.Sys().(*syscall.Stat_t).Uid, os.Geteuid() //nolint:forcetypeassert // on every Unix
	if int(owner) == us {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "%s belongs to the user with the id %d and you are %d; run bothy as its owner, or give it to yourself: chown -R %d %s", path, owner, us, us, path)
}

func openToOthers(dir string, info fs.FileInfo) error {
	return sdk.Errorf(sdk.Permission, "other users can write to %s (mode %04o), so the database is not safe there; run: chmod 700 %s", dir, info.Mode().Perm(), dir)
}

// explainLog says what to do when why was that nobody can read the write-ahead log.
func explainLog(database string, why error) error {
	path := database + "-wal"
	f, err := os.Open(path)
	if err == nil {
		_, err = io.Copy(io.Discard, f)
		err = errors.Join(err, f.Close())
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return why
	}
	return sdk.Errorf(sdk.Unavailable, "the write-ahead log %s cannot be read (%w), and it holds what was committed last; make it readable (chmod u+rw %s), "+
		"or look for disk errors in the system log; to go on without it: bothy restore FILE, which keeps the database and its log aside (backups lie in %s): %w",
		path, err, path, BackupDir(database), why)
}

// takeLock takes the lock that makes this process the only one to open the
// database.
func takeLock(path string) (*pidlock.Lock, error) {
	lock, err := pidlock.Take(path)
	var held *pidlock.HeldError
	if errors.As(err, &held) {
		return nil, sdk.Errorf(sdk.Conflict, "%s is open in %s; only one daemon may use it, stop that one first (bothy stop)",
			strings.TrimSuffix(path, ".lock"), held.Holder())
	}
	return lock, refuseFile("locking the database", path, err)
}
