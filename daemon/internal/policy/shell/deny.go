package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// deny is the deny-list: what no mode runs, whoever allows it. It looks at words
// as far as they are known, so that a part that is not does not hide the rest.
func (j *judge) deny(name string, words []word) finding {
	switch {
	case name == "rm":
		return j.removes(words)
	case name == "find":
		return j.findRemoves(words)
	case isFormatter(name):
		return finding{Denied, "shell.deny", says("%s destroys what is on a disk; do without it, since there is no disk here", name)}
	case name == "dd":
		for _, w := range words[1:] {
			if to, is := strings.CutPrefix(w.text, "of="); is && j.onDevice(to) {
				return device(to)
			}
			if from, is := strings.CutPrefix(w.text, "if="); is && j.endless(from) {
				return finding{Denied, "shell.deny", says("dd if=/dev/zero goes on until the disk is full; use truncate -s SIZE FILE to make a file of a size")}
			}
		}
	case slices.Contains([]string{"tee", "cp", "mv", "install", "truncate", "sort", "split", "ln", "rsync"}, name):
		for n, w := range words[1:] {
			if (name == "tee" || name == "truncate" || n+2 == len(words)) && j.onDevice(w.text) {
				return device(w.text)
			}
		}
	}
	return finding{}
}

// isFormatter reports whether a program makes file systems or wipes what has
// them.
func isFormatter(name string) bool {
	return name == "mkfs" || strings.HasPrefix(name, "mkfs.") || slices.Contains([]string{
		"wipefs", "shred", "mke2fs", "mkswap", "mkdosfs", "mkntfs", "mkexfatfs", "blkdiscard", "fdisk", "sfdisk", "cfdisk",
		"sgdisk", "gdisk", "parted",
	}, name)
}

// devices are the files below /dev that hold nothing.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/ptmx"}

// isDevice reports whether an absolute path is a device that holds something.
func isDevice(abs string) bool {
	abs = path.Clean(abs)
	if !strings.HasPrefix(abs, "/dev/") || slices.Contains(devices, abs) {
		return false
	}
	for _, folder := range []string{"/dev/fd/", "/dev/shm/", "/dev/pts/", "/dev/tcp/", "/dev/udp/", "/dev/mqueue/"} {
		if strings.HasPrefix(abs, folder) {
			return false
		}
	}
	return abs != "/dev/shm"
}

// endless reports whether a name may be /dev/zero, which has no end.
func (j *judge) endless(name string) bool {
	return slices.ContainsFunc(j.places(), func(p Place) bool {
		abs, _ := p.resolveRead(name)
		return path.Clean(abs) == "/dev/zero"
	})
}

func (j *judge) onDevice(name string) bool {
	return slices.ContainsFunc(j.places(), func(p Place) bool {
		abs, _ := p.resolveRead(name)
		return isDevice(abs)
	})
}

func device(name string) finding {
	return finding{Denied, "shell.deny", says("%s is a device, and writing it destroys what is on it; write a file in the workspace", brief(name))}
}

// isRecursive reports whether an option of rm makes it go into directories.
func isRecursive(option string) bool {
	switch {
	case strings.HasPrefix(option, "--"):
		return len(option) > 2 && strings.HasPrefix("--recursive", option)
	case strings.HasPrefix(option, "-"):
		return strings.ContainsAny(option, "rR")
	}
	return false
}

// removes judges rm. Options may follow operands, up to "--".
func (j *judge) removes(words []word) finding {
	recursive, ended := false, false
	var operands []word
	var f finding
	for _, w := range words[1:] {
		switch {
		case !w.known:
			f = worse(f, finding{Unsafe, "shell.dynamic", says("nobody can say what rm removes with %s; name what is to be removed", brief(w.source))})
			operands = append(operands, w)
		case w.why.rule == "shell.dynamic" && !strings.Contains(w.source, "{"):
			f = worse(f, finding{Unsafe, "shell.dynamic", says("rm removes what %s is when the line runs; name what is to be removed", brief(w.source))})
			operands = append(operands, w)
		case !ended && w.text == "--":
			ended = true
		case !ended && w.text == "--no-preserve-root":
			return finding{Denied, "shell.deny", says("--no-preserve-root is there to remove the root; leave it out, and name files and folders below the workspace")}
		case !ended && len(w.text) > 1 && w.text[0] == '-':
			recursive = recursive || isRecursive(w.text)
		default:
			operands = append(operands, w)
		}
	}
	if !recursive {
		return f
	}
	for _, w := range operands {
		f = worse(f, j.removed(w, true))
	}
	return f
}

// removed is the finding about one directory that would be removed with all
// that is in it.
func (j *judge) removed(w word, workspace bool) finding {
	denied := finding{Denied, "shell.deny", says("removing %s with everything in it cannot be undone; name files and folders below the workspace", quoteName(w.source))}
	if w.known && w.text == "" || strings.HasPrefix(w.source, "~") && !w.known && !strings.Contains(w.source, "/") {
		return denied
	}
	if !w.known {
		return finding{}
	}
	if len(j.dirs) == 0 && !path.IsAbs(w.text) {
		return finding{Unsafe, "shell.path", says("nobody can say where %s is when rm starts; name it by its whole path", quoteName(w.source))}
	}
	for _, place := range j.places() {
		for _, target := range targets(w, place) {
			if place.precious(target, workspace) {
				return denied
			}
		}
	}
	return finding{}
}

// anything is a part of a path that is a pattern for nearly every name.
var anything = regexp.MustCompile(`^([*?.]|\[[^\]]*\])+$`)

// targets are the paths that an operand stands for: itself, or what a pattern
// in it may mean among the names that matter. A pattern for everything in a
// directory stands for the directory.
func targets(w word, place Place) []string {
	whole := w.text
	if !path.IsAbs(whole) {
		whole = place.Dir + "/" + whole
	}
	if !w.glob {
		return []string{path.Clean(whole)}
	}
	parts := strings.Split(whole, "/")
	first := slices.IndexFunc(parts, func(p string) bool { return strings.ContainsAny(p, "*?[") })
	if first < 0 {
		return []string{path.Clean(whole)}
	}
	parent := path.Clean("/" + strings.Join(parts[:first], "/"))
	rest := slices.DeleteFunc(slices.Clone(parts[first:]), func(p string) bool { return p == "" || p == "." })
	if len(rest) == 0 {
		return []string{parent}
	}
	if anything.MatchString(rest[0]) {
		return []string{parent}
	}
	for len(rest) > 1 && anything.MatchString(rest[len(rest)-1]) {
		rest = rest[:len(rest)-1]
	}
	list := []string{path.Join(parent, path.Join(rest...))} // names that are in no list
	for _, name := range roots {
		if match, err := path.Match(rest[0], name); match && err == nil {
			list = append(list, path.Join(parent, name, path.Join(rest[1:]...)))
		}
	}
	for _, known := range []string{place.Workspace, place.Home} {
		if match, err := path.Match(list[0], known); match && err == nil {
			list = append(list, known)
		}
	}
	return list
}

// roots are the directories of a system.
var roots = []string{
	"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "lost+found", "media", "mnt", "nix", "opt", "proc", "root",
	"run", "sbin", "snap", "srv", "sys", "tmp", "usr", "var", "workspace", "Users", "System", "Library", "Applications",
}

// system are those of which nothing below may be removed whole either.
var system = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/System", "/Library"}

// precious reports whether a directory is one that nobody removes whole: the
// root, what lies in it, the system, every home, and the workspace with all that
// holds it.
func (p Place) precious(abs string, workspace bool) bool {
	abs = p.In(abs)
	above := func(of string) bool {
		return of != "" && (abs == of || strings.HasPrefix(of, strings.TrimSuffix(abs, "/")+"/"))
	}
	if abs == p.Workspace && !workspace {
		return false
	}
	if abs != p.Workspace && p.holds(abs) {
		return false
	}
	depth := strings.Count(abs, "/")
	switch {
	case abs == "/", above(p.Workspace), above(p.Own), above(p.Home), depth == 1:
		return true
	case depth == 2 && (strings.HasPrefix(abs, "/home/") || strings.HasPrefix(abs, "/var/") || strings.HasPrefix(abs, "/Users/")):
		return true
	}
	return slices.ContainsFunc(system, func(s string) bool { return strings.HasPrefix(abs, s+"/") })
}

// findRemoves judges find where it removes all that it finds.
func (j *judge) findRemoves(words []word) finding {
	removes := false
	for n, w := range words {
		removes = removes || w.text == "-delete" || strings.HasPrefix(w.text, "-exec") && n+1 < len(words) && base(words[n+1]) == "rm"
	}
	if !removes {
		return finding{}
	}
	var f finding
	for _, w := range words[1:] {
		if strings.HasPrefix(w.text, "-") && w.known {
			if slices.Contains([]string{"-H", "-L", "-P"}, w.text) {
				continue
			}
			break
		}
		if w.known && w.text != "" {
			f = worse(f, j.removed(w, false))
		}
	}
	return f
}
