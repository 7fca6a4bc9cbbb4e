// Package toolchain finds what projects are built with and that lies in a person's home:
// toolchains, and caches of packages. Only what stands in its table is found, so that
// credentials, which lie beside it, are not.
package toolchain

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Found is what of a home commands may use. All paths are absolute and clean.
type Found struct {
	// Home is where it was looked for.
	Home string
	// Names say what was found, for people: "cargo", "go".
	Names []string
	// Shown are files and folders that are read. None of them lies in another.
	Shown []string
	// Caches are folders of packages. Who builds adds to them: a command needs a copy of
	// its own that it can write to. None lies in another or in what is shown.
	Caches []string
	// Hidden lie in what is shown and in the caches and must not be seen.
	Hidden []string
	// Path are folders with programs in the order in which they are searched. Each lies in
	// what is shown or below /usr.
	Path []string
	// Unseen are folders of the search path that a command does not see.
	Unseen []string
}

// Find looks below a home, and for the folders of a search path. Secret says whether a
// path leads to credentials by its name: what is named so in a folder that is shown, or
// one below, is hidden. A home that is not absolute has nothing. What a link leads to is
// not found, since whoever may change the link could have anything shown; nor is a folder
// in which another file system is mounted, which would not be read-only.
func Find(home string, search []string, secret func(path string) bool) Found {
	if home = filepath.Clean(home); !filepath.IsAbs(home) || home == "/" {
		home = ""
	}
	f := finder{Found: Found{Home: home}, secret: secret, mounted: mountPoints()}
	if f.real, _ = filepath.EvalSymlinks(home); f.real == "" {
		f.real = home
	}
	var bins []string
	for _, p := range known {
		shown, caches := f.plain(p.shown), f.plain(p.caches)
		if len(shown)+len(caches) == 0 {
			continue
		}
		f.Names = append(f.Names, p.name)
		f.Shown, f.Caches = append(f.Shown, shown...), append(f.Caches, caches...)
		bins = append(bins, f.existing(p.bins)...)
		if all := f.existing(p.newest); len(all) > 0 {
			bins = append(bins, slices.MaxFunc(all, byVersion))
		}
	}
	slices.Sort(f.Shown)
	slices.Sort(f.Caches)
	f.search(search, bins)
	f.hide()
	return f.Found
}

type finder struct {
	Found
	real    string // where the home is when links were followed
	secret  func(path string) bool
	mounted []string
}

// plain are the existing paths that no link leads to and that nothing is mounted in.
func (f *finder) plain(patterns []string) []string {
	return slices.DeleteFunc(f.existing(patterns), func(path string) bool {
		want := path
		if below, in := strings.CutPrefix(path, f.Home+"/"); in && f.Home != "" {
			want = filepath.Join(f.real, below)
		}
		real, err := filepath.EvalSymlinks(path)
		return err != nil || real != want || slices.ContainsFunc(f.mounted, func(point string) bool { return strings.HasPrefix(point, real+"/") })
	})
}

// mountPoints are those of this process: proc_pid_mountinfo(5), in whose fields a space is
// written as an octal number.
func mountPoints() (points []string) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil // another system than Linux
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			points = append(points, strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4]))
		}
	}
	return points
}

// existing are the paths that match patterns and are there.
func (f *finder) existing(patterns []string) []string {
	var all []string
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) {
			if f.Home == "" {
				continue
			}
			pattern = filepath.Join(escaped(f.Home), pattern)
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue // a table's pattern is good; a home cannot make it bad
		}
		for _, path := range found {
			if _, err := os.Stat(path); err == nil {
				all = append(all, path)
			}
		}
	}
	return all
}

// escaped is a path as a pattern that matches that path alone.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// search takes the folders of the search path that are seen, then those of what was found.
func (f *finder) search(search, bins []string) {
	for _, dir := range search {
		dir = filepath.Clean(dir)
		switch seen := f.seen(dir); {
		case seen != "":
			f.addPath(seen)
		case filepath.IsAbs(dir) && !slices.Contains([]string{"/bin", "/sbin"}, dir) && hasEntries(dir):
			f.Unseen = append(f.Unseen, dir)
		}
	}
	for _, dir := range bins {
		if seen := f.seen(dir); seen != "" {
			f.addPath(seen)
		}
	}
}

func (f *finder) addPath(dir string) {
	if !slices.Contains(f.Path, dir) {
		f.Path = append(f.Path, dir)
	}
}

// seen is a folder as commands have it, or "". Where links lead to what is shown, it is
// what they lead to: managers of versions make a folder of links for each shell.
func (f *finder) seen(dir string) string {
	if strings.HasPrefix(dir, "/usr/") || f.shows(dir) {
		return dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir && (strings.HasPrefix(real, "/usr/") || f.shows(real)) {
		return real
	}
	return ""
}

func (f *finder) shows(dir string) bool {
	return slices.ContainsFunc(f.Shown, func(shown string) bool { return Within(dir, shown) })
}

func hasEntries(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(1)
	return len(names) > 0
}

// hide finds what must not be seen of what is shown.
func (f *finder) hide() {
	f.Hidden = f.existing(withheld)
	for _, dir := range append(slices.Clone(f.Shown), f.Caches...) {
		if Within(dir, f.Home) { // everybody on this machine reads the others
			f.hideIn(dir, 2)
		}
	}
	slices.Sort(f.Hidden)
	f.Hidden = slices.Compact(f.Hidden)
}

func (f *finder) hideIn(dir string, deep int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // a file, or nothing that anybody reads
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0: // what it leads to is not shown, or hidden itself
		case f.secret(e.Name()):
			f.Hidden = append(f.Hidden, path)
		case e.IsDir() && deep > 1:
			f.hideIn(path, deep-1)
		}
	}
}

// Within says whether a path is a folder or lies in it. Both are clean.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// byVersion compares paths as people number versions: v9 comes before v20.
func byVersion(a, b string) int {
	for a != "" && b != "" {
		x, y := number(a), number(b)
		if x != "" && y != "" {
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// number are the digits that a text begins with.
func number(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	return text[:end]
}
