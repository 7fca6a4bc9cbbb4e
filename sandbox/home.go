package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sandbox/toolchain"
)

// Commands of a run with a project have the toolchains and the caches of packages of the
// person's home, at their own paths, since programs write paths down: those of an
// interpreter in a virtual environment, those of sources in what a build keeps. The
// project lies at its own path too.

// homeTools are what commands have of the person's home. It is looked for again and
// again: people install programs and fetch packages while a daemon runs, and what is no
// longer there cannot be mounted. A nil one is nothing.
type homeTools struct {
	find func() toolchain.Found

	mu      sync.Mutex
	found   toolchain.Found
	looked  time.Time
	reduced int // how often less was called for all
}

// lookEvery is how old a look may be.
const lookEvery = 5 * time.Second

func newHomeTools(find func() toolchain.Found) *homeTools {
	if find == nil {
		return nil
	}
	return &homeTools{find: find}
}

// now is what there is, looked at a moment ago.
func (h *homeTools) now() toolchain.Found {
	if h == nil {
		return toolchain.Found{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.looked) > lookEvery {
		h.found, h.looked = h.find(), time.Now()
	}
	return h.given()
}

// look is what there is, looked at now: a container is made of it.
func (h *homeTools) look() toolchain.Found {
	if h == nil {
		return toolchain.Found{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found, h.looked = h.find(), time.Now()
	return h.given()
}

// given is what of it containers get.
func (h *homeTools) given() toolchain.Found {
	found := h.found
	for range h.reduced {
		found = less(found)
	}
	return found
}

// reduce gives less for good, since no container could be made with more.
func (h *homeTools) reduce(by int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reduced += by
}

// less is what can be mounted where more cannot: caches that are only read, and then
// nothing. There is nothing less than nothing.
func less(found toolchain.Found) toolchain.Found {
	if len(found.Caches) == 0 {
		return toolchain.Found{Home: found.Home}
	}
	found.Shown, found.Caches = slices.Concat(found.Shown, found.Caches), nil
	return found
}

// cachesName is the folder, among the views of a run, of what commands added to caches.
const cachesName = "caches"

// reserved are the places of a container that nothing of a person may hide or lie in. Its
// own home is one: a command could put something else on the way to what is mounted there.
var reserved = []string{"/proc", "/sys", "/dev", "/run", "/opt/bothy", Workspace, Skills, Home}

// roots are where the project lies inside. Its own path is left out where the container
// has something of its own there.
func (r RunSpec) roots() []string {
	roots := []string{Workspace}
	if project := r.Workspace(); r.Project != "" && free(project) {
		roots = append(roots, project)
	}
	return roots
}

// free says whether a folder of the host can lie at its own path inside.
func free(path string) bool {
	for _, dir := range append([]string{"/usr", "/etc", "/tmp"}, reserved...) {
		if toolchain.Within(dir, path) { // it would hide that
			return false
		}
	}
	return !slices.ContainsFunc(reserved, func(dir string) bool { return toolchain.Within(path, dir) })
}

// ofHome is what a run's container has of the person's home.
type ofHome struct {
	shown, caches []string
	mounts        []mount
	overlays      []overlayVolume
	path          []string // folders with programs
}

// home is what of the home a run's commands have. A cache that can be written to has an
// overlay. Who gives a run without a project its prompts need not be the person: it has
// nothing.
func (b base) home(run RunSpec, found toolchain.Found) (h ofHome) {
	mine := func(path string) bool {
		return run.Project != "" && free(path) && !toolchain.Within(path, run.Workspace())
	}
	for _, path := range found.Shown {
		if mine(path) {
			h.shown = append(h.shown, path)
			h.mounts = append(h.mounts, readOnly(path, path))
		}
	}
	for _, path := range found.Caches {
		switch {
		case !mine(path):
		case run.views != "" && !strings.ContainsAny(path+run.views, `:,\`):
			h.caches = append(h.caches, path)
			dir := run.cacheDir(path)
			h.overlays = append(h.overlays, overlayVolume{Destination: path, Source: path,
				Options: []string{"upperdir=" + filepath.Join(dir, "u"), "workdir=" + filepath.Join(dir, "w")}})
		default:
			h.shown = append(h.shown, path)
			h.mounts = append(h.mounts, readOnly(path, path))
		}
	}
	for _, path := range found.Hidden {
		if mine(path) {
			h.mounts = append(h.mounts, readOnly(b.nothing(path), path))
		}
	}
	if b.git != "" && run.Project != "" {
		h.mounts = append(h.mounts, readOnly(b.git, gitConfig))
	}
	for _, dir := range found.Path {
		if strings.HasPrefix(dir, "/usr/") || slices.ContainsFunc(h.shown, func(shown string) bool { return toolchain.Within(dir, shown) }) {
			h.path = append(h.path, dir)
		}
	}
	return h
}

// gitConfig is where git looks for settings that hold for a whole machine. A repository's
// own go before them.
const gitConfig = "/etc/gitconfig"

// searchPath is the PATH of a run's commands.
func (m *Manager) searchPath(run RunSpec) string {
	if m.cfg.Image != "" {
		return imagePath
	}
	return searchPath(m.base.home(run, m.base.tools.now()).path)
}

// cacheDir is where what commands add to a cache lies.
func (r RunSpec) cacheDir(cache string) string { return filepath.Join(r.views, cachesName, key(cache)) }

// nothing is what hides a file or a folder: an empty one.
func (b base) nothing(path string) string {
	if isFolder(path) {
		return b.emptyFolder
	}
	return b.emptyFile
}

// makeNothing makes what hides.
func (b *base) makeNothing(dir string) error {
	b.emptyFile, b.emptyFolder = filepath.Join(dir, "nothing"), filepath.Join(dir, "nothing.d")
	if err := writeOnce(b.emptyFile, nil); err != nil {
		return err
	}
	return os.MkdirAll(b.emptyFolder, 0o700)
}

// prepareHome makes what the mounts of a run's container need: the folders of caches, and
// links in the run's own home, since programs look for all of it below their home.
func (b base) prepareHome(run RunSpec, found toolchain.Found) error {
	h := b.home(run, found)
	if run.beside != nil && run.views != "" {
		if err := os.MkdirAll(filepath.Join(run.views, writableName), 0o700); err != nil {
			return failed("make a folder for what a background command writes", err)
		}
	}
	for _, cache := range h.caches {
		dir := run.cacheDir(cache)
		for _, name := range []string{"u", "w"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				return failed("make the folder of a cache", err)
			}
		}
		for _, path := range toolchain.Withheld(found.Home) { // also what comes to be there later
			below, in := strings.CutPrefix(path, cache+"/")
			if !in {
				continue
			}
			if err := makeOpaque(filepath.Join(dir, "u", below)); err != nil {
				return failed("hide what a cache has beside packages", err)
			}
		}
	}
	return leadHome(run, found.Home, append(slices.Clone(h.shown), h.caches...))
}

// leadHome makes links from the run's own home to what is shown of the person's, and takes
// away those that lead to nothing any more.
func leadHome(run RunSpec, of string, shown []string) error {
	if of == "" || of == Home || run.Project == "" {
		return nil
	}
	home, err := os.OpenRoot(run.home())
	if err != nil {
		return failed("open the run's home", err)
	}
	defer func() { _ = home.Close() }()
	for _, path := range toolchain.Places(of) {
		below := strings.TrimPrefix(path, of+"/")
		if to, err := home.Readlink(below); err == nil && to == path && !slices.Contains(shown, path) {
			_ = home.Remove(below) // a program makes its own there
		}
	}
	for _, path := range shown {
		if below, in := strings.CutPrefix(path, of+"/"); in {
			lead(home, below, path)
		}
	}
	return nil
}

// lead makes one link. A folder that a program made there, when there was nothing to lead
// to, is put aside. What else a command has put there stays: the home is its own.
func lead(home *os.Root, below, path string) {
	if home.MkdirAll(filepath.Dir(below), 0o700) != nil {
		return
	}
	if info, err := home.Lstat(below); err == nil && info.IsDir() {
		_ = home.Rename(below, below+".own")
	}
	_ = home.Symlink(path, below)
}
