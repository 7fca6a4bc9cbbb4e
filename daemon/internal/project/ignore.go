package project

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	ignoreFile    = ".gitignore"
	maxIgnoreFile = 256 << 10 // bytes that are read of one
)

// ignored are the patterns by which git leaves out files that it does not know, those
// of the outer folders first. What git knows all the same is left out too.
type ignored []ignoreRule

// ignoreRule is one pattern, of a file in a folder.
type ignoreRule struct {
	folder string   // relative to the project; its paths begin with it. Empty is the root
	above  string   // from the folder of the file to the project, when that lies below it
	parts  []string // between slashes
	keeps  bool     // it begins with an exclamation mark
	folded bool     // it is about folders only
}

// ignoredAbove are the patterns of the repository that a project lies in, of the
// folders above it, and what its clone alone ignores.
func ignoredAbove(root string) ignored {
	var all []ignored
	for dir, above := root, ""; ; {
		if dir != root {
			all = append(all, ignoreRules(readIgnore(os.OpenFile(filepath.Join(dir, ignoreFile), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)), "", above))
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			exclude := filepath.Join(dir, ".git", "info", "exclude")
			all = append(all, ignoreRules(readIgnore(os.OpenFile(exclude, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)), "", above))
			slices.Reverse(all)
			return slices.Concat(all...)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil // it is of no repository
		}
		above, dir = path.Join(filepath.Base(dir), above), up
	}
}

// readIgnore is the text of a file of patterns; what cannot be read has none.
func readIgnore(f *os.File, err error) string {
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	return string(text)
}

// ignoreRules reads the patterns of a file.
func ignoreRules(text, folder, above string) ignored {
	var rules ignored
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		r := ignoreRule{folder: folder, above: above}
		if line == "" || line[0] == '#' {
			continue
		}
		line, r.keeps = strings.CutPrefix(line, "!")
		line, r.folded = strings.CutSuffix(line, "/")
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
		if r.parts = strings.Split(line, "/"); line != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignores reports whether git leaves out a path; the last pattern that fits it counts.
func (rules ignored) ignores(at string, folder bool) bool {
	for _, r := range slices.Backward(rules) {
		rest, below := at, true
		if r.folder != "" {
			rest, below = strings.CutPrefix(at, r.folder+"/")
		}
		if below && (folder || !r.folded) && fits(r.parts, strings.Split(path.Join(r.above, rest), "/")) {
			return !r.keeps
		}
	}
	return false
}

// fits matches a pattern with a path, part by part; "**" is any number of parts, and at
// the end one at least.
func fits(pattern, at []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(at) > 0
			}
			for len(pattern) > 1 && pattern[1] == "**" {
				pattern = pattern[1:]
			}
			for i := range at {
				if fits(pattern[1:], at[i:]) {
					return true
				}
			}
			return false
		}
		if len(at) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], at[0]); !ok || err != nil {
			return false
		}
		pattern, at = pattern[1:], at[1:]
	}
	return len(at) == 0
}
