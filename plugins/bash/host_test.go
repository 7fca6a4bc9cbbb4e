//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mark is in all that the commands plant, and in nothing else of the project.
const mark = "PLANTED"

// host is a person's machine beside a project: git, an editor that looks at what
// appears, and an indexer that reads everything go on all the time.
type host struct {
	project, home string
	watched       []string // an editor opens these as soon as they are there
	shipped       []string // folders that came with the repository and hold the mark

	mu     sync.Mutex
	rounds map[string]int
	seen   map[string]string // what was seen of what is planted, by path
	all    sync.WaitGroup
	stop   chan struct{}
}

// newHost clones a repository into a project.
func newHost(t *testing.T, project, home string, watched []string) *host {
	t.Helper()
	h := &host{project: project, home: home, watched: watched, shipped: []string{"docs", "bare"}, rounds: map[string]int{}, seen: map[string]string{}, stop: make(chan struct{})}
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	origin := filepath.Join(home, "origin")
	cmd := exec.Command("bash", "-ec", clone, "clone", origin, project)
	cmd.Env = h.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}
	return h
}

func (h *host) env() []string {
	return []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		// The same commits in each round: the repository does not grow.
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000"}
}

// habits are what a person and the person's editor call in the project, and often
// what they call in folders of it.
var (
	habits = [][]string{
		{"reset", "-q", "--soft", "second"}, {"status"}, {"diff"}, {"log", "-p", "second"}, {"commit", "--allow-empty", "-qm", "x"}, {"commit", "-S", "--allow-empty", "-qm", "x"},
		{"mine"}, {"rebase", "--continue"},
	}
	often   = [][]string{{"status"}, {"commit", "--allow-empty", "-qm", "x"}}
	entered = []string{"sub", "d", "bare", "wt", "m"}
)

// git goes through what a person does with it once. Some of it fails in some folders.
func (h *host) git() {
	h.call(".", habits)
	for _, dir := range entered {
		h.call(dir, often)
	}
}

// clean takes away what the repository did not come with.
func (h *host) clean(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; {
		cmd := exec.Command("git", "clean", "-ffdxq")
		cmd.Dir, cmd.Env = h.project, h.env()
		out, err := cmd.CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(until) { // the host's git writes into what is taken away
			t.Fatalf("git clean: %v\n%s", err, out)
		}
	}
}

func (h *host) call(dir string, all [][]string) {
	at := filepath.Join(h.project, dir)
	if _, err := os.Stat(at); err != nil {
		return
	}
	for _, args := range all {
		if h.ended() {
			return
		}
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = at, h.env()
		_ = cmd.Run()
	}
}

// edit reads what an editor obeys.
func (h *host) edit() {
	for _, name := range h.watched {
		h.read(name)
	}
	time.Sleep(poll)
}

// index reads everything.
func (h *host) index() {
	h.walk("")
	time.Sleep(poll)
}

func (h *host) walk(dir string) {
	f := look(filepath.Join(h.project, dir))
	if f == nil {
		return // it went meanwhile
	}
	defer func() { _ = f.Close() }()
	entries, _ := f.ReadDir(-1)
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); e.IsDir() {
			h.walk(name)
		} else {
			h.read(name)
		}
	}
}

// look opens a path to read it, or answers nil. It calls the kernel itself: the go
// command notes what a test opens by package os, and looks at each once more when the
// test is over, which for all that an indexer opens takes longer than the test.
func look(path string) *os.File {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), path)
}

// poll is the pause of an editor and an indexer between two looks.
const poll = 2 * time.Millisecond

// read looks at one path as any program would.
func (h *host) read(name string) {
	at := filepath.Join(h.project, name)
	target := make([]byte, unix.PathMax)
	if n, err := unix.Readlink(at, target); err == nil && bytes.Contains(target[:n], []byte(mark)) {
		h.saw(name, "a link")
	}
	f := look(at)
	if f == nil {
		return
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err != nil || !bytes.Contains(text, []byte(mark)) {
		return
	}
	for _, shipped := range h.shipped {
		if strings.HasPrefix(name, shipped+"/") {
			return
		}
	}
	h.saw(name, string(text))
}

func (h *host) saw(name, what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[name] = what
}

// start lets all of it go on until the test ends.
func (h *host) start(t *testing.T) {
	for name, do := range map[string]func(){"git": h.git, "editor": h.edit, "indexer": h.index} {
		h.all.Go(func() {
			for !h.ended() {
				do()
				h.mu.Lock()
				h.rounds[name]++
				h.mu.Unlock()
			}
		})
	}
	t.Cleanup(func() {
		close(h.stop)
		h.all.Wait()
	})
}

func (h *host) ended() bool {
	select {
	case <-h.stop:
		return true
	default:
		return false
	}
}

// around waits until each of them has begun and ended another round.
func (h *host) around(t *testing.T) {
	h.mu.Lock()
	was := map[string]int{"git": h.rounds["git"], "editor": h.rounds["editor"], "indexer": h.rounds["indexer"]}
	h.mu.Unlock()
	for until := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		h.mu.Lock()
		done := true
		for name, n := range was {
			done = done && h.rounds[name] >= n+2
		}
		h.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(until) {
			t.Error("the host does nothing")
			return
		}
	}
}

// fired tells what of a plant was run or seen, and forgets it.
func (h *host) fired() (what []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := os.Remove(filepath.Join(h.home, "pwned")); err == nil {
		what = append(what, "a planted program ran")
	}
	for name, text := range h.seen {
		what = append(what, name+" was seen: "+text)
	}
	h.seen = map[string]string{}
	return what
}

// clone makes a repository and clones it. It comes with folders that git obeys once
// something leads there, and with a link to its own .git; the person then
// configures programs of the project.
const clone = `
git init -q -b main "$1"; cd "$1"
mkdir -p docs/evil/objects docs/evil/refs docs/repo/objects docs/repo/refs/heads bare/objects bare/refs/heads tools .husky/_ .vscode
touch docs/evil/objects/keep docs/evil/refs/keep docs/repo/objects/keep docs/repo/refs/heads/.keep bare/objects/keep bare/refs/heads/.keep
evil='[core]
	repositoryformatversion = 0
	fsmonitor = "touch \"$HOME/pwned\"; echo ` + mark + ` >/dev/null; false"
	hooksPath = docs/hooks
'
printf '%s' "$evil" >docs/evil/config
printf '%s' "$evil" >docs/repo/config; echo 'ref: refs/heads/x' >docs/repo/HEAD
printf '%s\tworktree = ..\n' "$evil" >bare/config
echo '{}' >.vscode/settings.json
ln -s .git g; ln -s .vscode v
for x in textconv clean smudge merge fsmonitor pager alias gpg editor ssh; do printf '#!/bin/sh\nexit 1\n' >tools/$x; done
printf '#!/bin/sh\ncat "$1"\n' >tools/textconv; printf '#!/bin/sh\ncat\n' >tools/clean; cp tools/clean tools/smudge
printf '#!/bin/sh\n. .husky/pre-commit\n' >.husky/_/pre-commit; printf ':\n' >.husky/pre-commit
chmod +x tools/* .husky/_/* .husky/pre-commit
printf '*.dat diff=conv\n*.flt filter=flt\n*.mrg merge=mrg\n' >.gitattributes
echo one >x.dat; echo one >x.flt; echo one >x.mrg
git add .; git commit -qm first; echo two >x.dat; git commit -qam second; git tag second
git clone -q "$1" "$2"; cd "$2"
git config core.hooksPath .husky/_
git config core.logAllRefUpdates false
git config diff.conv.textconv ./tools/textconv
git config filter.flt.clean ./tools/clean; git config filter.flt.smudge ./tools/smudge
git config merge.mrg.driver './tools/merge %A %B'
git config core.fsmonitor ./tools/fsmonitor
git config core.pager ./tools/pager
git config core.editor ./tools/editor
git config core.sshCommand ./tools/ssh
git config gpg.program ./tools/gpg
git config alias.mine '!./tools/alias'
`
