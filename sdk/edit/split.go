package edit

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mostRegions bounds how many regions a body may have.
const mostRegions = 10_000

// piece is a region of a body, with the line of it on which it opens.
type piece struct {
	Region
	line int
}

// splitter divides a body into its regions and the text outside of them.
type splitter struct {
	text    string
	regions *Regions
	pieces  []piece
	at      int // behind the last region
	line    int // of the offset counted
	counted int
	steps   int // bytes looked at, for tests
	outside int // the first line of text outside of regions; 0 where there is none
}

func newSplitter(text string) *splitter {
	s := &splitter{text: text, regions: NewRegions(0), line: 1}
	s.steps = s.regions.Grow(text, true)
	return s
}

// split finds the regions. One that is not closed, or that could end in two places, is
// an error.
func (s *splitter) split() error {
	for {
		start := s.next()
		if start == none {
			break
		}
		if err := s.pass(start); err != nil {
			return err
		}
		if len(s.pieces) == mostRegions {
			return sdk.Errorf(sdk.Overflow, "there are more than %d regions, which is too much for one call; nothing was changed: write the whole text with <<NEW", mostRegions)
		}
		line := s.lineAt(start)
		r, closed, _ := s.regions.At(start)
		if !closed {
			ident, _ := identAt(s.text, start)
			return sdk.Errorf(sdk.Validation, "%s is not closed; nothing was changed: end it with %s alone on a line, and where the text has that word or its marker too, write %s1 at both ends", placed(ident, line), ident, ident)
		}
		s.pieces, s.at = append(s.pieces, piece{r, line}), r.End
	}
	if len(s.pieces) == 0 {
		return nil
	}
	return s.pass(len(s.text))
}

// next is where the next marker opens, closed or not, or none. One in the packet's form
// is passed by with all that is in it.
func (s *splitter) next() (start int) {
	begin := s.at
	for begin < len(s.text) && isSpace(s.text[begin]) {
		begin++
	}
	s.steps += begin - s.at
	for from := s.at; ; {
		i := strings.Index(s.text[from:], opens)
		if i < 0 {
			s.steps += len(s.text) - from
			return none
		}
		start := from + i
		opening, end := Opens(s.text, start, s.at, begin)
		s.steps += end - from
		from = end
		switch opening {
		case Operation:
			return start
		case Shown:
			if r, closed, _ := s.regions.At(start); closed {
				from = r.End
			}
		}
	}
}

// pass goes over the text between the last region and an offset. It is an error where
// that could be the region's as well.
func (s *splitter) pass(to int) error {
	if len(s.pieces) > 0 {
		last := s.pieces[len(s.pieces)-1]
		if at := s.regions.firmly(last.ident, s.at, to); at != none {
			return sdk.Errorf(sdk.Validation, "%s could end where %s stands first, or on line %d; nothing was changed: write %s1 at both ends, so that the text cannot have it", placed(last.ident, last.line), last.ident, s.lineAt(at), last.ident)
		}
	}
	s.steps += to - s.at
	if gap := s.text[s.at:to]; s.outside == 0 && strings.TrimSpace(gap) != "" {
		s.outside = s.lineAt(to - len(strings.TrimLeft(gap, " \t\r\n\f\v")))
	}
	return nil
}

// lineAt is the 1-based line of an offset, none of which is before the last one asked of.
func (s *splitter) lineAt(at int) int {
	s.line += strings.Count(s.text[s.counted:at], "\n")
	s.counted = at
	return s.line
}
