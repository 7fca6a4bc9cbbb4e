package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestLinks keeps Podman's packages out of the daemon: they are the bash
// plugin's, and several times the size of all the rest.
func TestLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "modernc.org/sqlite") {
		t.Fatalf("this is not the daemon's list:\n%s", out)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		if strings.HasSuffix(pkg, "bothy/sandbox/toolchain") { // it looks at folders, with the standard library
			continue
		}
		if strings.Contains(pkg, "podman") || strings.Contains(pkg, "bothy/sandbox") {
			t.Errorf("bothyd links %s", pkg)
		}
	}
}

// call runs bothyd in this process, with a home of its own.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestSubCommands(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	broken := filepath.Join(t.TempDir(), "broken.hcl")
	if err := os.WriteFile(broken, []byte("sandbox {\n  memory = \n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args  string
		code        int
		out, errors string
	}{
		{"version", "version", 0, sdk.Version, ""},
		{"help", "--help", 0, "doctor", ""},
		{"unknown flag", "--colour", exitUsage, "", "colour"},
		{"unknown command", "srve", exitUsage, "", "srve"},
		{"a good configuration", "config check", 0, "", ""},
		{"as JSON", "config check --json", 0, `"ok": true`, ""},
		{"a broken one", "config check --config " + broken, exitUsage, "", "broken.hcl:2:12"},
		{"a broken one as JSON", "config check --json --config " + broken, exitUsage, `"line": 2`, ""},
		{"every value", "config show", 0, "sandbox.timeout", ""},
		{"no daemon with a broken one", "--config " + broken, exitUsage, "", "broken.hcl:2:12"},
		{"a file that is not there", "--config /nowhere/config.hcl", exitUsage, "", "/nowhere/config.hcl"},
		{"a level that is none", "--log-level loud", exitUsage, "", "loud"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := call(t, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errors) {
				t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", code, c.code, out, errs)
			}
		})
	}
}

// TestConfigCheckOfAProject: the file that a prompt given here would be held to is
// checked, from below and behind a link too. Home has none.
func TestConfigCheckOfAProject(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	wrong := []byte("guard {\n  max_turns = \"many\"\n}\n")
	for _, dir := range []string{".bothy", "p/.bothy", "p/sub", "q/.git"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{".bothy", "p/.bothy"} {
		if err := os.WriteFile(filepath.Join(home, dir, "config.hcl"), wrong, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "p", "sub"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]int{"": exitOK, "q": exitOK, "p": exitUsage, "p/sub": exitUsage, "link": exitUsage} {
		t.Chdir(filepath.Join(home, dir))
		code, _, errs := call(t, "config", "check")
		if says := strings.Contains(errs, "p/.bothy/config.hcl:2"); code != want || says != (want == exitUsage) {
			t.Errorf("in %q: exit %d, want %d\n%s", dir, code, want, errs)
		}
	}
}

// TestConfigShowFitsATerminal: it has the place and the meaning of a setting
// beside its value, and is not wide.
func TestConfigShowFitsATerminal(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("BOTHY_SANDBOX_PIDS", "7")
	_, out, _ := call(t, "config", "show")
	for line := range strings.Lines(out) {
		if len(line) > 100 {
			t.Errorf("%d wide: %s", len(line)-1, line)
		}
	}
	want := regexp.MustCompile(`(?m)^sandbox.pids +7 +BOTHY_SANDBOX_PIDS\n    processes of a run's container$`)
	if !want.MatchString(out) {
		t.Error(out)
	}
}
