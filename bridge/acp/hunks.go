package main

import (
	"regexp"
	"strconv"
	"strings"
)

// hunk is a place of a file that a difference changes, with the lines around it.
type hunk struct {
	path string  // as the difference has it, without a/ and b/
	old  *string // nil: the file is new
	text string
}

// hunkHead begins a hunk of a unified difference.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// hunks reads a unified difference. What is none of its lines is left out.
func hunks(diff string) (all []hunk) {
	var from, to string    // the names of the file
	var before, after int  // lines of the hunk that are still to come
	var old, text []string // its lines
	mark := byte(0)
	end := func() {
		if len(old)+len(text) == 0 {
			return
		}
		h := hunk{path: to, text: strings.Join(text, "")}
		if was := strings.Join(old, ""); from != "" {
			h.old = &was
		}
		if to == "" {
			h.path = from
		}
		all = append(all, h)
		old, text, before, after = nil, nil, 0, 0
	}
	for line := range strings.Lines(diff) {
		bare := strings.TrimSuffix(line, "\n")
		within := before > 0 || after > 0
		switch {
		case bare == `\ No newline at end of file`:
			if mark != '+' {
				chomp(old)
			}
			if mark != '-' {
				chomp(text)
			}
		case within && strings.HasPrefix(bare, "-"):
			mark, before = '-', before-1
			old = append(old, bare[1:]+"\n")
		case within && strings.HasPrefix(bare, "+"):
			mark, after = '+', after-1
			text = append(text, bare[1:]+"\n")
		case within:
			mark, before, after = ' ', before-1, after-1
			old, text = append(old, strings.TrimPrefix(bare, " ")+"\n"), append(text, strings.TrimPrefix(bare, " ")+"\n")
		case strings.HasPrefix(bare, "--- "):
			end()
			from, to = sideOf(bare[4:], "a/"), ""
		case strings.HasPrefix(bare, "+++ "):
			to = sideOf(bare[4:], "b/")
		default:
			if m := hunkHead.FindStringSubmatch(bare); m != nil {
				end()
				before, after = linesIn(m[1]), linesIn(m[2])
			}
		}
	}
	end()
	return all
}

// chomp takes the line break from the last of some lines.
func chomp(lines []string) {
	if n := len(lines); n > 0 {
		lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
	}
}

// sideOf is the name of one side of a difference; empty where the file is not there.
func sideOf(name, side string) string {
	name, _, _ = strings.Cut(name, "\t")
	if name == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(name, side)
}

// linesIn is how many lines a side of a hunk has, by its head.
func linesIn(text string) int {
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0 // of too many there are none
	}
	return n
}
