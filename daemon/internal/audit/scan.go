package audit

import "slices"

// levels are how often escapes are undone, one in another: a text as it is, and
// JSON in JSON in JSON.
const levels = 4

// lineBreak is the longest line break inside a secret that has none of its own,
// in bytes: two lines.
const lineBreak = 2

// scan reads one text, in any pieces, and finds where secrets stand. Whatever
// the pieces, it finds the same.
//
// Each level reads the text with so many levels of escapes undone. A level above
// the first is at work only near an escape: elsewhere it would see what the
// level below it sees.
type scan struct {
	a     *automaton
	level [levels]level
	dumps []dump // that may have begun
	wide  bool   // the line that ends is
	line  int    // bytes that the last line has by now, at most wide
	spans []span // in order, and none overlaps another
}

// span is where a secret stands: its first byte and the one behind it.
type span struct{ start, end int }

type level struct {
	active  bool
	escapes escapes // undoes those that this level still has, for the next
	at      int32   // node of the automaton
	marks   []mark  // the last bytes, at least as many as the node is deep
	breaks  int     // bytes of line breaks since another byte
	broke   int     // line breaks that were passed over
	prev    byte
	shape   shape
}

// mark is what is remembered of a byte that a match may begin with.
type mark struct {
	start int
	broke int
	prev  byte
}

func newScan(a *automaton) *scan {
	s := &scan{a: a}
	s.level[0].active = true
	return s
}

// read takes the next piece; base is where it stands in the whole text.
func (s *scan) read(text string, base int) {
	l, slow := &s.level[0], 0 // up to where it must be read byte by byte
	for i := 0; i < len(text); i++ {
		if i >= slow && l.shape.rule == nil && !s.level[1].active && len(s.dumps) == 0 {
			if i > 0 && l.breaks == 0 && s.a.nodes[l.at].depth == 1 { // as if it had not been read
				l.at, l.prev, l.marks = 0, l.marks[len(l.marks)-1].prev, l.marks[:0]
				i--
			}
			if l.at == 0 {
				from := i
				if i = s.a.skip(text, i); i > from {
					l.prev, l.marks = text[i-1], l.marks[:0]
				}
				if i == len(text) {
					break
				}
				slow = i + 3
			}
		}
		if isBreak(text[i]) {
			s.wide = lineOf(text[:i], s.line) == wide
		}
		c := char{text[i], base + i, base + i + 1}
		if len(s.dumps) > 0 {
			s.dump(c)
		}
		s.step(0, c)
	}
	s.line = lineOf(text, s.line)
}

func isBreak(b byte) bool { return b == '\n' || b == '\r' }

// lineOf is how many bytes the last line of a text has, at most wide, when so many
// stand before the text.
func lineOf(text string, before int) int {
	n := 0
	for n < wide && n < len(text) {
		if isBreak(text[len(text)-1-n]) {
			return n
		}
		n++
	}
	if n < wide {
		n = min(n+before, wide)
	}
	return n
}

// dump takes a byte into the dumps that have begun.
func (s *scan) dump(c char) {
	kept := s.dumps[:0]
	for i := range s.dumps {
		d := &s.dumps[i]
		end, over := d.read(c)
		switch {
		case !over:
			kept = append(kept, *d)
		case end > 0:
			s.found(d.begin, end)
		}
	}
	s.dumps = kept
}

// beginDumps begins those of a pattern that stands from start to end.
func (s *scan) beginDumps(starts []*dumpStart, start, end int) {
	for _, x := range starts {
		if len(s.dumps) < mostDumps && !slices.ContainsFunc(s.dumps, func(d dump) bool { return d.follows(x) }) {
			s.dumps = append(s.dumps, x.begins(start, end))
		}
	}
}

// end takes the end of the text, which has so many bytes.
func (s *scan) end(size int) {
	for n := range levels - 1 {
		if s.level[n+1].active {
			s.level[n].escapes.end(func(c char) { s.step(n+1, c) })
		}
	}
	for n := range levels {
		l := &s.level[n]
		if l.active && l.shape.end() {
			s.found(l.shape.start, l.shape.reach)
		}
	}
	for i := range s.dumps {
		if end := s.dumps[i].end(size); end > 0 {
			s.found(s.dumps[i].begin, end)
		}
	}
	s.dumps = s.dumps[:0]
}

// step takes a byte on one level, and what it makes of it to the next.
func (s *scan) step(n int, c char) {
	l := &s.level[n]
	if n+1 == levels {
		s.look(l, c)
		return
	}
	next := &s.level[n+1]
	if !next.active {
		if !beginsEscape(c.b) {
			s.look(l, c)
			return
		}
		next.follow(l)
	}
	s.look(l, c)
	l.escapes.read(c, func(c char) { s.step(n+1, c) })
	if next.rests() && l.rests() && l.escapes.idle() && (n+2 == levels || !s.level[n+2].active) {
		next.active = false
	}
}

// follow begins a level where the one below it is.
func (l *level) follow(below *level) {
	marks, own := append(l.marks[:0], below.marks...), l.escapes
	*l = *below
	l.active, l.marks, l.escapes = true, marks, escapes{pending: own.pending[:0]}
}

func (l *level) rests() bool { return l.at == 0 && l.shape.rule == nil }

// look takes a byte into the automaton of a level.
func (s *scan) look(l *level, c char) {
	if l.shape.rule != nil {
		start, reach := l.shape.start, l.shape.reach
		l.shape.reach = c.end
		hit, before := l.shape.read(c.b)
		switch {
		case hit:
			s.found(start, c.end)
		case before:
			s.found(start, reach)
		}
	}
	if isBreak(c.b) {
		least := anyLine
		if s.wide || l != &s.level[0] {
			least = wideLine
		}
		for l.at != 0 && s.a.nodes[l.at].broken < least {
			l.at = s.a.nodes[l.at].fail
		}
		if l.breaks++; l.breaks > s.a.breaks {
			l.at = 0
		}
		if l.at == 0 {
			l.marks = l.marks[:0]
		}
		l.prev = c.b
		l.broke++
		return
	}
	l.breaks = 0
	l.at = s.a.next(l.at, c.b)
	depth := int(s.a.nodes[l.at].depth)
	if depth == 0 {
		l.marks, l.prev = l.marks[:0], c.b
		return
	}
	if len(l.marks) >= 2*depth+64 { // what is older than the node is deep is over
		l.marks = append(l.marks[:0], l.marks[len(l.marks)-depth+1:]...)
	}
	l.marks = append(l.marks, mark{c.start, l.broke, l.prev})
	l.prev = c.b
	at := l.at
	if s.a.nodes[at].found == 0 {
		at = s.a.nodes[at].also
	}
	for ; at != 0; at = s.a.nodes[at].also {
		s.match(l, &s.a.patterns[s.a.nodes[at].found-1], c)
	}
}

// match takes a pattern that ends with the byte c.
func (s *scan) match(l *level, p *pattern, c char) {
	first := l.marks[len(l.marks)-p.size]
	whole := first.broke == l.broke
	if whole && l == &s.level[0] {
		s.beginDumps(p.dumps, first.start, c.end)
	}
	switch {
	case p.rule == nil && !p.begin && (whole || p.broken != noLine):
		s.found(first.start, c.end)
	case p.rule != nil && whole && l.shape.rule == nil && !isWord(first.prev):
		l.shape = shape{rule: p.rule, start: first.start, reach: c.end}
	}
}

// found adds a span. Those that it overlaps become one with it.
func (s *scan) found(start, end int) {
	i := len(s.spans)
	for i > 0 && s.spans[i-1].start >= end {
		i--
	}
	j := i
	for j > 0 && s.spans[j-1].end > start {
		j--
		start, end = min(start, s.spans[j].start), max(end, s.spans[j].end)
	}
	if j == i {
		s.spans = append(s.spans, span{})
		copy(s.spans[i+1:], s.spans[i:])
		s.spans[i] = span{start, end}
		return
	}
	s.spans[j] = span{start, end}
	s.spans = append(s.spans[:j+1], s.spans[i:]...)
}

// clear is up to where nothing that is still to come can find a secret; at is
// how much was read.
func (s *scan) clear(at int) int {
	for n := range levels {
		l := &s.level[n]
		if !l.active {
			break
		}
		if l.at != 0 {
			at = min(at, l.marks[len(l.marks)-int(s.a.nodes[l.at].depth)].start)
		}
		if l.shape.waits() {
			at = min(at, l.shape.start)
		}
		if !l.escapes.idle() {
			at = min(at, l.escapes.since())
		}
	}
	for i := range s.dumps {
		at = min(at, s.dumps[i].begin)
	}
	return at
}
