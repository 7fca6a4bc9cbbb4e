package edit

import (
	"math"
	"slices"
)

// Regions finds the regions of a text, which may still be coming, by the places of the
// words that open and close any. It goes through the text once.
type Regions struct {
	text  string
	whole bool // nothing comes any more
	read  int  // before here each word has its places
	words map[string]*places
	steps int // bytes looked at
}

// places are the offsets at which one marker's word stands.
type places struct {
	opens  offsets // behind `<<`
	heads  offsets // of those, the ones that begin a line or follow a tag
	closes offsets // bare, behind one that opens
	firm   offsets // of those, the ones behind which no sentence goes on
}

// NewRegions is for the markers from an offset on.
func NewRegions(from int) *Regions {
	return &Regions{read: from, words: map[string]*places{}}
}

// Grow reads on in a text, which begins with what was read of it before, and says how many
// bytes it looked at. The end of one that is not whole is left until more has come.
func (r *Regions) Grow(text string, whole bool) (steps int) {
	before := r.steps
	r.text, r.whole = text, whole
	for r.read < len(text) {
		next, known := r.word(r.read)
		if !known {
			break
		}
		r.steps += next - r.read
		r.read = next
	}
	return r.steps - before
}

// word takes the word of a marker at an offset, if one stands there, and says where to go
// on; it is not known where what decides has not come.
func (r *Regions) word(at int) (next int, known bool) {
	switch {
	case r.text[at] == '<':
		ident, end := identAt(r.text, at)
		if !r.came(max(at, end)) {
			r.steps += end - at
			return at, false
		}
		if ident != "" {
			r.open(ident, at)
			return end, true
		}
	case at > 0 && isSpace(r.text[at-1]):
		if end := wordEnd(r.text, at); end > at {
			return end, r.came(end) && r.close(at, end)
		}
		return at + 1, r.text[at] != packet[0] || r.came(at)
	}
	return at + 1, true
}

// came reports whether what stands at an offset can be told: a tag's end or a marker.
func (r *Regions) came(at int) bool {
	return r.whole || len(r.text)-at > len(opens)+len(packet)
}

func (r *Regions) open(ident string, start int) {
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

func (r *Regions) beginsLine(at int) bool {
	before := at
	for before > 0 && isBlank(r.text[before-1]) {
		before--
	}
	r.steps += at - before
	return before == 0 || r.text[before-1] == '\n'
}

// close takes a bare word; false when what stands behind it has not come.
func (r *Regions) close(at, end int) (known bool) {
	p := r.words[r.text[at:end]]
	if p == nil || !mayClose(r.text, end) {
		return true
	}
	firm, known := r.firm(at, end)
	if !known {
		return false
	}
	p.closes.add(at)
	if firm {
		p.firm.add(at)
	}
	return true
}

// firm reports whether a bare word stands as a closer does: alone on its line, or before
// the end, the next marker or a tag that ends.
func (r *Regions) firm(at, end int) (firm, known bool) {
	behind := end
	for behind < len(r.text) && isBlank(r.text[behind]) {
		behind++
	}
	next := behind
	for next < len(r.text) && isSpace(r.text[next]) {
		next++
	}
	r.steps += next - end
	switch {
	case !r.came(next):
		return false, false
	case next == len(r.text) || goesOn(r.text, next):
		return true, true
	case r.text[behind] != '\n' && r.text[behind] != '\r':
		return false, true
	}
	return r.beginsLine(at), true
}

// none is the offset of what is nowhere, behind all others.
const none = math.MaxInt

// offsets ascend.
type offsets []int

func (o *offsets) add(at int) { *o = append(*o, at) }

// from is the first offset that is not below at, or none.
func (o offsets) from(at int) int {
	i, _ := slices.BinarySearch(o, at)
	if i == len(o) {
		return none
	}
	return o[i]
}
