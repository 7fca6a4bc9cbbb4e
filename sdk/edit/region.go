package edit

import "strings"

// Region is what a marker opens: `<<IDENT` and all up to the bare IDENT that closes it.
// It is opaque: whatever looks like a marker or a tag in it is text.
type Region struct {
	Start, End int  // offsets of the whole, markers and all
	First      int  // where it would end with the first bare word; End unless a sentence goes on behind that
	Repeated   bool // its marker stands in it once more

	ident string // with its suffix; `:::PATH` of one in the packet's form
	raw   string // what stands between the markers
}

// content is what stands between the markers, without what parts it from them: the rest of
// the opener's line and the line ending before the closer, or else a blank at each side.
func (r Region) content() string {
	text := r.raw
	if head := strings.TrimLeft(text, " \t\r"); strings.HasPrefix(head, "\n") {
		text = head[1:]
	} else if text != "" && isBlank(text[0]) {
		text = text[1:]
	}
	last := strings.LastIndexByte(text, '\n')
	switch closerLine := text[last+1:]; {
	case strings.Trim(closerLine, " \t") != "":
		if n := len(text) - 1; isBlank(text[n]) {
			return text[:n]
		}
		return text
	case last >= 0:
		return strings.TrimSuffix(text[:last], "\r")
	default:
		return ""
	}
}

// At is the region that opens at an offset. It is none where no marker stands there, and
// where nothing closes it before the same marker begins a line. Of a text that has not
// come whole it may not be known yet; what is known does not change.
//
// The first bare word closes it, unless a sentence goes on behind that and a later one is
// firm: `NEW` in the prose of a new text ends it no sooner than `NEW` on a line of its
// own. Where a marker of the word opens between the two, the first one does.
func (r *Regions) At(start int) (_ Region, closed, known bool) {
	if start >= r.read {
		return Region{}, false, r.whole
	}
	ident, end := identAt(r.text, start)
	p := r.words[ident]
	if p == nil {
		return Region{}, false, true
	}
	first := p.closes.from(end)
	if head := p.heads.from(end); first == none || head < first {
		return Region{}, false, r.whole || head != none
	}
	closer, firm, again := first, p.firm.from(first), p.opens.from(first)
	if firm == none && again == none && !r.whole {
		return Region{}, false, false
	}
	if firm < again {
		closer = firm
	}
	if p.heads.from(end) < closer {
		return Region{}, false, true
	}
	return Region{
		Start: start, End: closer + len(ident), First: first + len(ident), Repeated: p.opens.from(end) < closer,
		ident: ident, raw: r.text[end:closer],
	}, true, true
}

// firmly is where a region's word stands bare and firm between two offsets, or none.
func (r *Regions) firmly(ident string, from, to int) int {
	if at := r.words[ident].firm.from(from); at < to {
		return at
	}
	return none
}
