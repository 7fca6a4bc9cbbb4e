//go:build linux

package sandbox_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// gitInit makes the fixture's project a repository, on the host.
func (f *fixture) gitInit() {
	f.t.Helper()
	needTool(f.t, "git")
	f.hostGit("init", "-q")
	f.hostGit("config", "user.name", "host")
	f.hostGit("config", "user.email", "host@example.com")
}

func (f *fixture) hostGit(args ...string) {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = f.run.Project
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// tree is what a path holds, to be compared.
func (f *fixture) tree(name string) string {
	f.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(f.path(name), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out.WriteString(path + " " + info.Mode().String())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out.Write(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			out.WriteString(target)
		}
		out.WriteString("\n")
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out.String()
}

var protectedNames = []string{".git", ".bothy", ".agents", ".claude", ".bashrc", "bothy.lock"}

func (f *fixture) trees() string {
	var all []string
	for _, name := range protectedNames {
		all = append(all, f.tree(name))
	}
	return strings.Join(all, "--\n")
}

// evil tries to change every protected path in every way the shell knows.
const evil = `
for p in .git/hooks .bothy .agents .claude/skills; do
  echo 'touch /tmp/pwned' >$p/pre-commit; mkdir $p/sub; rm -rf $p; mv $p gone; ln -sfn /tmp $p; rmdir $p; chmod 777 $p
done
for p in .git/config .bashrc bothy.lock; do
  echo evil >$p; echo evil >>$p; rm -f $p; mv $p gone-too; ln -sf /tmp/x $p; cp /etc/passwd $p; chmod 777 $p; ln $p hard && echo evil >hard
done
mv .claude elsewhere; mv .git elsewhere; rm -rf .git/hooks; ln -s /tmp .git/new
git config core.fsmonitor evil; git config core.hooksPath /workspace
mkdir evilgit; echo ../evilgit >.git/commondir; echo evil >.git/config.worktree; mkdir -p .git/modules/x; echo evil >.git/modules/x/config
true`

func TestProtectedPathsOfARepository(t *testing.T) {
	f := newFixture(t, shared(t))
	f.gitInit()
	f.write(".bothy/config.hcl", "deny = []\n")
	f.write(".agents/skills/a/SKILL.md", "---\nname: a\n---\n")
	f.write(".claude/skills/a/SKILL.md", "---\nname: a\n---\n")
	f.write("bothy.lock", "locked\n")
	f.write(".bashrc", "alias a=b\n")
	before := f.trees()
	out := f.bash(evil)
	if after := f.trees(); after != before {
		t.Fatalf("changed:\n%s\nbefore:\n%s", after, before)
	}
	if info, err := os.Lstat(f.path(".git")); err != nil || !info.IsDir() {
		t.Fatalf(".git: %v %v", info, err)
	}
	if len(out.Violations) != 0 {
		t.Errorf("nothing could be made, and yet: %+v", out.Violations)
	}
	f.hostGit("commit", "-q", "--allow-empty", "-m", "works")
	f.ok("git status --porcelain && git log --oneline | grep works")
	for _, script := range []string{"mv .git x", "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"} {
		if got := f.bash(script); got.ExitCode == 0 {
			t.Errorf("%s succeeded", script)
		}
	}
}

func TestProtectedPathsThatDoNotExist(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		paths  []string
	}{
		"git init":                     {"git init -q .; echo evil >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout", []string{".git/config", ".git/hooks"}},
		"git as a file":                {"mkdir g; echo 'gitdir: g' >.git", []string{".git"}},
		"git as a link":                {"mkdir -p g/hooks; ln -s g .git", []string{".git"}},
		"git as a link to the host":    {"ln -s /tmp .git; ln -s / .bothy", []string{".bothy", ".git"}},
		"bothy itself":                 {"mkdir -p .bothy/skills/x; echo evil >.bothy/config.hcl; touch bothy.lock", []string{".bothy", "bothy.lock"}},
		"skills of other agents":       {"mkdir -p .claude/skills/x; echo evil >.claude/skills/x/SKILL.md; echo {} >.claude/settings.json", []string{".claude"}},
		"skills behind a link":         {"mkdir -p c/skills/x; ln -s c .claude", []string{".claude"}},
		"directories nobody may enter": {"mkdir -p .agents/a/b; touch .agents/a/b/c; chmod 0 .agents/a/b .agents/a .agents", []string{".agents"}},
		"below the top":                {"mkdir -p a/b/.claude c; echo {} >a/b/.claude/settings.json; echo evil >c/.bashrc; mkdir -p .agents/.agents", []string{".agents", "a/b/.claude", "c/.bashrc"}},
		"odd names":                    {`mkdir .agents; touch ".agents/"$'\xff\n'; mkfifo .agents/f; ln -s /etc/passwd .agents/l`, []string{".agents"}},
		"a large one":                  {"mkdir .bothy; head -c 20000000 /dev/zero >.bothy/big", []string{".bothy"}},
		"kept alive in the background": {"(while :; do mkdir -p .bothy; done) & until [ -d .bothy ]; do sleep 0.01; done", []string{".bothy"}},
		"made at the timeout":          {"mkdir .bothy; sleep 600", []string{".bothy"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f := newFixture(t, shared(t))
			timeout := 10 * time.Second
			if name == "made at the timeout" {
				timeout = time.Second
			}
			out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", c.script}, Timeout: timeout})
			if out.err != nil {
				t.Fatal(out.err)
			}
			var got []string
			for _, v := range out.Violations {
				got = append(got, v.Path)
				if v.Action != sandbox.ActionRemoved {
					t.Errorf("got %+v", v)
				}
				if _, err := os.Lstat(v.Kept); (err == nil) == (name == "git as a link to the host") {
					t.Errorf("whether a copy of %s is kept: %v", v.Path, err)
				}
				if _, err := os.Lstat(filepath.Join(v.Kept, "big")); err == nil {
					t.Errorf("a copy of %s is kept with all that is large in it", v.Path)
				}
			}
			if strings.Join(got, " ") != strings.Join(c.paths, " ") {
				t.Errorf("violations %q, want %q", got, c.paths)
			}
			for _, p := range c.paths {
				if _, err := os.Lstat(f.path(p)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s survived: %v", p, err)
				}
			}
			if strings.HasPrefix(c.script, "git init") {
				f.ok("git status")
			}
			if next := f.bash("echo next"); next.stdout != "next\n" || len(next.Violations) != 0 {
				t.Errorf("the next command: %+v", next)
			}
		})
	}
}

// TestProtectedNamesBelowTheTop: what has a protected name is read-only wherever it
// lies, nothing takes its place, and it may be copied as it is.
func TestProtectedNamesBelowTheTop(t *testing.T) {
	f := newFixture(t, shared(t))
	f.write("sub/.claude/settings.json", "{}\n")
	f.write("sub/.bashrc", "alias a=b\n")
	f.write("sub/free", "free\n")
	before := f.tree("sub")
	for _, script := range []string{
		"echo evil >sub/.claude/settings.json", "echo evil >sub/.claude/new", "rm -r sub/.claude", "mv sub other", "rm sub/.bashrc", "echo evil >sub/.bashrc",
	} {
		if out := f.bash(script); out.ExitCode == 0 || len(out.Violations) != 0 {
			t.Errorf("%s: exit code %d, violations %+v", script, out.ExitCode, out.Violations)
		}
	}
	if after := f.tree("sub"); after != before {
		t.Errorf("changed:\n%s\nbefore:\n%s", after, before)
	}
	out := f.bash("cp -r sub copied; echo more >sub/free; mkdir evil; cp -r sub/.claude evil; echo no >evil/.claude/settings.json")
	if len(out.Violations) != 1 || out.Violations[0].Path != "evil/.claude" {
		t.Errorf("violations %+v", out.Violations)
	}
	if text, err := os.ReadFile(f.path("copied/.claude/settings.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("the copy: %q %v", text, err)
	}
}

func TestNoViolationWithoutAChange(t *testing.T) {
	f := newFixture(t, shared(t))
	f.write(".bothy/config.hcl", "x")
	for range 3 {
		if out := f.bash("echo x >file; mkdir -p d; rm -rf d"); len(out.Violations) != 0 {
			t.Fatalf("got %+v", out.Violations)
		}
	}
}

// The host's git replaces .git/config by renaming, which commands see at once.
func TestGitConfigOnTheHostBetweenCommands(t *testing.T) {
	f := newFixture(t, shared(t))
	f.gitInit()
	f.ok("true")
	f.hostGit("config", "bothy.mark", "kept")
	before := f.tree(".git/config")
	out := f.bash("git config bothy.mark; git config core.fsmonitor evil; echo evil >>.git/config")
	if out.stdout != "kept\n" || len(out.Violations) != 0 {
		t.Fatalf("got %+v", out)
	}
	if after := f.tree(".git/config"); after != before {
		t.Fatalf("changed: %s", after)
	}
}

func TestMountDetachedDuringACommand(t *testing.T) {
	f := newFixture(t, shared(t))
	f.gitInit()
	before, err := os.ReadFile(f.path(".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(shortDir(t), "away")
	var once sync.Once
	r, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{
		Argv: []string{"bash", "-c", `echo on; until mkdir .git 2>/dev/null; do sleep 0.01; done; echo "[core] fsmonitor = evil" >.git/config`}, Timeout: 20 * time.Second,
	}, func(int, []byte) {
		once.Do(func() {
			if err := os.Rename(f.path(".git"), away); err != nil {
				t.Error(err)
			}
		})
	})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("got %+v %v", r, err)
	}
	i := slices.IndexFunc(r.Violations, func(v sandbox.Violation) bool { return v.Path == ".git/config" && v.Action == sandbox.ActionRestored })
	if i < 0 {
		t.Fatalf("got %+v", r.Violations)
	}
	after, err := os.ReadFile(f.path(".git/config"))
	if err != nil || string(after) != string(before) {
		t.Fatalf("got %s %v", after, err)
	}
	if kept, err := os.ReadFile(r.Violations[i].Kept); err != nil || !strings.Contains(string(kept), "evil") {
		t.Fatalf("what was found is not kept: %s %v", kept, err)
	}
	if out := f.bash("echo evil >>.git/config"); out.ExitCode == 0 {
		t.Fatal("the new container does not protect")
	}
}

func TestLinksOnTheWayToProtectedPaths(t *testing.T) {
	f := newFixture(t, shared(t))
	f.write("shared/hooks/pre-commit", "good")
	f.gitInit()
	if err := os.RemoveAll(f.path(".git/hooks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../shared/hooks", f.path(".git/hooks")); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, f.path(".agents")); err != nil {
		t.Fatal(err)
	}
	before := f.tree(".git/hooks") + f.tree(".agents") + f.tree("shared")
	out := f.bash("echo evil >.git/hooks/pre-commit; echo evil >shared/hooks/pre-commit; rm .git/hooks .agents; mkdir .git/hooks .agents; echo evil >.git/hooks/pre-commit")
	if after := f.tree(".git/hooks") + f.tree(".agents") + f.tree("shared"); after != before {
		t.Fatalf("got:\n%s\nwant:\n%s", after, before)
	}
	if len(out.Violations) != 1 || out.Violations[0].Path != ".agents" {
		t.Fatalf("got %+v", out.Violations)
	}
}

func TestWorktreeFileIsProtected(t *testing.T) {
	f := newFixture(t, shared(t))
	f.write(".git", "gitdir: /somewhere/else\n")
	out := f.bash("echo 'gitdir: evil' >.git; rm -f .git; mv .git x; true")
	if data, err := os.ReadFile(f.path(".git")); err != nil || string(data) != "gitdir: /somewhere/else\n" {
		t.Fatalf("got %q %v, %+v", data, err, out)
	}
}

// TestNothingIsJudgedInAPrivateWorkspace: what a command makes there stays, and
// nobody looks for it; a project that is mounted itself says why.
func TestNothingIsJudgedInAPrivateWorkspace(t *testing.T) {
	f := newFixture(t, shared(t))
	needTool(t, "git")
	if out := f.bash("true"); out.Direct == "" {
		t.Errorf("on the project itself: %+v", out)
	}
	f.run.Project = ""
	out := f.bash("git init -q . && mkdir .bothy && echo x >.bothy/x && echo '[a]' >>.git/config")
	if out.ExitCode != 0 || len(out.Violations) != 0 || out.Direct != "" {
		t.Fatalf("got %+v", out)
	}
	f.ok("cat .bothy/x && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | grep x")
}
