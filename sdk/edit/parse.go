package edit

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Edit is what the body of a `set` asks for: operations, or a text that takes the
// place of all there was. It comes from Parse, and may be applied to many bodies.
type Edit struct {
	text     string // as it was written, where there are no operations
	ops      []operation
	warnings []Warning
}

// Parse reads the body of a `set`. Without a region it is the new text as it stands.
// What does not parse is refused as validation, or as overflow when there are very many
// regions, and the message says what to write instead.
func Parse(text string) (Edit, error) {
	s := newSplitter(text)
	if err := s.split(); err != nil {
		return Edit{}, err
	}
	if len(s.pieces) == 0 {
		return Edit{text: text, warnings: noMarker(text)}, nil
	}
	e := Edit{ops: make([]operation, 0, len(s.pieces))}
	for i := 0; i < len(s.pieces); i++ {
		p := s.pieces[i]
		kind, _ := keywordOf(p.ident)
		op := operation{keyword: kind, ident: p.ident, line: p.line, text: p.content()}
		if kind == search {
			if i++; i == len(s.pieces) || !s.pieces[i].replaces() {
				return Edit{}, sdk.Errorf(sdk.Validation, "%s has no <<REPLACE behind it; nothing was changed: write the text that takes its place between <<REPLACE and REPLACE, or use <<DELETE", op.name())
			}
			op.with = s.pieces[i].content()
		}
		e.ops = append(e.ops, op)
	}
	if s.outside > 0 {
		e.warnings = []Warning{{Outside, fmt.Sprintf("text outside of the regions was left out, the first on line %d: what is to be written stands between a marker and its word", s.outside)}}
	}
	return e, nil
}

func (p piece) replaces() bool {
	kind, _ := keywordOf(p.ident)
	return kind == replace
}

// noMarker warns of a text that is taken as it stands although it begins as a region
// does: in small letters, in quotes, parted from its word, or as the packet shows entries.
func noMarker(text string) []Warning {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), opens)
	if !ok {
		return nil
	}
	word := strings.TrimLeft(rest, `-~'":`)
	_, parted := keywordOf(strings.TrimLeft(strings.TrimPrefix(rest, "<"), " \t"))
	if !parted && (word == "" || !isWord(word[0]) || len(rest)-len(word) > len(packet)) {
		return nil
	}
	return []Warning{{NoMarker, "the text begins like a marker and is none, so it was taken as it stands: a marker is << and NEW, PREPEND, APPEND, REPLACE, DELETE or SEARCH in capitals, without quotes or blanks"}}
}
