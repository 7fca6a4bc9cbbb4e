package host

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// anotherBinary is the fault plugin with another digest.
var anotherBinary = sync.OnceValues(func() (string, error) {
	path := faultBinary + "-2"
	out, err := exec.Command("go", "build", "-ldflags=-X main.build=2", "-o", path, "./faultplugin").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

func another(t testing.TB) string {
	t.Helper()
	path, err := anotherBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// spread runs a plugin from a file of its own, and collects what is said.
func spread(t *testing.T, change func(*Config, *inspect.Spec)) (r *rig, path string, said func() []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bothy-plugin-fault")
	copyFile(t, faultBinary, path)
	s := spec("fault", "")
	s.Path = path
	var mu sync.Mutex
	holds := []string{}
	r = newRig(t, func(c *Config) {
		c.Diagnose = func(d inspect.Diagnostic) { mu.Lock(); holds = append(holds, d.Summary+": "+d.Detail); mu.Unlock() }
		c.Mended = func(d inspect.Diagnostic) {
			mu.Lock()
			defer mu.Unlock()
			for n, x := range holds {
				if x == d.Summary+": "+d.Detail {
					holds = append(holds[:n], holds[n+1:]...)
					return
				}
			}
		}
		if change != nil {
			change(c, &s)
		}
	})
	if found := r.start(t.Context(), []inspect.Spec{s}); len(found) != 0 {
		t.Fatal(found)
	}
	return r, path, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), holds...) }
}

// TestChangedBinary: a file that was renamed over the one that runs is taken up
// by itself, and a call under way ends where it began. The file that is the same
// again is no change.
func TestChangedBinary(t *testing.T) {
	r, path, said := spread(t, nil)
	old, before := r.status(t, "fault").PID, func() string { d, _ := r.serving("fault"); return d }()
	release := r.hold(t)
	copyFile(t, another(t), path)
	eventually(t, "another process serves", func() bool { return r.status(t, "fault").PID != old })
	if now, generation := r.serving("fault"); now == before || generation != 2 {
		t.Errorf("digest %s generation %d", now, generation)
	}
	if _, err := release(); err != nil {
		t.Error(err)
	}
	pid := r.status(t, "fault").PID
	copyFile(t, another(t), path)
	tried := r.lookedAt(t, path)
	if now := r.status(t, "fault").PID; now != pid || len(said()) != 0 {
		t.Errorf("the same file again: process %d, was %d (%s): %q", now, pid, tried, said())
	}
}

// lookedAt waits until the file at the path was tried.
func (r *rig) lookedAt(t testing.TB, path string) string {
	t.Helper()
	i, err := r.instance("fault")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := r.inspect.Look(path)
	eventually(t, "the file was looked at", func() bool {
		i.mu.Lock()
		defer i.mu.Unlock()
		return i.tried == want && i.asked == nil
	})
	return want
}

// TestHalfCopiedBinary: a file that is being written is never started, whatever
// it looks like meanwhile; the whole one is.
func TestHalfCopiedBinary(t *testing.T) {
	r, path, said := spread(t, nil)
	old := r.status(t, "fault").PID
	whole, err := os.ReadFile(another(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	half := len(whole) / 2
	if _, err := f.Write(whole[:half]); err != nil {
		t.Fatal(err)
	}
	// A copy that pauses for longer than a file has to be stable: it was seen then.
	eventually(t, "the half was seen", func() bool { return strings.Contains(r.log.String(), "cannot be started as it is now") })
	if now := r.status(t, "fault").PID; now != old || len(said()) != 0 {
		t.Errorf("process %d, was %d: %q", now, old, said())
	}
	if _, err := f.Write(whole[half:]); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the whole one serves", func() bool { return r.status(t, "fault").PID != old })
}

// TestChangedBinaryOfAPin: the process that runs goes on, people are told once,
// the next start is refused; the file that was pinned mends it all.
func TestChangedBinaryOfAPin(t *testing.T) {
	r, path, said := spread(t, func(_ *Config, s *inspect.Spec) {
		s.SHA256 = sha256Of(t, faultBinary)
	})
	old := r.status(t, "fault").PID
	copyFile(t, another(t), path)
	eventually(t, "it is said", func() bool { return len(said()) > 0 })
	r.mustCall(t, "noop", ``)
	if got := said(); len(got) != 1 || !strings.Contains(got[0], "its block pins") || !strings.Contains(got[0], "goes on with the file") {
		t.Errorf("said %q", got)
	}
	if st := r.status(t, "fault"); st.PID != old || st.State != Ready {
		t.Errorf("%+v", st)
	}
	copyFile(t, faultBinary, path)
	eventually(t, "it is mended", func() bool { return len(said()) == 0 })
	if st := r.status(t, "fault"); st.PID != old || st.State != Ready {
		t.Errorf("%+v", st)
	}
	copyFile(t, another(t), path)
	eventually(t, "it is said again", func() bool { return len(said()) == 1 })
	if _, err := r.call(t, "crash", ``); sdk.OutcomeOf(err) != sdk.PluginCrashed {
		t.Fatal(err)
	}
	eventually(t, "the next start is refused", func() bool { return r.status(t, "fault").State == Broken })
}

// TestBinaryThatAppears: a broken plugin whose file comes, with the folder that it
// lies in, is started.
func TestBinaryThatAppears(t *testing.T) {
	for name, open := range map[string]func() (watch.Notifier, error){
		"watched": watch.Open,
		"polled":  func() (watch.Notifier, error) { return nil, os.ErrPermission },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			libexec := filepath.Join(t.TempDir(), "late")
			r := newRig(t, func(c *Config) { c.Libexec = libexec })
			r.binaries = newBinaryWatcher(r.Supervisor, open)
			s := spec("fault", "")
			s.Path = ""
			r.start(t.Context(), []inspect.Spec{s})
			if st := r.status(t, "fault"); st.State != Broken {
				t.Fatalf("%+v", st)
			}
			if err := os.Mkdir(libexec, 0o700); err != nil {
				t.Fatal(err)
			}
			copyFile(t, faultBinary, filepath.Join(libexec, "bothy-plugin-fault"))
			eventually(t, "it serves", func() bool { return r.status(t, "fault").State == Ready })
		})
	}
}
