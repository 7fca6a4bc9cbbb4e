//go:build linux

package sandbox_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// stub writes a program that stands for podman or a runtime.
func stub(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnusablePodmanIsUnavailable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("sandbox: needs an ordinary user, this is root")
	}
	for name, c := range map[string]struct {
		podman string
		want   string
	}{
		"missing":         {"/nonexistent/podman", "cannot be started"},
		"not executable":  {os.DevNull, "cannot be started"},
		"too old":         {stub(t, "podman", "echo podman version 4.2.0"), "Podman 4.2.0 is too old: Bothy needs 4.3 or newer"},
		"ancient":         {stub(t, "podman", "echo podman version 3.4.4"), "too old"},
		"another thing":   {stub(t, "podman", "echo hello"), "did not tell its version"},
		"failing":         {stub(t, "podman", `[ "$1" = --version ] && echo podman version 5.0.0 || { echo "Error: cannot find newuidmap" >&2; exit 125; }`), "apt-get install uidmap"},
		"talking rubbish": {stub(t, "podman", `[ "$1" = --version ] && echo podman version 5.0.0 || echo rubbish`), "the Podman service ended at once"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			cfg := config(t, shortDir(t))
			t.Setenv("BOTHY_PODMAN", c.podman)
			m, err := sandbox.Open(t.Context(), cfg, logger(t))
			if m != nil || sandbox.Code(err) != sandbox.CodeUnavailable || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			var failed bool
			for _, f := range sandbox.Check(t.Context(), cfg, "", logger(t)) {
				failed = failed || f.Name == "podman" && f.Level == sandbox.LevelFail && f.Hint != ""
			}
			if !failed {
				t.Error("doctor says nothing of it")
			}
		})
	}
}

func TestPodmanThatIsNotInstalled(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("sandbox: needs an ordinary user, this is root")
	}
	cfg := config(t, shortDir(t))
	cfg.Podman = "no-such-podman"
	_, err := sandbox.Open(t.Context(), cfg, logger(t))
	if sandbox.Code(err) != sandbox.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install podman") {
		t.Fatalf("got %v", err)
	}
}

// TestTwoUIDsRootIsRefused is one of the few tests that root runs.
func TestTwoUIDsRootIsRefused(t *testing.T) {
	if os.Getenv("BOTHY_TWO_UIDS") != "1" || os.Geteuid() != 0 {
		t.Skip("root: only root can see how root is refused; `make test` as root runs this")
	}
	cfg := config(t, shortDir(t))
	_, err := sandbox.Open(t.Context(), cfg, logger(t))
	if sandbox.Code(err) != sandbox.CodeUnavailable || !strings.Contains(err.Error(), "ordinary user") {
		t.Fatalf("got %v", err)
	}
	if f := sandbox.Check(t.Context(), cfg, "", logger(t)); len(f) != 1 || f[0].Level != sandbox.LevelFail || f[0].Hint == "" {
		t.Fatalf("got %+v", f)
	}
}

func TestMissingRunnerIsUnavailable(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.Runner = filepath.Join(t.TempDir(), "none")
	_, err := sandbox.Open(t.Context(), cfg, logger(t))
	if sandbox.Code(err) != sandbox.CodeUnavailable || !strings.Contains(err.Error(), "make install") {
		t.Fatalf("got %v", err)
	}
	if left := processes(t, cfg.Dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDirectoryThatOthersCanEnterIsRefused(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	if err := os.Mkdir(cfg.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(cfg.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Open(t.Context(), cfg, logger(t)); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Fatalf("got %v", err)
	}
}

// crun fails on some hosts only when it makes a container.
func TestSecondRuntimeIsTried(t *testing.T) {
	needPodman(t)
	if _, err := os.Stat("/usr/bin/runc"); err != nil {
		t.Skip("tool: the host has no runc")
	}
	broken := stub(t, "crun", `case "$*" in *--version*|*features*) echo crun version 1.8.1;; *) echo "crun: hybrid mode not supported" >&2; exit 1;; esac`)
	t.Setenv("PATH", filepath.Dir(broken)+":"+os.Getenv("PATH"))
	cfg := config(t, shortDir(t))
	if _, err := os.Stat("/usr/bin/crun"); err == nil {
		t.Skip("tool: the host has a crun of its own, which Podman prefers to the broken one")
	}
	f := newFixture(t, open(t, cfg))
	f.ok("true")
	cfg = config(t, shortDir(t))
	cfg.Runtime = "crun"
	f = newFixture(t, open(t, cfg))
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"true"}})
	if sandbox.Code(out.err) != sandbox.CodeFailed || !strings.Contains(out.err.Error(), "hybrid mode") {
		t.Fatalf("the configured runtime is the only one: %v", out.err)
	}
}

// An image of somebody else's: one static program and nothing besides.
func TestImageByName(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	owner := config(t, dir)
	open(t, owner)
	socket := filepath.Join(owner.Dir, "podman.sock")

	src := t.TempDir()
	program := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\t_, err := os.Stat(\"/usr/bin/bash\")\n\tfmt.Println(\"from the image\", os.Getuid(), os.IsNotExist(err))\n\tos.WriteFile(\"made\", nil, 0o644)\n}\n"
	if err := os.WriteFile(filepath.Join(src, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	hello := build(t, filepath.Join(src, "main.go"), filepath.Join(src, "hello"))
	importImage(t, socket, hello, "localhost/bothy-test:1")

	cfg := config(t, shortDir(t))
	cfg.Socket, cfg.Image = socket, "localhost/bothy-test:1"
	m, err := sandbox.Open(t.Context(), cfg, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, m)
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"hello"}})
	if out.err != nil || out.stdout != "from the image 1000 true\n" {
		t.Errorf("got %+v", out)
	}
	if _, err := os.Stat(f.path("made")); err != nil {
		t.Error(err)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Error(err)
	}

	cfg.Image = "localhost/not-there:1"
	if _, err := sandbox.Open(t.Context(), cfg, logger(t)); sandbox.Code(err) != sandbox.CodeUnavailable || !strings.Contains(err.Error(), "not fetched") {
		t.Errorf("a missing image: %v", err)
	}
}

func importImage(t *testing.T, socket, program, name string) {
	t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	for _, h := range []tar.Header{
		{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "bin/hello", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("podman", "--url", "unix://"+socket, "import", "-", name)
	cmd.Stdin = io.Reader(&image)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
}

func TestCheckFindsPodman(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	cfg.View = build(t, "./view", filepath.Join(t.TempDir(), "bothy-view"))
	names := make(map[string]sandbox.Finding)
	for _, f := range sandbox.Check(t.Context(), cfg, "", logger(t)) {
		if f.Level == sandbox.LevelFail || f.Level != sandbox.LevelOK && f.Hint == "" {
			t.Errorf("got %+v", f)
		}
		names[f.Name] = f
	}
	for _, want := range []string{"user", "runner", "namespaces", "podman", "rootless", "subuids", "limits", "storage", "runtime", "view", "tools"} {
		if _, ok := names[want]; !ok {
			t.Errorf("nothing about %s", want)
		}
	}
	if f := names["view"]; f.Level != sandbox.LevelOK || !strings.Contains(f.Detail, filepath.Join(cfg.StateDir, "views")) {
		t.Errorf("got %+v", f)
	}
	missing := cfg
	missing.View = "/missing/bothy-view"
	for _, f := range sandbox.Check(t.Context(), missing, "", logger(t)) {
		if f.Name == "view" && (f.Level != sandbox.LevelWarn || !strings.Contains(f.Detail, "no program to make views") || f.Hint == "") {
			t.Errorf("got %+v", f)
		}
	}
	if left := processes(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) != 0 {
		t.Errorf("made %v, %v", made, err)
	}
	m := open(t, cfg)
	if f := sandbox.Check(t.Context(), cfg, "", logger(t)); len(f) != len(names) {
		t.Errorf("beside an open manager: %+v", f)
	}
	newFixture(t, m).ok("true")
}

// Limits hold where the host can enforce them; where it cannot, that is said.
func TestLimitsHoldOrAreReported(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.Limits = sandbox.Limits{Pids: 60, Memory: 256 << 20, CPUs: 1}
	m := open(t, cfg)
	f := newFixture(t, m)
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "for i in $(seq 100); do sleep 20 & done"}, Timeout: 2 * time.Second}) // bash tries again, slower and slower
	if out.err != nil || !strings.Contains(out.stderr, "Resource temporarily unavailable") {
		t.Errorf("processes are not bounded: %+v", out)
	}
	if got := f.ok(`dd if=/dev/zero of=/dev/null bs=400M count=1 2>&1; true`); !strings.Contains(got, "memory exhausted") {
		t.Errorf("memory is not bounded: %q", got)
	}
	limits := sandbox.Finding{}
	for _, finding := range sandbox.Check(t.Context(), cfg, "", logger(t)) {
		if finding.Name == "limits" {
			limits = finding
		}
	}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		t.Skip("cgroup: whether limits are delegated depends on the session here")
	}
	if limits.Level != sandbox.LevelWarn || !strings.Contains(limits.Detail, "not enforced") || len(m.Warnings()) == 0 {
		t.Errorf("nothing said: %+v, warnings %v", limits, m.Warnings())
	}
}

// TestCheckRunsACommand: in a project a command is run as a run's are, beside an open
// manager too, and nothing is left of that.
func TestCheckRunsACommand(t *testing.T) {
	needPodman(t)
	dir, project := shortDir(t), t.TempDir()
	cfg := config(t, dir)
	cfg.View = buildView(t)
	command := func(cfg sandbox.Config, project string) sandbox.Finding {
		t.Helper()
		for _, f := range sandbox.Check(t.Context(), cfg, project, logger(t)) {
			if f.Name == "command" {
				return f
			}
		}
		return sandbox.Finding{}
	}
	if f := command(cfg, project); f.Level != sandbox.LevelOK || !strings.Contains(f.Detail, "on a view of "+project) {
		t.Errorf("got %+v", f)
	}
	for _, folder := range []string{dir, project} {
		if made, err := os.ReadDir(folder); err != nil || len(made) != 0 {
			left, _ := exec.Command("find", folder).CombinedOutput()
			t.Errorf("%s has %v, %v: %.2000s", folder, made, err, left)
		}
	}
	if left := processes(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	newFixture(t, open(t, cfg)).ok("true")
	if f := command(cfg, project); f.Level != sandbox.LevelOK {
		t.Errorf("beside an open manager: %+v", f)
	}
	if f := command(cfg, cfg.StateDir); f.Level != sandbox.LevelWarn || f.Hint == "" {
		t.Errorf("where the data lie: %+v", f)
	}
	if f := command(cfg, filepath.Join(dir, "missing")); f.Level != sandbox.LevelFail {
		t.Errorf("no folder: %+v", f)
	}
}
