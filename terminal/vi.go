package main

import (
	"slices"
	"strings"
)

// vi is the state of editing with vi's keys.
type vi struct {
	normal  bool // else keys are text
	count   int  // typed so far; 0 is none
	before  int  // the count before the operator
	op      rune // d, c or y, which waits for a motion
	pending rune // g or r, which waits for a character
	taken   []rune
	lines   bool // taken is whole lines
}

// viDid is what a key of normal mode wants beside the editing.
type viDid int

const (
	viEdited  viDid = iota
	viIdle          // esc, and nothing was begun
	viUndo          // the last change is to be taken back
	viEarlier       // up from the first line
	viLater         // down from the last line
)

// insert begins to take keys as text.
func (v *vi) insert() { *v = vi{taken: v.taken, lines: v.lines} }

// leave ends that: the cursor steps back onto the character that was typed last.
func (v *vi) leave(f field) field {
	v.normal = true
	if f.at > f.begin() {
		f.at--
	}
	return f
}

// key is what a key does in normal mode; esc is the character 27. What means nothing does
// nothing.
func (v *vi) key(f field, r rune) (field, viDid) {
	switch {
	case r == 27:
		idle := v.count == 0 && v.op == 0 && v.pending == 0
		v.begin()
		if idle {
			return f, viIdle
		}
		return f, viEdited
	case v.pending == 'r':
		return v.replace(f, r), viEdited
	case r >= '1' && r <= '9', r == '0' && v.count > 0:
		v.count = min(v.count*10+int(r-'0'), 9999)
		return f, viEdited
	case v.op == 0 && r == 'u':
		v.begin()
		return f, viUndo
	case v.op == 0 && strings.ContainsRune("dcy", r):
		v.op, v.before, v.count = r, v.count, 0
		return f, viEdited
	case v.pending == 0 && r == 'g', v.op == 0 && r == 'r':
		v.pending = r
		return f, viEdited
	}
	n := max(v.count, 1) * max(v.before, 1)
	if v.op == r { // dd, cc, yy
		return v.wholeLines(f, n), viEdited
	}
	if to, over, is := v.motion(f, r, n); is {
		return v.move(f, r, to, over), viEdited
	}
	did := viEdited
	if v.op == 0 && v.pending == 0 {
		f, did = v.command(f, r, n)
	}
	if v.normal {
		v.begin()
		f = f.rest()
	}
	return f, did
}

// begin forgets what was begun.
func (v *vi) begin() { v.count, v.before, v.op, v.pending = 0, 0, 0, 0 }

// rest has the cursor on a character, for there is no place behind the last one of a line.
func (f field) rest() field {
	f.at = f.within(f.at)
	if f.at == f.end() && f.at > f.begin() {
		f.at--
	}
	return f
}

// motion is where a motion leads, and whether an operator takes the character there too.
func (v *vi) motion(f field, r rune, n int) (to int, over, is bool) {
	if v.pending == 'g' {
		return 0, false, r == 'g'
	}
	g := f
	for range min(n, len(f.text)+1) {
		switch r {
		case 'h':
			g.at = max(g.at-1, f.begin())
		case 'l', ' ':
			g.at = min(g.at+1, f.end())
		case 'w':
			g.at = g.nextWord()
		case 'b':
			g.at = g.wordBefore()
		case 'e':
			g.at, over = g.wordEnd(), true
		case '0':
			g.at = f.begin()
		case '^':
			g.at = f.firstText()
		case '$':
			g.at = f.end()
		case 'G':
			g.at = field{f.text, len(f.text)}.begin()
		default:
			return f.at, false, false
		}
	}
	return g.at, over, true
}

// move goes where a motion leads, or does with what lies on the way what the operator says.
func (v *vi) move(f field, r rune, to int, over bool) field {
	op := v.op
	v.begin()
	if op == 0 {
		f.at = to
		return f.rest()
	}
	if r == 'G' || r == 'g' { // the first and the last line, whole
		from, end := min(f.at, to), max(f.at, to)
		return v.take(f, op, field{f.text, from}.begin(), field{f.text, end}.end(), true)
	}
	if r == 'w' && op == 'c' { // the blanks behind the word stay
		for to > f.at+1 && kindOf(f.text[to-1]) == 0 {
			to--
		}
	}
	if r == 'w' && op != 'c' && to > f.end() { // a word ends with its line
		to = max(f.end(), f.at)
	}
	if over {
		to++
	}
	return v.take(f, op, min(f.at, to), f.within(max(f.at, to)), false)
}

// wholeLines is an operator over lines from the cursor's on.
func (v *vi) wholeLines(f field, n int) field {
	op := v.op
	v.begin()
	last := f
	for range n - 1 {
		at, is := last.below()
		if !is {
			break
		}
		last.at = at
	}
	return v.take(f, op, f.begin(), last.end(), true)
}

// take takes what stands between two places, and leaves it where it was copied.
func (v *vi) take(f field, op rune, from, to int, lines bool) field {
	v.taken, v.lines = slices.Clone(f.text[from:to]), lines
	if op == 'y' {
		f.at = from
		return f.rest()
	}
	if lines && op == 'd' { // with one line break
		switch {
		case to < len(f.text):
			to++
		case from > 0:
			from--
		}
	}
	f, _ = f.cut(from, to)
	if op == 'c' {
		v.insert()
		return f
	}
	if lines {
		f.at = f.begin()
	}
	return f.rest()
}

// replace puts a character in the place of those under the cursor.
func (v *vi) replace(f field, r rune) field {
	n := max(v.count, 1)
	v.begin()
	if f.at+n > f.end() {
		return f
	}
	g, _ := f.cut(f.at, f.at+n)
	g = g.put(g.at, slices.Repeat([]rune{r}, n))
	g.at--
	return g
}

// command is a key that is no motion and waits for nothing.
func (v *vi) command(f field, r rune, n int) (field, viDid) {
	switch r {
	case 'j', 'k':
		step, edge := field.below, viLater
		if r == 'k' {
			step, edge = field.above, viEarlier
		}
		for i := range n {
			at, is := step(f)
			if !is && i == 0 {
				return f, edge
			}
			f.at = at
		}
	case 'x':
		if f.at < f.end() {
			return v.take(f, 'd', f.at, min(f.at+n, f.end()), false), viEdited
		}
	case 'X':
		if f.at > f.begin() {
			return v.take(f, 'd', max(f.at-n, f.begin()), f.at, false), viEdited
		}
	case 'D':
		return v.take(f, 'd', f.at, f.end(), false), viEdited
	case 'C':
		return v.take(f, 'c', f.at, f.end(), false), viEdited
	case 'p', 'P':
		for range min(n, 100) {
			f = v.paste(f, r == 'p')
		}
	default:
		return v.beginText(f, r), viEdited
	}
	return f, viEdited
}

// paste puts in what was taken.
func (v *vi) paste(f field, behind bool) field {
	switch {
	case len(v.taken) == 0:
	case v.lines && behind:
		at := f.end()
		f = f.put(at, append([]rune{'\n'}, v.taken...))
		f.at = at + 1
	case v.lines:
		at := f.begin()
		f = f.put(at, append(slices.Clone(v.taken), '\n'))
		f.at = at
	default:
		at := f.at
		if behind {
			at = min(at+1, f.end())
		}
		f = f.put(at, v.taken)
		f.at--
	}
	return f
}

// beginText is a key that begins to take text, at its place.
func (v *vi) beginText(f field, r rune) field {
	switch r {
	case 'i':
	case 'I':
		f.at = f.firstText()
	case 'a':
		f.at = min(f.at+1, f.end())
	case 'A':
		f.at = f.end()
	case 'o':
		f = f.put(f.end(), []rune{'\n'})
	case 'O':
		at := f.begin()
		f = f.put(at, []rune{'\n'})
		f.at = at
	default:
		return f
	}
	v.insert()
	return f
}
