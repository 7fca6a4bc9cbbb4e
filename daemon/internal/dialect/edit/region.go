package edit

import (
	"math"
	"strings"
)

// region is what a marker opens: `<<IDENT` and all up to the bare IDENT that closes it.
// It is opaque: whatever looks like a marker or a tag in it is text.
type region struct {
	ident      string // with its suffix; `:::PATH` of one in the packet's form
	start, end int    // offsets of the whole, markers and all
	raw        string // what stands between the markers
}

// content is what stands between the markers, without what parts it from them: the rest of
// the opener's line and the line ending before the closer, or else a blank at each side.
func (r region) content() string {
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

// regions finds the regions of a text by the places of the words that open and close any.
type regions struct {
	text  string
	words map[string]*places
	steps int // bytes looked at, for tests
}

// places are the offsets at which one marker's word stands.
type places struct {
	opens  offsets // behind `<<`
	heads  offsets // of those, the ones that begin a line or follow a tag
	closes offsets // bare, behind one that opens
	firm   offsets // of those, the ones behind which no sentence goes on
}

// newRegions goes through a text once.
func newRegions(text string) *regions {
	r := &regions{text: text, words: map[string]*places{}}
	at := strings.Index(text, opens)
	if at < 0 {
		r.steps = len(text)
		return r
	}
	for r.steps = at; at < len(text); {
		begin := at
		switch {
		case text[at] == '<':
			if ident, end := identAt(text, at); ident != "" {
				r.open(ident, at)
				at = end
			}
		case at > 0 && isSpace(text[at-1]):
			if end := wordEnd(text, at); end > at {
				r.close(at, end)
				at = end
			}
		}
		if at == begin {
			at++
		}
		r.steps += at - begin
	}
	return r
}

func (r *regions) open(ident string, start int) {
	p := r.words[ident]
	if p == nil {
		p = &places{}
		r.words[ident] = p
	}
	p.opens.add(start)
	if r.beginsLine(start) || r.text[start-1] == '>' {
		p.heads.add(start)
	}
}

func (r *regions) beginsLine(at int) bool {
	before := at
	for before > 0 && isBlank(r.text[before-1]) {
		before--
	}
	r.steps += at - before
	return before == 0 || r.text[before-1] == '\n'
}

func (r *regions) close(at, end int) {
	p := r.words[r.text[at:end]]
	if p == nil || !mayClose(r.text, end) {
		return
	}
	p.closes.add(at)
	if r.firm(at, end) {
		p.firm.add(at)
	}
}

// firm reports whether a bare word stands as a closer does: alone on its line, or before
// the end, the next marker or a tag that ends.
func (r *regions) firm(at, end int) bool {
	behind := end
	for behind < len(r.text) && isBlank(r.text[behind]) {
		behind++
	}
	r.steps += behind - end
	if behind == len(r.text) || goesOn(r.text, behind) {
		return true
	}
	if r.text[behind] != '\n' && r.text[behind] != '\r' {
		return false
	}
	if r.beginsLine(at) {
		return true
	}
	next := behind
	for next < len(r.text) && isSpace(r.text[next]) {
		next++
	}
	r.steps += next - behind
	return next == len(r.text) || goesOn(r.text, next)
}

// at is the region that opens at an offset. It is none where no marker stands there, and
// where nothing closes it before the same marker begins a line.
//
// The first bare word closes it, unless a sentence goes on behind that and a later one is
// firm: `NEW` in the prose of a new text ends it no sooner than `NEW` on a line of its
// own. Where a marker of the word opens between the two, the first one does.
//
// It is asked of one offset after the other, each behind the last.
func (r *regions) at(start int) (region, bool) {
	ident, end := identAt(r.text, start)
	p := r.words[ident]
	if p == nil {
		return region{}, false
	}
	closer := p.closes.from(end)
	if firm := p.firm.from(closer); firm < p.opens.from(closer) {
		closer = firm
	}
	if closer == none || p.heads.from(end) < closer {
		return region{}, false
	}
	return region{ident, start, closer + len(ident), r.text[end:closer]}, true
}

// firmly is where a region's word stands bare and firm between two offsets, or none.
func (r *regions) firmly(ident string, from, to int) int {
	if at := r.words[ident].firm.from(from); at < to {
		return at
	}
	return none
}

// none is the offset of what is nowhere, behind all others.
const none = math.MaxInt

// offsets ascend, and are asked for in that order, so that all questions together cost
// one way through them.
type offsets struct {
	all  []int
	next int
}

func (o *offsets) add(at int) { o.all = append(o.all, at) }

// from is the first offset that is not below at, or none.
func (o *offsets) from(at int) int {
	for o.next < len(o.all) && o.all[o.next] < at {
		o.next++
	}
	if o.next == len(o.all) {
		return none
	}
	return o.all[o.next]
}
