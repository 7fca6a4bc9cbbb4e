//go:build linux

package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk/protect"
)

// outside is a folder that does not lie where a container has its own home.
func outside(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bothy-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(dir) })
	return dir
}

// atItsOwnPath moves the project of a run to where it has its own path inside.
func (f *fixture) atItsOwnPath() {
	f.t.Helper()
	f.run.Project = filepath.Join(outside(f.t), "project")
	if err := os.Mkdir(f.run.Project, 0o755); err != nil {
		f.t.Fatal(err)
	}
}

// host runs a script on the host.
func (f *fixture) host(script string) {
	f.t.Helper()
	if out, err := exec.Command("bash", "-ec", script).CombinedOutput(); err != nil {
		f.t.Fatal(string(out), err)
	}
}

// homeFixture is a run whose commands have the toolchains and caches of a home of the
// test's own, which it makes.
func homeFixture(t *testing.T, viewed bool) (f *fixture, home string) {
	t.Helper()
	dir := shortDir(t)
	home = filepath.Join(outside(t), "home")
	for path, text := range map[string]string{
		".cargo/bin/hello":            "#!/bin/sh\necho hello from cargo\n",
		".cargo/registry/src/a/lib":   "source",
		".cargo/credentials.toml":     "canary",
		"go/pkg/mod/x@v1/x.go":        "package x",
		"go/pkg/mod/cache/vcs/config": "canary",
		"go/pkg/mod/.netrc":           "canary",
		".npm/_cacache/index":         "index",
		".npm/_logs/log":              "canary",
		".npmrc":                      "canary",
		".ssh/id_rsa":                 "canary",
		".local/bin/.env":             "canary",
		".m2/settings.xml":            "canary",
	} {
		at := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cfg := config(t, dir)
	cfg.Tools = func() toolchain.Found { return toolchain.Find(home, []string{"/usr/bin"}, protect.Secret) }
	cfg.Identity = sandbox.Identity{Name: `A "quoted" \ name`, Email: "a@example.org"}
	if viewed {
		cfg.View, cfg.Judge = buildView(t), judgeByName{}
	}
	return newFixture(t, open(t, cfg)), home
}

// TestHome: commands have the toolchains and caches of the person's home and nothing else
// of it. What they add to a cache, later commands of the run have, and nobody else.
func TestHome(t *testing.T) {
	for name, viewed := range map[string]bool{"view": true, "project": false} {
		t.Run(name, func(t *testing.T) {
			f, home := homeFixture(t, viewed)
			if got := f.ok("hello; cat ~/.cargo/registry/src/a/lib " + home + "/go/pkg/mod/x@v1/x.go ~/go/pkg/mod/x@v1/x.go"); got != "hello from cargo\nsourcepackage xpackage x" {
				t.Errorf("got %q", got)
			}
			if out := f.bash("grep -rs canary / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr; echo done"); strings.TrimSpace(out.stdout) != "done" {
				t.Errorf("a canary is seen: %s", out.stdout)
			}
			if out := f.bash("echo bad >" + home + "/.cargo/bin/hello"); out.ExitCode == 0 {
				t.Error("a program of the home was changed")
			}
			if out := f.bash("echo new >~/go/pkg/mod/new && rm -r ~/.cargo/registry/src"); (out.ExitCode == 0) != viewed {
				t.Errorf("adding to a cache: %+v", out)
			}
			if viewed {
				if got := f.ok("cat " + home + "/go/pkg/mod/new; ls ~/.cargo/registry"); got != "new" {
					t.Errorf("got %q", got)
				}
			}
			f.host("mkdir -p " + home + "/go/pkg/mod/cache/vcs/later; echo canary >" + home + "/go/pkg/mod/cache/vcs/later/config")
			if out := f.bash("cat " + home + "/go/pkg/mod/cache/vcs/later/config"); out.ExitCode == 0 {
				t.Errorf("what came to a withheld folder later is seen: %s", out.stdout)
			}
			for path, want := range map[string]bool{"go/pkg/mod/new": false, ".cargo/registry/src/a/lib": true} {
				if _, err := os.Stat(filepath.Join(home, path)); (err == nil) != want {
					t.Errorf("%s in the home: %v", path, err)
				}
			}
			if got := f.ok(`git config user.name; git config user.email; git init -q r; git -C r config user.name other; git -C r config user.name`); got != "A \"quoted\" \\ name\na@example.org\nother" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestProjectAtItsOwnPath: the project lies at its own path too, and what commands change
// there is judged and applied as at /workspace.
func TestProjectAtItsOwnPath(t *testing.T) {
	for name, fixture := range map[string]func(testing.TB) *fixture{"view": viewFixture, "project": func(t testing.TB) *fixture { return newFixture(t, shared(t)) }} {
		t.Run(name, func(t *testing.T) {
			f := fixture(t)
			f.atItsOwnPath()
			f.write("f", "one")
			project := f.run.Project
			if got := f.ok("cat " + project + "/f; echo two >" + project + "/g; cat /workspace/g; mkdir -p " + project + "/.claude; echo x >" + project + "/.claude/refused; rm f; ls " + project); got != "onetwo\ng" {
				t.Errorf("got %q", got)
			}
			if _, err := os.Stat(f.path(".claude/refused")); err == nil {
				t.Error("a refused path was written by the project's own path")
			}
			if text, err := os.ReadFile(f.path("g")); err != nil || string(text) != "two\n" {
				t.Errorf("got %q %v", text, err)
			}
		})
	}
}

// TestPrivateRunHasNothingOfTheHome: who gives such a run its prompts need not be the person.
func TestPrivateRunHasNothingOfTheHome(t *testing.T) {
	f, home := homeFixture(t, true)
	f.run.Project = ""
	if out := f.bash("hello || ls " + home + "/.cargo || ls ~/.cargo || git config user.name || echo $PATH | grep " + home); out.ExitCode == 0 {
		t.Errorf("got %q", out.stdout)
	}
}

// TestResetForgetsCaches: after a reset the caches are as the home has them.
func TestResetForgetsCaches(t *testing.T) {
	f, _ := homeFixture(t, true)
	f.ok("echo new >~/go/pkg/mod/new; mkdir -m 0 ~/go/pkg/mod/closed")
	if err := f.manager.Reset(context.Background(), f.run); err != nil {
		t.Fatal(err)
	}
	if got := f.ok("ls ~/go/pkg/mod"); got != "cache\nx@v1" {
		t.Errorf("got %q", got)
	}
}

// TestHomeChangesWhileTheManagerRuns: what is gone keeps no container from being made, and
// what is new is there in the next one.
func TestHomeChangesWhileTheManagerRuns(t *testing.T) {
	f, home := homeFixture(t, true)
	f.ok("hello")
	for _, path := range []string{".cargo/registry", ".npm/_cacache"} {
		if err := os.RemoveAll(filepath.Join(home, path)); err != nil {
			t.Fatal(err)
		}
	}
	f.ok("rm ~/.npm/_cacache; mkdir -p ~/.npm/_cacache ~/.bun/install/cache; touch ~/.bun/install/cache/own")
	for path, text := range map[string]string{".bun/install/cache/one": "", ".deno/bin/later": "#!/bin/sh\necho later\n", ".cargo/bin/.env": "canary"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, path), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.manager.Drop(t.Context(), f.run.RunID); err != nil {
		t.Fatal(err)
	}
	if got := f.ok("hello; later; cat ~/.cargo/bin/.env; ls ~/.bun/install/cache; mkdir ~/.cargo/registry"); got != "hello from cargo\nlater\none" {
		t.Errorf("got %q", got)
	}
}
