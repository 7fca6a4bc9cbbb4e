//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// plant is a script that a command of a run may be, and that makes the host's
// programs run or obey what it brings.
type plant struct {
	name   string
	script string
	// paths are what of it is refused or asked, and nobody on the host may ever see.
	paths []string
	// quiet says that git does not run it by itself; who reads it obeys it.
	quiet bool
}

// evil is the text of a configuration of git that runs a program at any look.
const evil = `printf '# ` + mark + `\n[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch \\"$HOME/pwned\\"; false"\n%s' "$more" >`

// repo makes a folder a repository but for its configuration.
const repo = `repo() { mkdir -p $1/objects $1/refs/heads; echo ref: refs/heads/x >$1/HEAD; }; `

// program is a script with the mark.
const program = `program() { printf '#!/bin/sh\n# ` + mark + `\ntouch "$HOME/pwned"\ncat "$1" 2>/dev/null\n' >$1; chmod +x $1; }; `

var plants = []plant{
	{name: "commondir", script: `echo ../docs/evil >.git/commondir`, paths: []string{".git/commondir"}},
	{name: "commondir by a link", script: `echo ../docs/evil >g/commondir`, paths: []string{".git/commondir", "g/commondir"}},
	{name: "commondir moved into place", script: `echo ../docs/evil >c; mv c .git/commondir`, paths: []string{".git/commondir"}},
	{name: "commondir as a link", script: `echo ../docs/evil >c; ln -s ../c .git/commondir`, paths: []string{".git/commondir"}},
	{name: "config.worktree", script: evil + `.git/config.worktree; printf '[extensions]\n\tworktreeConfig = true\n' >>.git/config`, paths: []string{".git/config.worktree"}},
	{name: "config", script: `git config -f .git/config core.fsmonitor 'touch "$HOME/pwned"; echo ` + mark + ` >/dev/null; false'`},
	{name: "nested", script: repo + `repo sub/.git; ` + evil + `sub/.git/config`, paths: []string{"sub/.git/config"}},
	{name: "nested by a file", script: `mkdir -p d; echo gitdir: ../docs/repo >d/.git`, paths: []string{"d/.git"}},
	{name: "nested by a link", script: `mkdir -p d; ln -sfn ../docs/repo d/.git`, paths: []string{"d/.git"}},
	{name: "bare", script: `echo ref: refs/heads/x >bare/HEAD`, paths: []string{"bare/HEAD"}},
	{name: "worktrees", script: `mkdir -p .git/worktrees/wt wt; cd .git/worktrees/wt; echo ../../../docs/evil >commondir; echo ref: refs/heads/x >HEAD; echo ../../../wt/.git >gitdir; cd ../../..; echo gitdir: ../.git/worktrees/wt >wt/.git`,
		paths: []string{".git/worktrees/wt", "wt/.git"}},
	{name: "modules", script: repo + `mkdir -p m; repo .git/modules/m; more='	worktree = ../../../m
'; ` + evil + `.git/modules/m/config; echo gitdir: ../.git/modules/m >m/.git`, paths: []string{".git/modules/m", "m/.git"}},
	{name: "hooks", script: program + `mkdir -p .git/hooks; program .git/hooks/pre-commit; git config -f .git/config --unset core.hooksPath`, paths: []string{".git/hooks/pre-commit"}},

	{name: "textconv", script: program + `program tools/textconv`},
	{name: "filter", script: program + `program tools/clean; program tools/smudge; touch x.flt`},
	{name: "merge driver", script: program + `program tools/merge`, quiet: true},
	{name: "fsmonitor", script: program + `program tools/fsmonitor`},
	{name: "pager", script: program + `program tools/pager`, quiet: true},
	{name: "editor and ssh", script: program + `program tools/editor; program tools/ssh`, quiet: true},
	{name: "alias", script: program + `program tools/alias`},
	{name: "gpg", script: program + `program tools/gpg`},
	{name: "programs moved", script: program + `mkdir t; for x in tools/*; do program t/${x#tools/}; done; rm -r tools; mv t tools`},
	{name: "husky", script: program + `program .husky/pre-commit; program .husky/_/pre-commit`},
	{name: "husky, a new hook", script: program + `program .husky/_/prepare-commit-msg; program .husky/commit-msg`, paths: []string{".husky/_/prepare-commit-msg", ".husky/commit-msg"}},

	{name: "rebase", script: `mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main >head-name; cat ../refs/heads/main >onto; cat ../refs/heads/main >orig-head; echo 'exec touch "$HOME/pwned"; : ` + mark + `' >git-rebase-todo; touch interactive done; echo 0 >msgnum; echo 1 >end`,
		paths: []string{".git/rebase-merge"}},
	{name: "rebase by a link", script: `mkdir g/rebase-merge; cd g/rebase-merge; echo refs/heads/main >head-name; cat ../refs/heads/main >onto; cat ../refs/heads/main >orig-head; echo 'exec touch "$HOME/pwned"; : ` + mark + `' >git-rebase-todo; touch interactive done; echo 0 >msgnum; echo 1 >end`,
		paths: []string{".git/rebase-merge"}},
	{name: "what lies in .git", quiet: true, script: `mkdir -p .git/info .git/objects/info .git/remotes .git/branches .git/sequencer .git/rebase-apply .git/refs/replace; echo '* diff=conv ` + mark + `' >.git/info/attributes; echo ../../docs/` + mark + ` >.git/objects/info/alternates; echo ../../docs/` + mark + ` >.git/objects/info/http-alternates; printf 'URL: ext::touch ` + mark + `\n' >.git/remotes/origin; echo ` + mark + ` >.git/branches/b; echo ` + mark + ` >.git/sequencer/todo; echo ` + mark + ` >.git/rebase-apply/patch; cp .git/refs/heads/main .git/refs/replace/$(cat .git/refs/heads/main); echo ` + mark + ` >.git/info/grafts`,
		paths: []string{".git/info/attributes", ".git/objects/info/alternates", ".git/objects/info/http-alternates", ".git/remotes/origin", ".git/branches/b", ".git/sequencer", ".git/rebase-apply", ".git/refs/replace", ".git/info/grafts"}},
	{name: "links in .git", quiet: true, script: `ln -sf ../docs/` + mark + ` .git/HEAD; ln -sf ../docs/` + mark + ` .git/index; ln -sfn ../docs/` + mark + ` .git/logs`},
	{name: "attributes", quiet: true, script: `echo '*.sh diff=conv filter=flt # ` + mark + `' >>.gitattributes; mkdir -p n; echo '* filter=flt # ` + mark + `' >n/.gitattributes`, paths: []string{"n/.gitattributes"}},
	{name: "what editors and agents obey", quiet: true, script: `for f in ` + strings.Join(obeyed, " ") + `; do mkdir -p $(dirname $f); echo ` + mark + ` >$f; done; echo ` + mark + ` >v/tasks.json; echo ` + mark + ` >v/settings.json`,
		paths: append([]string{".vscode/tasks.json"}, obeyed...)},
	{name: "what editors and agents obey, moved", quiet: true, script: `rm -rf x; mkdir x; cd x; for f in ` + strings.Join(obeyed, " ") + `; do mkdir -p $(dirname $f); echo ` + mark + ` >$f; done; for f in .[!.]* b*; do test -e ../$f || mv $f ..; done`,
		paths: obeyed},
}

// obeyed are paths that programs of the person run, load or obey, and that are not
// there.
var obeyed = []string{
	".claude/settings.json", ".claude/settings.local.json", ".claude/commands/x.md", ".claude/agents/x.md", ".claude/skills/x/SKILL.md",
	".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json", ".bothy/config.hcl", ".agents/x.md", "bothy.lock",
	".vscode/launch.json", ".idea/workspace.xml", ".zed/tasks.json", ".devcontainer/devcontainer.json", ".mcp.json", ".envrc", ".npmrc", ".gitmodules",
	".pre-commit-config.yaml", ".husky/post-checkout", ".github/workflows/x.yml", ".gitlab-ci.yml", ".cargo/config.toml", ".bashrc", ".zshenv", ".gitconfig",
	"deep/er/.vscode/tasks.json", "deep/er/.envrc", ".VSCODE/tasks.json", ".Claude/settings.json",
}

// watched are all paths that an editor waits for.
func watched() (all []string) {
	for _, p := range plants {
		all = append(all, p.paths...)
	}
	for _, x := range []string{"textconv", "clean", "smudge", "merge", "fsmonitor", "pager", "editor", "ssh", "alias", "gpg"} {
		all = append(all, "tools/"+x)
	}
	return append(all, ".git/config", ".husky/pre-commit", ".husky/_/pre-commit", ".gitattributes", ".vscode/settings.json")
}

// present are the planted paths that are on the host, whatever is in them.
func (p plant) present(project string) (found []string) {
	for _, name := range p.paths {
		if _, err := os.Lstat(filepath.Join(project, name)); err == nil {
			found = append(found, name+" is there")
		}
	}
	return found
}

// TestPlantsWork: each of the plants is obeyed or seen on a host where nothing is
// between it and the project. Where this fails the test below proves nothing.
func TestPlantsWork(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("tool: the host has no git")
	}
	for _, p := range plants {
		t.Run(strings.ReplaceAll(p.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h := newHost(t, filepath.Join(dir, "project"), filepath.Join(dir, "home"), watched())
			for range 2 {
				h.git()
			}
			h.edit()
			h.index()
			if fired := h.fired(); len(fired) != 0 {
				t.Fatalf("fired without a plant: %q", fired)
			}
			cmd := exec.Command("bash", "-ec", p.script)
			cmd.Dir, cmd.Env = h.project, h.env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			h.git()
			ran := slices.ContainsFunc(h.fired(), func(what string) bool { return strings.Contains(what, "ran") })
			h.edit()
			h.index()
			if seen := append(h.fired(), p.present(h.project)...); len(seen) == 0 || ran == p.quiet {
				t.Errorf("run: %v, seen: %q", ran, seen)
			}
		})
	}
}

// TestNothingPlantedFires: none of the plants is run, obeyed or seen on the host
// while commands make them and after it, and what is free comes to the project.
func TestNothingPlantedFires(t *testing.T) {
	needPodman(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("tool: the host has no git")
	}
	r := newRig(t, nil)
	h := newHost(t, r.project, filepath.Join(filepath.Dir(r.runDir), "person"), watched())
	h.start(t)
	h.around(t)
	if fired := h.fired(); len(fired) != 0 {
		t.Fatalf("fired without a plant: %q", fired)
	}
	for n := range plantings(t) {
		for i, p := range planted(n) {
			r.plant(h, p, fmt.Sprintf("%d.%d", n, i))
		}
		if t.Failed() {
			t.Fatalf("in round %d", n)
		}
		h.around(t)
		if fired := h.fired(); len(fired) != 0 {
			t.Fatalf("in round %d, after the last plant: %q", n, fired)
		}
		r.event(runReset)
		h.clean(t)
	}
}

// beds is how many commands the later rounds take.
const beds = 5

// planted are what the commands of a round are: each plant alone in the first round,
// and in the later ones every beds-th of them in one command, in which nothing hides
// what another plant would do.
func planted(round int) []plant {
	if round == 0 {
		return plants
	}
	all := make([]plant, beds)
	for i, p := range slices.Backward(plants) { // a .git/commondir comes last
		to := &all[i%beds]
		if to.name != "" {
			to.name, to.script = to.name+", ", to.script+"; "
		}
		to.name, to.script = to.name+p.name, to.script+"( "+p.script+" )"
		to.paths = append(to.paths, p.paths...)
	}
	return all
}

// plantings is how often everything is planted: once, and once for each 10 of
// BOTHY_KILLS where that says that there is time.
func plantings(t *testing.T) int {
	t.Helper()
	text := os.Getenv("BOTHY_KILLS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("BOTHY_KILLS: %v", err)
	}
	return max(n/10, 1)
}

// plant runs a plant, which stays until the host has gone around, and looks what
// came of it.
func (r *rig) plant(h *host, p plant, mine string) {
	r.t.Helper()
	home := filepath.Join(r.runDir, "home")
	for _, name := range []string{"ready", "go"} {
		_ = os.Remove(filepath.Join(home, name))
	}
	around := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(around)
		for {
			if unix.Access(filepath.Join(home, "ready"), unix.F_OK) == nil {
				h.around(r.t)
				_ = os.WriteFile(filepath.Join(home, "go"), nil, 0o600)
				return
			}
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	script := "set -e; " + p.script + "; cd /workspace; echo " + mine + " >free; touch ~/ready; until test -e ~/go; do sleep 0.01; done"
	asked, err := json.Marshal(arguments{Command: script, TimeoutSeconds: 120})
	if err != nil {
		r.t.Fatal(err)
	}
	result, out, err := r.call(string(asked))
	close(ended)
	<-around
	if err != nil {
		r.t.Errorf("%s: %v", p.name, err)
		return
	}
	if result.Metadata["changed"] == nil || result.Metadata["exit_code"] != 0 {
		r.t.Errorf("%s: it did not run to its end in a view: %+v %v", p.name, result, out.chunks)
	}
	// What git on the host changed meanwhile is a conflict before it is anything else.
	if result.Metadata["violations"] == nil && result.Metadata["held"] == nil && result.Metadata["conflicts"] == nil {
		r.t.Errorf("%s: all of it was applied: %+v", p.name, result)
	}
	for _, what := range append(h.fired(), p.present(r.project)...) {
		r.t.Errorf("%s: %s", p.name, what)
	}
	if text, err := os.ReadFile(filepath.Join(r.project, "free")); err != nil || string(text) != mine+"\n" {
		r.t.Errorf("%s: what is free was not applied: %q %v; %+v", p.name, text, err, result)
	}
}
