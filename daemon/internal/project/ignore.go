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
	gitFolder     = ".git"
	excludeFile   = gitFolder + "/info/exclude" // of a clone, for itself alone
	maxIgnoreFile = 256 << 10                   // bytes that are read of one
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
		if _, err := os.Lstat(filepath.Join(dir, gitFolder)); err == nil {
			exclude := filepath.Join(dir, excludeFile)
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
// the end one at least. Where it fails it goes on behind the last "**" alone, since what an earlier one
// could take besides, that one can take too: the time is the product of both lengths.
func fits(pattern, at []string) bool {
	if n := len(pattern); n > 0 && pattern[n-1] == "**" { // the last part is its
		if len(at) == 0 {
			return false
		}
		return n == 1 || fitsBegin(pattern[:n-1], at[:len(at)-1])
	}
	p, i := 0, 0
	star, from := -1, 0
	for i < len(at) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, from = p, i
			p++
		case p < len(pattern) && fitsPart(pattern[p], at[i]):
			p, i = p+1, i+1
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

// fitsBegin reports whether a pattern fits the begin of a path, or all of it.
func fitsBegin(pattern, at []string) bool {
	p, i := 0, 0
	star, from := -1, 0
	for p < len(pattern) {
		switch {
		case pattern[p] == "**":
			star, from = p, i
			p++
		case i < len(at) && fitsPart(pattern[p], at[i]):
			p, i = p+1, i+1
		case star >= 0 && from < len(at):
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return true
}

func fitsPart(pattern, part string) bool {
	ok, err := path.Match(pattern, part)
	return ok && err == nil
}
