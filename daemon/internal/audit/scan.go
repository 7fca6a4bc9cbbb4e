package audit

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
	for i := 0; i < len(text); i++ {
		l := &s.level[0]
		if l.at == 0 && l.shape.rule == nil && !s.level[1].active {
			from := i
			for i < len(text) && s.a.quiet[text[i]] {
				i++
			}
			if i > from {
				l.prev, l.marks = text[i-1], l.marks[:0]
			}
			if i == len(text) {
				return
			}
		}
		s.step(0, char{text[i], base + i, base + i + 1})
	}
}

// end takes the end of the text.
func (s *scan) end() {
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
	if c.b == '\n' || c.b == '\r' {
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
	switch {
	case p.rule == nil && (whole || p.lines):
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
	return at
}
