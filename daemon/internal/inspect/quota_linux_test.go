package inspect

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/sdk"
)

// alone runs the test that calls it in a process of its own, whose limits are nobody
// else's, and reports whether this is that process.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv("INSPECT_FAULT") != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "INSPECT_FAULT="+faultBinary)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// limited lets no file of this process become larger than this while do runs, as a quota
// or a full disk would.
func limited(t *testing.T, size uint64, do func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	do()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
}

// TestNoRoom: what does not fit into the store is not in it, and the next try, with room,
// finds nothing in its way.
func TestNoRoom(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := bundleOf(t, faultBundle)
	f, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(t.TempDir(), f.ArchiveName()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Pack(archive), archive.Close()); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"a file": faultBinary, "a folder": dir, "an archive": archive.Name()} {
		store, s := stored(t)
		var failed error
		limited(t, 64<<10, func() { _, failed = s.Add(t.Context(), path) })
		if failed == nil || !errors.Is(failed, syscall.EFBIG) || !strings.Contains(failed.Error(), path) {
			t.Errorf("%s: %v", name, failed)
		}
		if got := left(t, store); len(got) != 0 {
			t.Errorf("%s: left %v", name, got)
		}
		if st, err := s.Add(t.Context(), path); err != nil || !st.Fresh || s.Verify(Spec{Path: st.Path}).Problem != "" {
			t.Errorf("%s: %+v %v", name, st, err)
		}
	}
}

// TestNothingKeptWithoutRoom: what cannot be kept for want of room is asked again, and what
// was kept stays readable.
func TestNothingKeptWithoutRoom(t *testing.T) {
	if !alone(t) {
		return
	}
	data := t.TempDir()
	spec := Spec{Instance: "x", Path: faultBinary}
	limited(t, 16, func() {
		if m, err := New(Config{Log: quiet, DataDir: data}).Manifest(t.Context(), spec); err != nil || m.Name != "fault" {
			t.Errorf("%+v %v", m, err)
		}
	})
	s := New(Config{Log: quiet, DataDir: data})
	if kept := s.kept(faultBinary); kept.Digest != "" {
		t.Errorf("half of it was believed: %+v", kept)
	}
	if _, err := s.Manifest(t.Context(), spec); err != nil || New(Config{Log: quiet, DataDir: data}).kept(faultBinary).Digest == "" {
		t.Errorf("it was not kept with room: %v", err)
	}
	limited(t, 16, func() {
		s.Remember(&Binary{Verified: Verified{Path: faultBinary, Digest: s.kept(faultBinary).Digest}}, "x", tools("other"))
	})
	if kept := New(Config{Log: quiet, DataDir: data}).kept(faultBinary); kept.Digest != sha256Of(t, faultBinary) || names(kept.Declared[""]) == "" {
		t.Errorf("what was kept is gone: %+v", kept)
	}
}

// TestConfigurationWithoutRoom: where the configuration cannot be written, the plugin is not
// installed, and what was there is whole.
func TestConfigurationWithoutRoom(t *testing.T) {
	if !alone(t) {
		return
	}
	h := newHouse(t, "# "+strings.Repeat("mine ", 100)+"\n")
	f, was := h.files(), h.text()
	in, err := f.Store(t.Context(), laid(t, "x", manifest("x", "")), "", nil, nil, Opening{}, false)
	if err != nil {
		t.Fatal(err)
	}
	limited(t, 400, func() { err = f.Configure(&in) })
	if sdk.OutcomeOf(err) != sdk.Unavailable || !errors.Is(err, syscall.EFBIG) {
		t.Error(err)
	}
	if h.text() != was || len(h.locked()) != 0 || len(h.kept()) != 0 {
		t.Errorf("left %v %v %s", h.kept(), h.locked(), h.text())
	}
}
