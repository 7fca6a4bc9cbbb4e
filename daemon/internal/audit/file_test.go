package audit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFolders: a run without a folder gets none, one whose folder comes later
// gets all of its lines, one that was removed stays so.
func TestFolders(t *testing.T) {
	h := newHouse(t)
	late, gone := h.run(), h.run()
	if err := os.Remove(h.folder(late)); err != nil {
		t.Fatal(err)
	}
	logs := Start(h.config)
	h.tell(late)
	h.tell(gone)
	finish(t, logs)
	if _, err := os.Stat(h.folder(late)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
	if err := os.RemoveAll(h.folder(gone)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.folder(late), 0o700); err != nil {
		t.Fatal(err)
	}
	logs = Start(h.config)
	h.loop(late, "and more")
	h.loop(gone, "and more")
	finish(t, logs)
	if got := kinds(h.lines(late)); strings.Count(got, "run_created") != 1 || strings.Count(got, "loop_started") != 2 || strings.Count(got, "run_complete") != 1 {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat(h.folder(gone)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made again: %v", err)
	}
}

// TestWhatSomebodyDidToAFile: it is removed, emptied, shortened, grown or spoiled,
// while the daemon runs and while it does not; it becomes what it was.
func TestWhatSomebodyDidToAFile(t *testing.T) {
	spoil := map[string]func(path string) error{
		"removed":  os.Remove,
		"emptied":  func(p string) error { return os.Truncate(p, 0) },
		"torn":     func(p string) error { return os.Truncate(p, 1234) },
		"spoiled":  func(p string) error { return appendTo(p, "no json\nnor this\n\x00\x00") },
		"grown":    func(p string) error { return appendTo(p, "half a li") },
		"rubbish":  func(p string) error { return os.WriteFile(p, []byte("rubbish\nmore\n"), 0o600) },
		"as it is": func(string) error { return nil },
	}
	for name, do := range spoil {
		for _, running := range []bool{true, false} {
			h := newHouse(t)
			r := h.run()
			h.tell(r)
			logs := Start(h.config)
			if running {
				h.until(logs, func() bool { return logs.Lines() == 21 })
			} else {
				finish(t, logs)
			}
			if err := do(h.file(r)); err != nil {
				t.Fatal(err)
			}
			if !running {
				logs = Start(h.config)
			}
			h.tell(r)
			finish(t, logs)
			got := h.text(r)
			if err := os.Remove(h.file(r)); err != nil {
				t.Fatal(err)
			}
			h.logged()
			if want := h.text(r); got != want {
				t.Errorf("%s (running: %v): %d bytes, want %d\n%s", name, running, len(got), len(want), kinds(parse(t, got)))
			}
		}
	}
}

func (h *house) until(_ *Runlogs, holds func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatal("it never came")
		}
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestAnotherJournal: a file that this journal did not write, as after a backup
// was restored, is kept under another name.
func TestAnotherJournal(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	h.tell(r)
	h.logged()
	want := h.text(r)
	foreign := strings.ReplaceAll(want, `"ts":1`, `"ts":2`)
	if err := os.WriteFile(h.file(r), []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	h.logged()
	if h.text(r) != want {
		t.Errorf("it was not written anew")
	}
	if old, err := os.ReadFile(h.file(r) + ".old"); err != nil || string(old) != foreign {
		t.Errorf("the other file is lost: %v", err)
	}
}

// TestFileThatCannotBeWritten is fault 60's spirit: it is counted and said, and
// everything else goes on; when it can be written again, nothing is missing.
func TestFileThatCannotBeWritten(t *testing.T) {
	h := newHouse(t)
	h.config.retry = 10 * time.Millisecond
	bad, good := h.run(), h.run()
	if err := os.MkdirAll(filepath.Join(h.file(bad), "x"), 0o700); err != nil { // a folder stands in its place
		t.Fatal(err)
	}
	logs := Start(h.config)
	h.tell(bad)
	h.tell(good)
	h.until(logs, func() bool { return logs.Failures() > 0 && logs.Lines() == 21 })
	if err := logs.Trouble(); err == nil || !strings.Contains(err.Error(), "runs behind: 1") {
		t.Errorf("trouble: %v", err)
	}
	if err := os.RemoveAll(h.file(bad)); err != nil {
		t.Fatal(err)
	}
	h.until(logs, func() bool { return logs.Lines() == 42 && logs.Trouble() == nil })
	finish(t, logs)
	if a, b := kinds(h.lines(bad)), kinds(h.lines(good)); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// TestSymbolicLink: a runlog is never written through a link.
func TestSymbolicLink(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, h.file(r)); err != nil {
		t.Fatal(err)
	}
	h.tell(r)
	logs := Start(h.config)
	finish(t, logs)
	if text, err := os.ReadFile(target); err != nil || len(text) != 0 || logs.Failures() == 0 {
		t.Errorf("%d bytes went through the link, %d failures, %v", len(text), logs.Failures(), err)
	}
}

// TestPipe: a pipe in the file's place makes nobody wait.
func TestPipe(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	if err := syscall.Mkfifo(h.file(r), 0o600); err != nil {
		t.Fatal(err)
	}
	h.tell(r)
	logs := Start(h.config)
	finish(t, logs)
	if logs.Failures() == 0 {
		t.Error("nothing was said of it")
	}
}

// FuzzFile: whatever a file holds, its end is found, and what is kept of it is
// its beginning and ends with a line that can be read.
func FuzzFile(f *testing.F) {
	f.Add([]byte("{\"seq\":3,\"ts\":1.5}\n{\"seq\":4}\n{\"seq\":4}\nhalf"))
	f.Add([]byte("\n\n{\"seq\":-1}\n"))
	f.Add(bytes.Repeat([]byte("{\"seq\":9}\n"), 9000))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := openAt(dir)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(p.file)
		if err != nil || int64(len(kept)) != p.size || !bytes.HasPrefix(text, kept) {
			t.Fatalf("%d bytes are kept, the end is at %d, %v", len(kept), p.size, err)
		}
		if (p.seq == 0) != (len(kept) == 0) || (p.n == 0) != (p.seq == 0) || len(kept) > 0 && kept[len(kept)-1] != '\n' {
			t.Fatalf("%d lines of row %d end the %d bytes", p.n, p.seq, len(kept))
		}
	})
}
