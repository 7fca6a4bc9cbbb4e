package edit

import (
	"math"
	"sort"
	"strings"
)

// Region is what a marker opens: `<<IDENT` and all up to the bare IDENT that closes it.
// It is opaque: whatever looks like a marker or a tag in it is text.
type Region struct {
	Ident      string // with its suffix; `:::PATH` of one in the packet's form
	Start, End int    // offsets of the whole, markers and all
	raw        string // what stands between the markers
}

// Text is what stands between the markers, without what parts it from them: the rest of
// the opener's line and the line ending before the closer, or else a blank at each side.
func (r Region) Text() string {
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

// Regions finds the regions of a text, which may go on behind the body that has them: a
// reader of tags asks it what to skip before it looks for the tag that ends. Its value
// comes from Find; asking it any number of times costs no second reading of the text.
type Regions struct {
	text  string
	words map[string]*places
	steps int // bytes looked at, for tests
}

// places are the offsets at which one marker's word stands.
type places struct {
	opens  []int // behind `<<`
	heads  []int // of those, the ones that begin a line or follow a tag
	closes []int // bare
	firm   []int // of those, the ones behind which no sentence goes on
}

// Find reads a text for Regions, in two passes: which words open something, and where
// those stand bare.
func Find(text string) *Regions {
	r := &Regions{text: text, words: map[string]*places{}}
	r.findOpeners()
	if len(r.words) > 0 {
		r.findClosers()
	}
	return r
}

func (r *Regions) findOpeners() {
	for at := 0; ; {
		next := strings.Index(r.text[at:], opens)
		if next < 0 {
			r.steps += len(r.text) - at
			return
		}
		start := at + next
		ident, end := identAt(r.text, start)
		if ident == "" {
			end = start + 1
		} else {
			r.open(ident, start)
		}
		r.steps += end - at
		at = end
	}
}

func (r *Regions) open(ident string, start int) {
	p := r.words[ident]
	if p == nil {
		p = &places{}
		r.words[ident] = p
	}
	p.opens = append(p.opens, start)
	if start == 0 || r.text[start-1] == '\n' || r.text[start-1] == '>' {
		p.heads = append(p.heads, start)
	}
}

func (r *Regions) findClosers() {
	for at := 0; at < len(r.text); at++ {
		r.steps++
		if at > 0 && !isSpace(r.text[at-1]) {
			continue
		}
		end := wordEnd(r.text, at)
		if end == at {
			continue
		}
		r.steps += end - at
		if p := r.words[r.text[at:end]]; p != nil && mayClose(r.text, end) {
			p.closes = append(p.closes, at)
			if r.firm(at, end) {
				p.firm = append(p.firm, at)
			}
		}
		at = end - 1
	}
}

// firm reports whether a bare word stands as a closer does: alone on its line, or before
// the end, the next marker or a tag that ends.
func (r *Regions) firm(at, end int) bool {
	behind := end
	for behind < len(r.text) && isBlank(r.text[behind]) {
		behind++
	}
	before := at
	for before > 0 && isBlank(r.text[before-1]) {
		before--
	}
	r.steps += behind - end + at - before
	if behind == len(r.text) || goesOn(r.text, behind) {
		return true
	}
	if r.text[behind] != '\n' && r.text[behind] != '\r' {
		return false
	}
	if before == 0 || r.text[before-1] == '\n' {
		return true
	}
	next := behind
	for next < len(r.text) && isSpace(r.text[next]) {
		next++
	}
	r.steps += next - behind
	return next == len(r.text) || goesOn(r.text, next)
}

// At is the region that opens at an offset. It is none where no marker stands there, and
// where nothing closes it before the same marker begins a line.
//
// The first bare word closes it, unless a sentence goes on behind that and a later one is
// firm: `NEW` in the prose of a new text ends it no sooner than `NEW` on a line of its
// own. Where a marker of the word opens between the two, the first one does.
func (r *Regions) At(start int) (Region, bool) {
	ident, end := identAt(r.text, start)
	p := r.words[ident]
	if p == nil {
		return Region{}, false
	}
	closer := behind(p.closes, end)
	if firm := behind(p.firm, closer); firm < behind(p.opens, closer) {
		closer = firm
	}
	if closer == none || behind(p.heads, end) < closer {
		return Region{}, false
	}
	return Region{ident, start, closer + len(ident), r.text[end:closer]}, true
}

// firmly is where a region's word stands bare and firm between two offsets, or none.
func (r *Regions) firmly(ident string, from, to int) int {
	if at := behind(r.words[ident].firm, from); at < to {
		return at
	}
	return none
}

// none is the offset of what is nowhere, behind all others.
const none = math.MaxInt

// behind is the first of ascending offsets that is not below from.
func behind(offsets []int, from int) int {
	i := sort.SearchInts(offsets, from)
	if i == len(offsets) {
		return none
	}
	return offsets[i]
}
