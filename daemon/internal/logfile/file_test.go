package logfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// linesOf are the lines of the files of a log, oldest first.
func linesOf(t testing.TB, path string, keep int) []string {
	t.Helper()
	var lines []string
	for n := keep; n >= 0; n-- {
		text, err := os.ReadFile(numbered(path, n))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return lines
}

// TestLogRotates: no file is longer than it may be unless one line is, the
// newest lines are there in order, and no older file is kept than asked for.
func TestLogRotates(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		path := filepath.Join(t.TempDir(), "bothyd.log")
		most, keep := rapid.Int64Range(20, 200).Draw(r, "max"), rapid.IntRange(0, 4).Draw(r, "keep")
		f := openFile(path, most, keep)
		var all []string
		for i := range rapid.IntRange(1, 60).Draw(r, "lines") {
			line := fmt.Sprintf("%d %s", i, strings.Repeat("x", rapid.IntRange(0, 300).Draw(r, "length")))
			all = append(all, line)
			fmt.Fprintln(f, line)
			if rapid.IntRange(0, 9).Draw(r, "restart") == 0 {
				f = openFile(path, most, keep)
			}
		}
		if err := f.Close(); err != nil {
			r.Fatal(err)
		}
		got := linesOf(t, path, keep)
		if len(got) == 0 || len(got) > len(all) || strings.Join(all[len(all)-len(got):], "\n") != strings.Join(got, "\n") {
			r.Fatalf("%d lines written, the files have:\n%s", len(all), strings.Join(got, "\n"))
		}
		for n := range keep + 3 {
			info, err := os.Stat(numbered(path, n))
			if err != nil {
				continue
			}
			if text, _ := os.ReadFile(numbered(path, n)); n > keep || info.Size() > most && strings.Count(string(text), "\n") > 1 {
				r.Errorf("file %d of %d has %d bytes, and %d are allowed", n, keep, info.Size(), most)
			}
		}
	})
}

// TestLogKeepsLess: files from when more were kept go at the next rotation.
func TestLogKeepsLess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothyd.log")
	f := openFile(path, 10, 5)
	for i := range 10 {
		fmt.Fprintln(f, "a line", i)
	}
	f.limit(10, 1)
	fmt.Fprintln(f, "another line")
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 2 {
		t.Errorf("%v %v", files, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestLogWithoutSuccessor: when the next file cannot be made, lines go on to the
// one that was moved, and no older file is given up for it.
func TestLogWithoutSuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothyd.log")
	f := openFile(path, 100, 3)
	var all []string
	add := func(lines int) {
		for range lines {
			all = append(all, fmt.Sprintf("%d %s", len(all), strings.Repeat("x", 50)))
			fmt.Fprintln(f, all[len(all)-1])
		}
	}
	add(3)
	withoutDescriptors(t, func() { add(6) })
	add(1)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, path, 3); strings.Join(got, "\n") != strings.Join(all, "\n") {
		t.Errorf("the files have:\n%s", strings.Join(got, "\n"))
	}
}

// withoutDescriptors runs f while this process can open nothing.
func withoutDescriptors(t *testing.T, f func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// TestLogTornLine: what a dead daemon did not write to its end stays a line of
// its own.
func TestLogTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothyd.log")
	if err := os.WriteFile(path, []byte("whole\nhal"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := openFile(path, 1<<20, 3)
	fmt.Fprintln(f, "next")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(linesOf(t, path, 3), "|"); got != "whole|hal|next" {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the log: %v %v", info.Mode(), err)
	}
}

// TestLogWithoutRoom: a full disk, a path that is taken and a file that was
// moved away cost lines and nothing else; the log goes on when it can, and says
// what it lacks.
func TestLogWithoutRoom(t *testing.T) {
	for _, c := range []struct {
		name       string
		spoil      func(path string) error
		mend, says string
	}{
		{"full", func(path string) error { return os.Symlink("/dev/full", path) }, "rm", "no space left"},
		{"taken", func(path string) error { return os.Mkdir(path, 0o700) }, "rm", "is a directory"},
		{"no folder", func(path string) error { return os.Remove(filepath.Dir(path)) }, "mkdir", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "bothyd.log")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			log, err := Open(path, "", Settings{Level: "info", MaxSize: 1 << 20, Keep: 3}, asItIs, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := log.file
			log.Info("lost")
			log.Info("lost too")
			if got := f.trouble(); !strings.Contains(got, "2 lines") || !strings.Contains(got, c.says) {
				t.Errorf("status says %q", got)
			}
			if c.mend == "rm" {
				err = os.Remove(path)
			} else {
				err = os.Mkdir(filepath.Dir(path), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.mu.Lock()
			f.looked = f.looked.Add(-lookAgain)
			f.mu.Unlock()
			log.Info("written")
			lines := linesOf(t, path, 3)
			if len(lines) != 2 || !strings.Contains(lines[0], "lost=2") || !strings.Contains(lines[0], c.says) || !strings.Contains(lines[1], "written") {
				t.Errorf("the log has\n%s", strings.Join(lines, "\n"))
			}
			if got := f.trouble(); !strings.Contains(got, "written again") {
				t.Errorf("status says %q", got)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLogMovedAway: who moves the file away gets the lines up to then, and a
// new file has the rest.
func TestLogMovedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothyd.log")
	f := openFile(path, 1<<20, 3)
	fmt.Fprintln(f, "before")
	if err := os.Rename(path, path+".mine"); err != nil {
		t.Fatal(err)
	}
	f.looked = f.looked.Add(-lookAgain)
	fmt.Fprintln(f, "after")
	if got := linesOf(t, path, 0); len(got) != 1 || got[0] != "after" || f.trouble() != "" {
		t.Errorf("%q %q", got, f.trouble())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// asItIs redacts nothing.
func asItIs(w io.Writer) io.Writer { return w }

// TestLogSettings: what the command line says about the level goes before the
// configuration; loggers made earlier follow.
func TestLogSettings(t *testing.T) {
	for _, c := range []struct{ flag, want string }{{"", "debug"}, {"warn", ""}} {
		path := filepath.Join(t.TempDir(), "bothyd.log")
		log, err := Open(path, c.flag, Settings{Level: "warn", MaxSize: 1 << 20, Keep: 3}, asItIs, nil)
		if err != nil {
			t.Fatal(err)
		}
		engine := log.Named("engine")
		if err := log.Configure(Settings{Level: "debug", MaxSize: 100, Keep: 7}); err != nil {
			t.Fatal(err)
		}
		engine.Debug("debug")
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), c.want) || c.want == "" && len(text) > 0 {
			t.Errorf("with --log-level %q: %q %v", c.flag, text, err)
		}
		if c.flag == "" && log.Configure(Settings{Level: "loud"}) == nil {
			t.Error("the level loud was taken")
		}
		if log.file.max != 100 || log.file.keep != 7 {
			t.Errorf("%d %d", log.file.max, log.file.keep)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}
