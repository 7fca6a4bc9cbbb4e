package tags

import (
	"strings"

	"github.com/bothyd/bothy/sdk/edit"
)

// region is the end of what the marker at i begins, within which a body is not looked at; -1 when it begins nothing.
func (b *bodyScan) region(i int) int {
	if b.tool.Markers == HereDocuments {
		return b.document(i)
	}
	if b.refused {
		return -1
	}
	b.text.at(i + len("<<:::")) // the longest beginning of a marker
	opening, _ := edit.Opens(b.text.s, i, b.last, b.begin)
	switch opening {
	case edit.Nothing:
		return -1
	case edit.Document:
		return b.document(i)
	}
	end := b.marked(i)
	switch {
	case opening == edit.Shown:
	case end < 0:
		b.refused = true
	default:
		b.last, b.begin = end, b.text.spaces(end)
	}
	return end
}

// markerIn is the place of the first marker of the edit from i on and before end; -1 when there is none.
func (b *bodyScan) markerIn(i, end int) int {
	if b.tool.Markers != EditMarkers || b.refused {
		return -1
	}
	for ; i < end; i++ {
		n := strings.Index(b.text.s[i:end], "<<")
		if n < 0 {
			break
		}
		i += n
		if opening, _ := edit.Opens(b.text.s, i, b.last, b.begin); opening == edit.Operation || opening == edit.Shown {
			return i
		}
	}
	b.text.steps += max(end-i, 0)
	return -1
}

// marked is the end of the region that an edit marker opens at i, which is where the edit has it; -1 when it has none. Where a
// tag closes the tool within it, it has to be certain that the region goes on behind that: its marker does not stand in it
// again, and what follows is again part of the body. If it is not, the body ends with that tag, and the edit says what is wrong.
func (b *bodyScan) marked(i int) int {
	if b.regions == nil {
		b.regions = edit.NewRegions(b.from)
	}
	b.text.steps += b.regions.Grow(b.text.s, b.text.whole)
	region, closed, known := b.regions.At(i)
	if !known {
		b.text.ends(len(b.text.s))
	}
	if !closed {
		return -1
	}
	shut := b.shutIn(i, region.End)
	switch {
	case shut < 0, !region.Repeated && b.goesOn(region.End):
		return region.End
	case shut >= region.First:
		return region.First
	}
	return -1
}

// shutIn is the place of the first tag that closes the tool, from i on and before end; -1 when there is none. It is asked of
// one i after the other, and looks at nothing twice.
func (b *bodyScan) shutIn(i, end int) int {
	if b.shutAt >= i {
		if b.shutAt < end {
			return b.shutAt
		}
		return -1
	}
	for i = max(i, b.searched); i < end; i++ {
		n := strings.IndexByte(b.text.s[i:end], '<')
		if n < 0 {
			b.text.steps += end - i
			break
		}
		b.text.steps += n + 1
		i += n
		if t, _ := b.closes(i); t == b.tool {
			b.shutAt, b.searched = i, i+1
			return i
		}
	}
	b.searched = max(b.searched, end)
	return -1
}

// goesOn reports whether what follows a region can still be part of a body: another region, or the end of it.
func (b *bodyScan) goesOn(i int) bool {
	i = b.text.spaces(i)
	return b.text.has(i, b.shut()) || b.text.has(i, "<<")
}
