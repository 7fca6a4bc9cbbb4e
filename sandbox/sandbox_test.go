//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk/protect"
)

// rig is what the tests share: built programs and two open managers, since each
// manager costs a Podman service. Commands of the second work on views.
var rig struct {
	sync.Mutex
	dir             string
	runner          string
	view            string
	manager, viewed *sandbox.Manager
	runs            atomic.Int64
}

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(childMain(job))
	}
	if job := os.Getenv(settleEnv); job != "" {
		os.Exit(settleMain(job))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "bx")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		rig.dir = dir
		code := m.Run()
		for _, m := range []*sandbox.Manager{rig.manager, rig.viewed} {
			if m == nil {
				continue
			}
			if err := m.Close(context.Background()); err != nil {
				fmt.Fprintln(os.Stderr, "close a shared manager:", err)
				code = 1
			}
		}
		sandbox.CloseViewRig()
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		removeAll(dir)
		return code
	}())
}

func needPodman(t testing.TB) {
	t.Helper()
	sandbox.NeedPodman(t)
}

// needTool skips what the host has no program for.
func needTool(t testing.TB, name string) {
	t.Helper()
	needPodman(t)
	if _, err := os.Stat("/usr/bin/" + name); err == nil {
		return
	}
	if _, err := os.Stat("/usr/local/go/bin/" + name); err == nil {
		return
	}
	t.Skipf("tool: the host has no %s below /usr", name)
}

func buildRunner(t testing.TB) string {
	t.Helper()
	rig.Lock()
	defer rig.Unlock()
	if rig.runner == "" {
		rig.runner = build(t, "./runner", filepath.Join(rig.dir, "bothy-runner"))
	}
	return rig.runner
}

func build(t testing.TB, pkg, to string) string {
	t.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return to
}

// shortDir is a temporary directory whose path leaves room for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(dir) })
	return dir
}

// removeAll also removes what only Podman's user namespace may, like its layers.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if os.RemoveAll(dir) != nil {
		_ = exec.Command("podman", "unshare", "rm", "-rf", dir).Run()
	}
}

func config(t testing.TB, dir string) sandbox.Config {
	t.Helper()
	return sandbox.Config{
		Dir: filepath.Join(dir, "d"), StateDir: filepath.Join(dir, "state"), Instance: "test-" + filepath.Base(dir),
		Runner: buildRunner(t), Protector: protect.Rules{},
	}
}

func logger(t testing.TB) hclog.Logger {
	level := hclog.Error
	if testing.Verbose() {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Name: t.Name(), Level: level, Output: os.Stderr})
}

// open starts a manager of the test's own.
func open(t testing.TB, cfg sandbox.Config) *sandbox.Manager {
	t.Helper()
	needPodman(t)
	m, err := sandbox.Open(t.Context(), cfg, logger(t))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return m
}

// shared is a manager that many tests use at once.
func shared(t testing.TB) *sandbox.Manager {
	t.Helper()
	needPodman(t)
	runner := buildRunner(t)
	rig.Lock()
	defer rig.Unlock()
	if rig.manager == nil {
		m, err := sandbox.Open(context.Background(), sandbox.Config{
			Dir: filepath.Join(rig.dir, "d"), StateDir: filepath.Join(rig.dir, "state"), Instance: "shared", Runner: runner, Protector: protect.Rules{},
		}, hclog.New(&hclog.LoggerOptions{Level: hclog.Error}))
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		rig.manager = m
	}
	return rig.manager
}

// fixture is a run with a project.
type fixture struct {
	t       testing.TB
	manager *sandbox.Manager
	run     sandbox.RunSpec
	cfg     sandbox.Config // of a manager of the test's own; not always set
}

func newFixture(t testing.TB, m *sandbox.Manager) *fixture {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { removeAll(dir) })
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, manager: m, run: sandbox.RunSpec{
		RunID: fmt.Sprintf("%s-%d", strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()), rig.runs.Add(1)), Project: project, RunDir: filepath.Join(dir, "run"),
	}}
	t.Cleanup(func() {
		if m == nil {
			return
		}
		if err := m.Drop(context.Background(), f.run.RunID); err != nil && sandbox.Code(err) != sandbox.CodeUnavailable {
			t.Errorf("drop: %v", err)
		}
	})
	return f
}

// outcome is a result with what was printed.
type outcome struct {
	sandbox.Result
	stdout, stderr string
	err            error
}

func (f *fixture) exec(ctx context.Context, c sandbox.Command) outcome {
	f.t.Helper()
	var stdout, stderr strings.Builder
	r, err := f.manager.Exec(ctx, f.run, c, func(channel int, data []byte) {
		if channel == 1 {
			stdout.Write(data)
		} else {
			stderr.Write(data)
		}
	})
	return outcome{Result: r, stdout: stdout.String(), stderr: stderr.String(), err: err}
}

// bash runs a script and fails the test when the sandbox itself fails.
func (f *fixture) bash(script string) outcome {
	f.t.Helper()
	out := f.exec(f.t.Context(), sandbox.Command{Argv: []string{"bash", "-c", script}, Timeout: time.Minute})
	if out.err != nil {
		f.t.Fatalf("%s: %v", script, out.err)
	}
	return out
}

// ok runs a script that must succeed and returns what it printed.
func (f *fixture) ok(script string) string {
	f.t.Helper()
	out := f.bash(script)
	if out.ExitCode != 0 {
		f.t.Fatalf("%s: exit %d %s\nstdout: %s\nstderr: %s", script, out.ExitCode, out.Signal, out.stdout, out.stderr)
	}
	return strings.TrimSpace(out.stdout)
}

func (f *fixture) path(name string) string { return filepath.Join(f.run.Project, name) }

func (f *fixture) write(name, content string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}
