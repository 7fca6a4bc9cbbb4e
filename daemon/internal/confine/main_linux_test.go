package confine_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/confine"
)

// shim and attack are built once.
var shim, attack string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "confine")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shim, attack = filepath.Join(dir, "bothy-shim"), filepath.Join(dir, "attack")
	for out, pkg := range map[string]string{shim: "../../cmd/bothy-shim", attack: "./testdata/attack"} {
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", pkg, err, text)
			os.Exit(1)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // the system clears what is left
	os.Exit(code)
}

// scene is a user's machine in small: a plugin's own folder, and around it what
// is none of its business.
type scene struct {
	own, open, shown string // its folder, one of paths, one of read_paths
	secret           string // a file of the user's
}

func newScene(t testing.TB) scene {
	t.Helper()
	dir, err := os.MkdirTemp("", "bc") // short: there are sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s := scene{own: filepath.Join(dir, "own"), open: filepath.Join(dir, "open"), shown: filepath.Join(dir, "shown"), secret: filepath.Join(dir, ".ssh", "id_ed25519")}
	for _, d := range []string{s.own, s.open, s.shown, filepath.Dir(s.secret)} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{s.secret, filepath.Join(s.shown, "text")} {
		if err := os.WriteFile(f, []byte("words"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s scene) spec() confine.Spec {
	return confine.Spec{Write: []string{s.own, s.open}, Read: []string{s.shown}, Parent: os.Getpid(), Apart: true}
}

// confined is a program that the shim is to become.
func confined(t testing.TB, spec confine.Spec, binary string, args ...string) *exec.Cmd {
	t.Helper()
	file, err := os.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	spec.Path, spec.Args = fmt.Sprintf("/proc/self/fd/%d", confine.BinaryFD), append([]string{filepath.Base(binary)}, args...)
	handed, err := confine.SendSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{file, handed} {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	cmd := exec.Command(shim, "confine")
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{}, "/", []*os.File{file, handed}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if spec.Apart {
		confine.Apart(cmd.SysProcAttr)
	}
	return cmd
}

// output is all that a program printed, until everybody has closed its output.
func output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(all.String())
}

func requireWalls(t testing.TB) {
	t.Helper()
	if lacks := confine.ThisKernel(shim).Lacks(); len(lacks) > 0 {
		t.Skipf("this kernel does not hold a process back from %s", strings.Join(lacks, "; "))
	}
}
