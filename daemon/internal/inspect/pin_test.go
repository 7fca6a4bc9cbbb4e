package inspect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// TestVerify: a file runs only as all say that pins it, and who refuses it says what to
// do. A start and the look without a daemon say the same.
func TestVerify(t *testing.T) {
	other, upper := strings.Repeat("0", 64), strings.ToUpper(sha256Of(t, faultBinary))
	is := strings.ToLower(upper)
	for name, c := range map[string]struct {
		block, lock string
		pin         Pin
		want        string // empty is well
	}{
		"by nothing":                  {"", "", "", ""},
		"by its block":                {is, "", PinBlock, ""},
		"in capitals":                 {upper, "", PinBlock, ""},
		"with the name of the digest": {"sha256:" + is, "", PinBlock, ""},
		"by the lock":                 {"", is, PinLock, ""},
		"by both":                     {is, is, PinBlock, ""},
		"not by its block":            {other, "", PinBlock, faultBinary + " has sha256 " + is + ", its block pins " + other + ": if you changed it on purpose, pin the new digest"},
		"not by the lock":             {"", other, PinLock, faultBinary + " has sha256 " + is + ", bothy.lock has " + other + " of version 1.2.2: `bothy plugins lock --check x` shows"},
		"not by both":                 {other, other, PinBlock, "its block pins " + other + ": if you changed it"},
		"block against lock":          {is, other, PinBlock, "its block pins sha256 " + is + " and bothy.lock has " + other + ": when you know which of them is right, mend the block, or take it into the lock with `bothy plugins lock x`"},
		"lock against block":          {other, is, PinBlock, "its block pins sha256 " + other + " and bothy.lock has " + is},
	} {
		s := newInspector(t)
		spec := Spec{Instance: "x", Path: faultBinary, SHA256: c.block}
		if c.lock != "" {
			spec.Locked = &config.Locked{Digest: c.lock, Version: "1.2.2"}
		}
		v := s.Verify(spec)
		if v.Digest != is || v.Origin != "path" || v.Pin != c.pin || v.Path != faultBinary || v.Instance != "x" {
			t.Errorf("%s: %+v", name, v)
		}
		b, fail := s.Verified(spec)
		if c.want == "" {
			if fail != nil || v.Problem != "" || b.Pin != c.pin || b.Close() != nil {
				t.Errorf("%s: %v %+v", name, fail, v)
			}
			continue
		}
		if !strings.Contains(v.Problem, c.want) || fail == nil || fail.Summary != "its binary is refused" || fail.Detail != v.Problem || !fail.Permanent {
			t.Errorf("%s: %+v %+v, want %s", name, v, fail, c.want)
		}
	}
	if v := newInspector(t).Verify(Spec{Instance: "x", Path: "/nowhere/x"}); v.Instance != "x" || !strings.Contains(v.Problem, "Looked for /nowhere/x.") {
		t.Errorf("%+v", v)
	}
}

// TestUnchanged: what is written into a file after its digest was worked out is seen, and
// what takes its name is not the file.
func TestUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		same   bool
	}{
		"nothing":          {func(string) error { return nil }, true},
		"another takes it": {func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte("x"), 0o755)) }, false}, // one link less is a change
		"another mode":     {func(path string) error { return os.Chmod(path, 0o711) }, false},
		"written, and its time set back": {func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("X"), info.Size()-1)
			return errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, false},
	} {
		path := copyOf(t, 0o755)
		b, fail := newInspector(t).Verified(Spec{Path: path})
		if fail != nil {
			t.Fatal(fail)
		}
		if err := c.change(path); err != nil {
			t.Fatal(err)
		}
		if b.Unchanged() != c.same || b.Close() != nil {
			t.Errorf("%s: unchanged is %v", name, !c.same)
		}
		if b.Unchanged() {
			t.Errorf("%s: a file that was closed is believed", name)
		}
	}
}

// TestBelieved: a digest that is kept counts from one daemon to the next, until the file
// looks otherwise in anything.
func TestBelieved(t *testing.T) {
	path, data := copyOf(t, 0o755), t.TempDir()
	sum := func() (digest string, kept bool) {
		s := New(Config{Log: quiet, DataDir: data})
		kept = s.kept(path).Identity != ""
		b, fail := s.Verified(Spec{Path: path})
		if fail != nil {
			t.Fatal(fail)
		}
		return b.Digest, kept && b.Close() == nil
	}
	was, kept := sum()
	if kept {
		t.Error("kept before anybody asked")
	}
	for deadline := time.Now().Add(time.Minute); !kept && time.Now().Before(deadline); _, kept = sum() {
		time.Sleep(100 * time.Millisecond) // its times have to settle
	}
	if !kept {
		t.Fatal("the digest of a file that had settled is not kept")
	}
	file, err := filepath.Glob(filepath.Join(data, "plugins", "*.json"))
	if err != nil || len(file) != 1 {
		t.Fatal(file, err)
	}
	text, err := os.ReadFile(file[0])
	if err != nil {
		t.Fatal(err)
	}
	marked := strings.Repeat("a", 64)
	if err := os.WriteFile(file[0], []byte(strings.Replace(string(text), was, marked, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if now, _ := sum(); now != marked {
		t.Errorf("it was read again: %s", now)
	}
	if err := os.Chmod(path, 0o711); err != nil {
		t.Fatal(err)
	}
	if now, _ := sum(); now != was {
		t.Errorf("a file that looks otherwise is believed: %s", now)
	}
}
