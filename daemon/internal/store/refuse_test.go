package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestNewerSchemaAndForeignFileAreRefused(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	newer := len(steps) + 1
	for name, c := range map[string]struct {
		spoil string
		says  string
	}{
		"newer":   {fmt.Sprintf(`PRAGMA user_version = %d`, newer), fmt.Sprintf("newer Bothy (its schema is %d", newer)},
		"foreign": {`PRAGMA application_id = 1`, "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bothy.db")
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.conn.ExecContext(t.Context(), c.spoil); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the refusal leaves no lock behind
				if _, err = Open(t.Context(), path, Options{}); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), c.says) {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("no database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "bothy.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("a letter to a friend ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, Options{}); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "no database") {
			t.Fatal(err)
		}
	})
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	for name, of := range map[string]string{"the folder": "", "the file": "bothy.db"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "bothy.db")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(filepath.Join(dir, of), 65534, -1); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), path, Options{})
			if sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "belongs to the user with the id 65534") || !strings.Contains(err.Error(), "chown") {
				t.Fatal(err)
			}
		})
	}
}

func TestFilesThatCannotBeWrittenAreRefused(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to everything")
	}
	for name, spoil := range map[string]func(path string) error{
		"the folder of a whole one": func(path string) error {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				return err
			}
			return errors.Join(s.Close(), os.Chmod(filepath.Dir(path), 0o500))
		},
		"the folder": func(path string) error { return os.Chmod(filepath.Dir(path), 0o500) },
		"the file":   func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o400)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bothy.db")
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), path, Options{})
			if sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "chmod u+rwX") {
				t.Fatal(err)
			}
			if r, err := Inspect(t.Context(), path); !errors.Is(err, os.ErrNotExist) && (r.Place == nil || !strings.Contains(r.Place.Error(), "chmod u+rwX")) {
				t.Errorf("the doctor finds nothing wrong with it: %v, %v", r.Place, err)
			}
			if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestRefusalOfAFileSaysWhatToDo(t *testing.T) {
	for errno, c := range map[syscall.Errno]struct {
		want sdk.Outcome
		says string
	}{
		syscall.EROFS:  {sdk.Unavailable, "mounted read-only"},
		syscall.EACCES: {sdk.Permission, "chmod u+rwX /x"},
		syscall.EPERM:  {sdk.Permission, "you may not write"},
		syscall.ENOSPC: {sdk.Unavailable, "free some space"},
		syscall.EISDIR: {sdk.Internal, "doing: is a directory"},
	} {
		if err := refuseFile("doing", "/x", errno); sdk.OutcomeOf(err) != c.want || !strings.Contains(err.Error(), c.says) || !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

func TestNetworkFilesystemsAreRefused(t *testing.T) {
	for kind, refused := range map[string]bool{
		"local": false, "ext4": false, "apfs": false, "fuse": false, "fuseblk": false, "fuse.encfs": false, "virtiofs": false,
		"nfs": true, "nfs4": true, "cifs": true, "smbfs": true, "9p": true, "fuse.sshfs": true, "fuse.rclone": true, "fuse.glusterfs": true,
	} {
		dir := filepath.Join(t.TempDir(), "data")
		s, err := Open(t.Context(), filepath.Join(dir, "bothy.db"), Options{filesystem: func(string) (string, error) { return kind, nil }})
		if refused && (sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "("+kind+")") || !strings.Contains(err.Error(), "local disk")) {
			t.Errorf("%s: %v", kind, err)
		}
		if refused && len(names(t, dir)) != 0 {
			t.Errorf("%s: left %v behind", kind, names(t, dir))
		}
		if !refused && err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	// One that cannot be asked is not refused.
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), Options{filesystem: func(string) (string, error) { return "", syscall.ENOSYS }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if kind, err := filesystemKind(t.TempDir()); err != nil || kind == "" {
		t.Errorf("%q %v", kind, err)
	}
}

func TestLinksLeadToOneLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data", "bothy.db")
	s := open(t, path)
	file, folder := filepath.Join(dir, "link.db"), filepath.Join(dir, "link")
	for link, to := range map[string]string{file: path, folder: filepath.Dir(path)} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{file, filepath.Join(folder, "bothy.db")} {
		if _, err := Open(t.Context(), other, Options{}); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("%s: %v", other, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, file); again.path != s.path {
		t.Errorf("opened %s", again.path)
	}
	dangling := filepath.Join(dir, "dangling.db")
	if err := os.Symlink(filepath.Join(dir, "nowhere.db"), dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dangling, Options{}); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "leads nowhere") {
		t.Error(err)
	}
	if _, err := Open(t.Context(), dir, Options{}); err == nil {
		t.Error("opened a folder")
	}
}

// TestLogThatCannotBeRead keeps a store from opening with what to do; restoring a
// backup does it.
func TestLogThatCannotBeRead(t *testing.T) {
	says := func(t *testing.T, path string) {
		t.Helper()
		_, err := Open(t.Context(), path, Options{})
		if sdk.OutcomeOf(err) != sdk.Unavailable {
			t.Fatal(err)
		}
		for _, part := range []string{"the write-ahead log " + path + "-wal cannot be read", "chmod u+rw", "bothy restore FILE", BackupDir(path)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is missing: %v", part, err)
			}
		}
	}
	f := newFixture(t)
	f.commit(known("known://a", "x"))
	saved := f.backup("b.db")
	t.Run("a folder", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "bothy.db")
		copyFiles(t, saved, path)
		if err := os.Mkdir(path+"-wal", 0o700); err != nil {
			t.Fatal(err)
		}
		says(t, path)
		if err := os.Remove(path + "-wal"); err != nil {
			t.Fatal(err)
		}
		open(t, path) // the refusal left no lock behind
	})
	t.Run("a file that nobody may read", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may read everything")
		}
		path := filepath.Join(t.TempDir(), "bothy.db")
		copyFiles(t, f.path, path)
		if err := os.Chmod(path+"-wal", 0); err != nil {
			t.Fatal(err)
		}
		says(t, path)
		done, err := Restore(t.Context(), saved, path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(done.Aside + "-wal"); err != nil {
			t.Errorf("the log is not kept: %v", err)
		}
		open(t, path)
	})
}
