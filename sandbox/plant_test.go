//go:build linux

package sandbox_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk/protect"
)

// planted is a command that git runs when it looks at a repository whose
// configuration says so; then the file exists.
const pwn = `touch "$HOME/pwned"`

// look does on the host what people and their editors do all the time.
func (f *fixture) look(dirs ...string) {
	f.t.Helper()
	home := f.t.TempDir()
	for _, dir := range append([]string{"."}, dirs...) {
		for _, args := range [][]string{{"status"}, {"diff"}, {"log", "-1"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir = f.path(dir)
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
			_ = cmd.Run() // most of these are no repositories any more
		}
	}
	if _, err := os.Stat(filepath.Join(home, "pwned")); !errors.Is(err, fs.ErrNotExist) {
		f.t.Errorf("git on the host ran what a command planted (%v)", err)
	}
}

// evilConfig is what makes git run a command at any look.
const evilConfig = `printf '[core]\nrepositoryformatversion=0\nfsmonitor=touch "$HOME/pwned"; false\nhooksPath=%s\n' "$PWD/h" >`

func TestNoCommandPlantsAnythingThatGitRuns(t *testing.T) {
	needTool(t, "git")
	for name, c := range map[string]struct {
		script string
		enter  string
		sealed bool // all of it lies in the project's own repository, which is read-only
	}{
		"commondir":            {`mkdir e; cp -r .git/objects .git/refs e; ` + evilConfig + `e/config; echo ../e >.git/commondir`, ".", true},
		"config.worktree":      {`git config extensions.worktreeConfig true; ` + evilConfig + `.git/config.worktree`, ".", true},
		"nested":               {`git init -q sub; ` + evilConfig + `sub/.git/config; echo '#!/bin/sh' >sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/*`, "sub", false},
		"nested in the index":  {`git init -q sub; (cd sub; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x); git add sub; ` + evilConfig + `sub/.git/config`, ".", false},
		"nested by a file":     {`git init -q --bare e; mkdir sub; echo 'gitdir: ../e' >sub/.git; ` + evilConfig + `e/config`, "sub", false},
		"nested by a link":     {`git init -q --bare e; mkdir sub; ln -s ../e sub/.git; ` + evilConfig + `e/config`, "sub", false},
		"bare":                 {`mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/x' >docs/HEAD; ` + evilConfig + `docs/config; echo '[core] worktree=..' >>docs/config`, "docs", false},
		"bare by commondir":    {`mkdir -p docs e/objects e/refs; echo 'ref: refs/heads/x' >docs/HEAD; echo ../e >docs/commondir; ` + evilConfig + `e/config; echo '[core] worktree=..' >>e/config`, "docs", false},
		"worktrees":            {`git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git worktree add -q wt; mkdir e; echo ../../../e >.git/worktrees/wt/commondir; cp -r .git/objects .git/refs e; ` + evilConfig + `e/config`, "wt", true},
		"behind closed doors":  {`mkdir -p a/b; git init -q a/b/c; ` + evilConfig + `a/b/c/.git/config; chmod 0 a/b/c/.git a/b a`, "a/b/c", false},
		"in a closed project":  {`mkdir -p .bothy; git init -q sub; ` + evilConfig + `sub/.git/config; chmod 0 .`, "sub", false},
		"in a closed .git":     {`mkdir e; cp -r .git/objects .git/refs e; ` + evilConfig + `e/config; echo ../e >.git/commondir; chmod 0 .git`, ".", true},
		"moved into place":     {`cd /tmp; git init -q r; mkdir -p $OLDPWD/x/y; mv r $OLDPWD/x/y/; cd $OLDPWD; ` + evilConfig + `x/y/r/.git/config`, "x/y/r", false},
		"by a second nested":   {`mkdir -p v/.git/objects; git init -q v/w; ` + evilConfig + `v/w/.git/config`, "v/w", false},
		"submodule by hand":    {`mkdir -p .git/modules/m/objects .git/modules/m/refs m; echo 'ref: refs/heads/x' >.git/modules/m/HEAD; echo 'gitdir: ../.git/modules/m' >m/.git; ` + evilConfig + `.git/modules/m/config`, "m", false},
		"kept by a background": {`git init -q sub; (while :; do ` + evilConfig + `sub/.git/config; done) & until [ -s sub/.git/config ]; do sleep 0.01; done`, "sub", false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f := newFixture(t, shared(t))
			f.gitInit()
			out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "mkdir h; echo '" + pwn + "' >h/pre-commit; chmod +x h/pre-commit; " + c.script}, Timeout: 10 * time.Second})
			if out.err != nil || (len(out.Violations) == 0) != c.sealed {
				t.Fatalf("got %+v %v", out, out.err)
			}
			for _, v := range out.Violations {
				if v.Action != sandbox.ActionRemoved {
					t.Errorf("got %+v", v)
				}
			}
			_ = exec.Command("chmod", "-R", "u+rwx", f.run.Project).Run()
			f.look(c.enter)
			if next := f.bash("true"); next.ExitCode != 0 || len(next.Violations) != 0 {
				t.Errorf("the next command: %+v", next)
			}
			f.look(c.enter)
		})
	}
}

// TestGitRunsNothingOfAFolderThatLooksBare: a repository without .git is made of
// files as any command may write them, and its settings name programs.
func TestGitRunsNothingOfAFolderThatLooksBare(t *testing.T) {
	f := newFixture(t, shared(t))
	needTool(t, "git")
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", `mkdir -p ~/docs/objects ~/docs/refs && cd ~/docs && echo 'ref: refs/heads/x' >HEAD &&
printf '[core]\nrepositoryformatversion=0\nbare=false\nworktree=..\n[diff]\nexternal=touch /workspace/pwned\n[alias]\nst=!touch /workspace/pwned\n' >config &&
git status; git st; git --git-dir=. rev-parse --git-dir`}})
	if f.tree("pwned") != "" {
		t.Error("git ran what a folder names")
	}
	if out.err != nil || out.ExitCode != 0 || !strings.Contains(out.stderr, "safe.bareRepository") || out.stdout != "/home/bothy/docs\n" {
		t.Errorf("got %+v %v: %s%s", out.Result, out.err, out.stdout, out.stderr)
	}
}

func TestRepositoriesBelowAProject(t *testing.T) {
	f := newFixture(t, shared(t))
	needTool(t, "git")
	f.hostGit("init", "-q", "lib/sub")
	f.hostGit("init", "-q", "--bare", "remote.git")
	trees := func() string {
		return f.tree("lib/sub/.git/config") + f.tree("lib/sub/.git/hooks") + f.tree("remote.git/config") + f.tree("remote.git/hooks")
	}
	before := trees()
	f.bash(`for d in lib/sub/.git remote.git; do
  echo evil >>$d/config; rm -rf $d/hooks; mv $d/hooks h; mv $d moved; git --git-dir=$d config core.fsmonitor evil
done; true`)
	if after := trees(); after != before {
		t.Fatalf("changed:\n%s\nbefore:\n%s", after, before)
	}
	f.ok("git -C lib/sub status --porcelain && git --git-dir=remote.git branch")
	if out := f.bash("touch lib/sub/.git/new"); out.ExitCode == 0 {
		t.Error("a command writes into the repository of a folder")
	}
	// Another repository in the place of one that was moved away.
	out := f.bash("mv lib gone; cp -r gone lib; rm -f lib/sub/.git/config; echo evil >lib/sub/.git/config; echo evil >lib/sub/.git/hooks/new; echo ../x >lib/sub/.git/commondir")
	if after := trees(); after != before || f.tree("lib/sub/.git/commondir") != "" {
		t.Fatalf("changed:\n%s\nbefore:\n%s", after, before)
	}
	if len(out.Violations) == 0 {
		t.Error("nothing was reported")
	}
	// What the host adds between two commands is the host's.
	f.hostGit("init", "-q", "later")
	if out := f.bash("echo evil >>later/.git/config; true"); len(out.Violations) != 0 || strings.Contains(f.tree("later/.git/config"), "evil") {
		t.Fatalf("got %+v", out)
	}
}

func TestRepositoriesMayBeMovedAndCopied(t *testing.T) {
	f := newFixture(t, shared(t))
	needTool(t, "git")
	f.hostGit("init", "-q", "lib/sub")
	f.hostGit("init", "-q", "--bare", "remote.git")
	for _, script := range []string{"mv lib moved", "cp -r moved/sub copy", "mv moved/sub deep; rmdir moved", "cp -r remote.git second"} {
		if out := f.bash(script); out.ExitCode != 0 || len(out.Violations) != 0 {
			t.Fatalf("%s: got %+v", script, out)
		}
	}
	for _, name := range []string{"deep/.git/config", "copy/.git/config", "second/HEAD"} {
		if f.tree(name) == "" {
			t.Errorf("%s is gone", name)
		}
	}
	out := f.bash("cp -r deep changed; echo evil >>changed/.git/config")
	if len(out.Violations) == 0 || f.tree("changed/.git/config") != "" {
		t.Fatalf("got %+v", out)
	}
}

func TestConfiguredHooksAreProtected(t *testing.T) {
	f := newFixture(t, shared(t))
	f.gitInit()
	f.write("team/git.cfg", "[core]\nhooksPath = team/hooks\n")
	f.write("team/hooks/pre-commit", "#!/bin/sh\n")
	f.hostGit("config", "include.path", "../team/git.cfg")
	before := f.tree("team")
	f.bash("echo evil >>team/git.cfg; echo evil >>team/hooks/pre-commit; echo evil >team/hooks/post-commit; mv team away; mv team/hooks away; rm -rf team")
	if after := f.tree("team"); after != before {
		t.Fatalf("changed:\n%s\nbefore:\n%s", after, before)
	}
}

// Two runs in one project: what one plants must not become what the other
// believes was there, and brings back.
func TestTwoRunsInOneProject(t *testing.T) {
	f := newFixture(t, shared(t))
	f.gitInit()
	other := f.run
	other.RunID, other.RunDir = f.run.RunID+"-other", filepath.Join(filepath.Dir(f.run.RunDir), "other")
	planted, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{
			Argv: []string{"bash", "-c", "mkdir -p .bothy; echo evil >.bothy/x; echo planted; until [ -e begun ]; do sleep 0.01; done"}, Timeout: 30 * time.Second,
		}, func(int, []byte) { close(planted) })
		ended <- err
	}()
	select {
	case <-planted:
		if f.tree(".bothy/x") == "" {
			t.Error("nobody else sees what a command made while it runs")
		}
	case err := <-ended:
		t.Fatal(err)
	}
	out, err := f.manager.Exec(t.Context(), other, sandbox.Command{
		Argv: []string{"bash", "-c", "touch begun; while [ -e .bothy/x ]; do sleep 0.01; done; mkdir -p .bothy; echo again >.bothy/x; true"}, Timeout: 30 * time.Second,
	}, nil)
	if err != nil || out.ExitCode != 0 {
		t.Fatalf("got %+v %v", out, err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if tree := f.tree(".bothy"); tree != "" {
		t.Fatalf("what was planted is there:\n%s", tree)
	}
	if err := f.manager.Reset(t.Context(), other); err != nil {
		t.Fatal(err)
	}
}

// TestTheHostObeysWhatIsMadeMeanwhile: where commands work in the project itself, git
// obeys a repository that a command made for as long as that runs, which
// docs/security.md says.
func TestTheHostObeysWhatIsMadeMeanwhile(t *testing.T) {
	f := newFixture(t, shared(t))
	needTool(t, "git")
	home := t.TempDir()
	status := func() bool {
		cmd := exec.Command("git", "status")
		cmd.Dir, cmd.Env = f.path("sub"), []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, _ := cmd.CombinedOutput() // it fails where the monitor does
		t.Logf("%s", out)
		_, err := os.Stat(filepath.Join(home, "pwned"))
		return err == nil
	}
	var once sync.Once
	meanwhile := false
	r, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{
		Argv: []string{"bash", "-c", "git init -q sub; " + evilConfig + "sub/.git/config; echo made; until test -e on; do sleep 0.01; done"}, Timeout: time.Minute,
	}, func(int, []byte) {
		once.Do(func() {
			meanwhile = status()
			f.write("on", "")
		})
	})
	if err != nil || r.ExitCode != 0 || !meanwhile || len(r.Violations) == 0 {
		t.Errorf("obeyed: %v; %+v %v", meanwhile, r, err)
	}
	_ = os.Remove(filepath.Join(home, "pwned")) // of the first look
	if status() {
		t.Error("git obeys it when the command has ended")
	}
}

// TestWhatIsAskedIsWrittenInTheProjectItself: there nobody is asked about a path, what
// the configuration lists is not protected, and no change is told.
func TestWhatIsAskedIsWrittenInTheProjectItself(t *testing.T) {
	cfg := config(t, shortDir(t))
	cfg.Protector = protect.Rules{Refuse: []string{"keys"}, Ask: []string{"Makefile"}}
	f := newFixture(t, open(t, cfg))
	f.write("keys/a", "before")
	out := f.bash("mkdir .vscode; for p in .vscode/tasks.json .envrc Makefile keys/a; do echo run >$p; done")
	if out.ExitCode != 0 || out.Viewed || len(out.Held)+len(out.Violations)+len(out.Changes) != 0 {
		t.Errorf("got %+v", out.Result)
	}
	for _, name := range []string{".vscode/tasks.json", ".envrc", "Makefile", "keys/a"} {
		if text, err := os.ReadFile(f.path(name)); err != nil || string(text) != "run\n" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

func TestAHomeThatACommandClosed(t *testing.T) {
	f := newFixture(t, shared(t))
	f.bash("chmod 0 ~/tmp ~/.cache ~ .")
	if out := f.bash("mktemp && touch ~/x file"); out.ExitCode != 0 {
		t.Fatalf("got %+v", out)
	}
}

// Where a project holds Bothy itself, as somebody's home does, what a command
// writes there would be obeyed on the host.
func TestBothyItselfIsProtected(t *testing.T) {
	f := newFixture(t, nil)
	cfg := config(t, shortDir(t))
	cfg.Protector = protect.Rules{Bothy: []string{f.path(".config/bothy"), f.path("state"), f.path("build/libexec/bothy")}}
	f.manager = open(t, cfg)
	f.write("state/bothy.db", "d")
	f.write("build/libexec/bothy/bothy-plugin-x", "p")
	before := f.tree("state") + f.tree("build")
	out := f.bash("mkdir -p .config/bothy; echo evil >.config/bothy/config.hcl; echo evil >>state/bothy.db; rm -rf state; mv state gone; echo evil >>build/libexec/bothy/bothy-plugin-x; mv build gone; mv build/libexec gone; mv build/libexec build/gone; rm -rf build; true")
	if after := f.tree("state") + f.tree("build"); after != before {
		t.Fatalf("changed:\n%s\nbefore:\n%s", after, before)
	}
	if len(out.Violations) != 1 || out.Violations[0].Path != ".config/bothy" || f.tree(".config/bothy") != "" {
		t.Fatalf("got %+v", out.Violations)
	}
	f.run.Project = f.path("state")
	if out := f.exec(t.Context(), sandbox.Command{Argv: []string{"true"}}); sandbox.Code(out.err) != sandbox.CodeInvalid {
		t.Fatalf("got %+v", out)
	}
	f.run.Project = ""
	if out := f.bash("git init -q . 2>/dev/null; pwd"); out.stdout != "/workspace\n" {
		t.Fatalf("got %+v", out)
	}
}
