package project

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mostLinks is how many symbolic links one path may lead through, as in Linux.
const mostLinks = 40

// inside is where commands have the project: what a link names there is of it.
const inside = "/workspace"

// Links says where paths of the project at root lead that have a symbolic link on
// the way: each as it is named, to a path relative to the project, or an absolute
// one outside of it. What is not there leads nowhere else. A pattern leads to the first
// name in its folder that begins with a dash, for it may be an option. It is how things
// are while it looks.
func Links(root string, named []string) map[string]string {
	l := linked{root: root, targets: map[string]string{}}
	led := map[string]string{}
	for _, name := range named {
		if filepath.IsAbs(name) {
			continue
		}
		if to, is := l.follow(name); is {
			led[name] = to
		} else if strings.ContainsAny(path.Base(name), "*?[") {
			if dashed := l.dashed(path.Dir(path.Clean(name))); dashed != "" {
				led[name] = dashed
			}
		}
	}
	return led
}

// dashed is the path of a name in a folder that begins with a dash, and so may be an
// option where a pattern expands to it; empty when there is none.
func (l linked) dashed(dir string) string {
	dir, _ = l.follow(dir)
	if path.IsAbs(dir) {
		return ""
	}
	entries, err := os.ReadDir(filepath.Join(l.root, dir))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "-") {
			return path.Join(dir, e.Name())
		}
	}
	return ""
}

// linked remembers what lies at the paths that it has looked at.
type linked struct {
	root    string
	targets map[string]string // empty is no link
}

// follow goes along a path one name at a time, as the kernel does: what follows a
// link is meant from where that leads.
func (l linked) follow(name string) (to string, led bool) {
	done, todo := ".", strings.Split(name, "/")
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return path.Join(append([]string{path.Dir(l.root)}, todo...)...), led
			}
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, part)
		target := l.target(at)
		if target == "" {
			done = at
			continue
		}
		if links++; links > mostLinks {
			return "/", true
		}
		led = true
		if path.IsAbs(target) {
			within, ok := l.within(target)
			if !ok {
				return path.Join(append([]string{target}, todo...)...), true
			}
			done, target = ".", within
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, led
}

func (l linked) target(at string) string {
	if known, ok := l.targets[at]; ok {
		return known
	}
	target, err := os.Readlink(filepath.Join(l.root, at))
	if err != nil {
		target = ""
	}
	l.targets[at] = target
	return target
}

// within is an absolute path relative to the project, by either of its names.
func (l linked) within(target string) (string, bool) {
	for _, top := range []string{l.root, inside} {
		if target == top {
			return ".", true
		}
		if rest, ok := strings.CutPrefix(target, top+"/"); ok {
			return rest, true
		}
	}
	return "", false
}
