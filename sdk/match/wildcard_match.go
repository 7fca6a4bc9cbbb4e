package match

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// match tells whether the whole path fits.
func (w wildcard) match(path string, m *meter) bool {
	return slices.ContainsFunc(w.forms, func(form []part) bool {
		return m.spend(1) && mayFit(form, path) && fits(form, path, m)
	}) != w.negated
}

// search tells whether a part of a line fits.
func (w wildcard) search(text string, m *meter) bool {
	return slices.ContainsFunc(w.forms, func(form []part) bool {
		from := make([]bool, len(text)+1)
		for i := range from {
			from[i] = true
		}
		return slices.Contains(walk(form, text, '\n', from, make([]bool, len(text)+1), m), true)
	}) != w.negated
}

// mayFit looks at the ends of a path, which decide for most.
func mayFit(form []part, path string) bool {
	if len(form) == 0 {
		return path == ""
	}
	first, last := form[0], form[len(form)-1]
	return (first.kind != partText || strings.HasPrefix(path, first.text)) &&
		(last.kind != partText || strings.HasSuffix(path, last.text))
}

func fits(form []part, path string, m *meter) bool {
	var room [2][128]bool // most paths are shorter, and need no memory
	from, to := room[0][:], room[1][:]
	if len(path) < len(from) {
		from, to = from[:len(path)+1], to[:len(path)+1]
	} else {
		from, to = make([]bool, len(path)+1), make([]bool, len(path)+1)
	}
	from[0] = true
	return walk(form, path, '/', from, to, m)[len(path)]
}

// walk follows all ways of fitting at once: it is given where the form may begin in
// s, and gives where it may end then. So its time is linear in s for each part but
// partNot, whatever the form. A run and a single rune stay within what separator
// separates.
func walk(form []part, s string, separator byte, from, to []bool, m *meter) []bool {
	for _, p := range form {
		if !m.spend((len(s)/16 + 1) * (1 + len(p.text)/64 + len(p.set.ranges)/4)) {
			clear(from)
			return from
		}
		clear(to)
		p.step(s, separator, from, to, m)
		from, to = to, from
	}
	return from
}

// step marks in to where the part may end that begins where from says.
func (p part) step(s string, separator byte, from, to []bool, m *meter) {
	switch p.kind {
	case partText, partOne, partSet, partNot:
		for i, begins := range from {
			if begins {
				p.stepAt(s, separator, i, to, m)
			}
		}
		return
	}
	on := false // something began before here, and has not been ended
	for i, begins := range from {
		switch p.kind {
		case partRun:
			on = on || begins
			to[i] = on
			on = on && i < len(s) && s[i] != separator
		case partFolders:
			to[i] = begins || on && s[i-1] == '/'
			on = on || begins
		case partBelow:
			to[i] = begins || on
			on = on || begins && i < len(s) && s[i] == '/'
		case partAll:
			on = on || begins
			to[i] = on
		}
	}
}

// stepAt is step for one place, for parts that cannot be followed from several at once.
func (p part) stepAt(s string, separator byte, i int, to []bool, m *meter) {
	switch {
	case p.kind == partText:
		if strings.HasPrefix(s[i:], p.text) {
			to[i+len(p.text)] = true
		}
	case p.kind == partNot:
		p.stepNot(s, separator, i, to, m)
	case i < len(s) && s[i] != separator && beginsRune(s, i):
		if r, size := utf8.DecodeRuneInString(s[i:]); p.kind == partOne || p.set.has(r) {
			to[i+size] = true
		}
	}
}

// beginsRune reports whether s[i] is no byte within a rune, where a run may have ended.
func beginsRune(s string, i int) bool {
	for k := i; k >= max(0, i-utf8.UTFMax+1); k-- {
		if utf8.RuneStart(s[k]) {
			_, size := utf8.DecodeRuneInString(s[k:])
			return k == i || k+size <= i
		}
	}
	return true
}

// stepNot marks where a run may end that begins at i and that no choice fits.
func (p part) stepNot(s string, separator byte, i int, to []bool, m *meter) {
	s = s[i:]
	if end := strings.IndexByte(s, separator); end >= 0 {
		s = s[:end]
	}
	if !m.spend(len(s)/4 + 1) {
		return
	}
	barred := make([]bool, len(s)+1)
	from, next := make([]bool, len(s)+1), make([]bool, len(s)+1)
	for _, choice := range p.not {
		clear(from)
		from[0] = true
		for k, ends := range walk(choice, s, separator, from, next, m) {
			barred[k] = barred[k] || ends
		}
	}
	for k, no := range barred {
		to[i+k] = to[i+k] || !no
	}
}
