package audit

// automaton finds any of many patterns in one pass (Aho and Corasick). It is
// made once and only read after that.
//
// The root and what is one byte deep have a table of their own, for that is
// where a text without secrets is read; below, a node has few children.
type automaton struct {
	nodes    []node
	patterns []pattern
	breaks   int       // the longest line break inside a secret, in bytes
	quiet    [256]bool // bytes that leave the root where it is and begin no escape
	pairs    bits      // of the first two bytes of patterns
	triples  bits      // of the first three, by their hash
}

// bits are those of all 16-bit numbers.
type bits [1 << 10]uint64

func (b *bits) set(n uint16)      { b[n>>6] |= 1 << (n & 63) }
func (b *bits) has(n uint16) bool { return b[n>>6]&(1<<(n&63)) != 0 }

func pair(x, y byte) uint16 { return uint16(x)<<8 | uint16(y) }
func triple(x, y, z byte) uint16 {
	return uint16((uint32(pair(x, y))<<8 | uint32(z)) * 2654435761 >> 16)
}

// pattern is one text that is looked for. Line breaks are no part of it.
type pattern struct {
	size   int
	broken breaking     // the lines into which it may be
	rule   *rule        // what has to follow; nil when the pattern is a secret itself
	dumps  []*dumpStart // what it begins
	begin  bool         // it is no secret itself
}

type node struct {
	table   *[256]int32 // where each byte leads; nil below the first two levels
	first   int32       // child; 0 is none
	sibling int32
	fail    int32 // the longest other prefix that the text ends with
	found   int32 // the pattern that ends here, plus one
	also    int32 // the next node on the way of fail where one ends
	depth   int32
	char    byte
	broken  breaking // of the patterns that go on from here, the most
}

// newAutomaton makes one of secrets and of the beginnings of well-known keys.
func newAutomaton(secrets []form, rules []rule) *automaton {
	a := &automaton{nodes: make([]node, 1, 64), breaks: lineBreak}
	for _, f := range secrets {
		a.breaks = max(a.breaks, f.breaks)
		p := pattern{size: len(f.text), broken: f.broken}
		if f.dump != nil {
			p.dumps, p.begin = []*dumpStart{f.dump}, true
		}
		a.add(f.text, p)
	}
	for i := range rules {
		a.add(rules[i].begin, pattern{size: len(rules[i].begin), rule: &rules[i]})
	}
	a.link()
	for b := range 256 {
		a.quiet[b] = a.nodes[0].table[b] == 0 && !beginsEscape(byte(b))
	}
	return a
}

// skip returns the first place from i on where a pattern or an escape may begin, or
// where too little of the text is left to tell. The root is where it stands.
func (a *automaton) skip(text string, i int) int {
	for ; i+2 < len(text); i++ {
		x, y, z := text[i], text[i+1], text[i+2]
		switch {
		case a.quiet[x]:
		case beginsEscape(x), interrupts(y), interrupts(z):
			return i
		case !a.pairs.has(pair(x, y)):
		case a.triples.has(triple(x, y, z)):
			return i
		}
	}
	for i < len(text) && a.quiet[text[i]] {
		i++
	}
	return i
}

// interrupts reports whether a byte may stand between two of a pattern, or for one.
func interrupts(b byte) bool { return b == '\n' || b == '\r' || beginsEscape(b) }

// add takes a pattern, of three bytes or more.
func (a *automaton) add(text string, p pattern) {
	a.pairs.set(pair(text[0], text[1]))
	a.triples.set(triple(text[0], text[1], text[2]))
	at := int32(0)
	for i := range len(text) {
		next := a.child(at, text[i])
		if next == 0 {
			next = int32(len(a.nodes))
			a.nodes = append(a.nodes, node{char: text[i], sibling: a.nodes[at].first, depth: a.nodes[at].depth + 1})
			a.nodes[at].first = next
		}
		at = next
		a.nodes[at].broken = max(a.nodes[at].broken, p.broken)
	}
	switch found := a.nodes[at].found; {
	case found == 0:
		a.patterns = append(a.patterns, p)
		a.nodes[at].found = int32(len(a.patterns))
	default:
		known := &a.patterns[found-1]
		known.broken = max(known.broken, p.broken)
		known.begin = known.begin && p.begin
		known.dumps = append(known.dumps, p.dumps...)
	}
}

func (a *automaton) child(at int32, b byte) int32 {
	c := a.nodes[at].first
	for c != 0 && a.nodes[c].char != b {
		c = a.nodes[c].sibling
	}
	return c
}

// link goes level by level, so that what a node falls back to is done before it.
func (a *automaton) link() {
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		n := &a.nodes[at]
		if f := n.fail; a.nodes[f].found != 0 && at != f {
			n.also = f
		} else {
			n.also = a.nodes[f].also
		}
		for c := n.first; c != 0; c = a.nodes[c].sibling {
			if at != 0 {
				a.nodes[c].fail = a.next(n.fail, a.nodes[c].char)
			}
			queue = append(queue, c)
		}
		if n.depth < 2 {
			n.table = a.tableOf(at)
		}
	}
}

func (a *automaton) tableOf(at int32) *[256]int32 {
	var t [256]int32
	if at != 0 {
		t = *a.nodes[a.nodes[at].fail].table
	}
	for c := a.nodes[at].first; c != 0; c = a.nodes[c].sibling {
		t[a.nodes[c].char] = c
	}
	return &t
}

// next is the node after one more byte: that of the longest prefix of a pattern
// that the text ends with.
func (a *automaton) next(at int32, b byte) int32 {
	for {
		n := &a.nodes[at]
		if n.table != nil {
			return n.table[b]
		}
		if c := a.child(at, b); c != 0 {
			return c
		}
		at = n.fail
	}
}
