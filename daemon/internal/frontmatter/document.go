package frontmatter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxBlock is how many bytes are read between the fences (the largest of 8,400 public
// skills has 3.6 kB).
const MaxBlock = 16 << 10

// Document is a Markdown file in its parts. Where it has no Fields, its Diagnostics say why.
type Document struct {
	Body        string  // what stands behind the fences, line ends as they are
	Line        int     // of the opening fence; 0 where there are no two
	Fields      *Fields // nil when there are none that can be read
	Repaired    bool    // the fields were no YAML until values were quoted
	Diagnostics []Diagnostic
}

// Parse takes any text of at most most bytes apart.
func Parse(text []byte, most int) *Document {
	d := &Document{}
	if fault := noText(text, most); fault != nil {
		d.Note(fault)
		return d
	}
	f, fault := scanFences(text)
	if fault != nil {
		d.Note(fault)
		return d
	}
	d.Body, d.Line = string(f.body), f.line
	d.Note(showHidden(text)...)
	if len(f.block) > MaxBlock {
		d.Note(Wrong("frontmatter-too-large", f.line, 1, fmt.Sprintf("the frontmatter has %d bytes; %d are read", len(f.block), MaxBlock),
			"Move what is long into the text below, or into a file beside it."))
		return d
	}
	d.decode(f)
	return d
}

// Note adds diagnostics, nil ones not.
func (d *Document) Note(list ...*Diagnostic) {
	for _, x := range list {
		if x != nil {
			d.Diagnostics = append(d.Diagnostics, *x)
		}
	}
}

// Sort puts the diagnostics in the order of the file, errors first in a place.
func (d *Document) Sort() {
	slices.SortStableFunc(d.Diagnostics, func(a, b Diagnostic) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Severity, b.Severity))
	})
}

// decode decodes the fields, after one repair when they are no YAML.
func (d *Document) decode(f fenced) {
	src := f.block
	if bytes.ContainsFunc(src, breaksUnseen) {
		src = bytes.Map(func(c rune) rune {
			if breaksUnseen(c) {
				return ' '
			}
			return c
		}, src)
	}
	fields, err := decodeBlock(src)
	var no refused
	if err != nil && !errors.As(err, &no) {
		fixed, notes := repair(src, f.line+1)
		if fields, err = decodeBlock(fixed); err == nil {
			d.Repaired = true
			d.Note(notes...)
		}
		src = fixed
	}
	switch {
	case errors.As(err, &no):
		d.Note(Wrong(no.code, f.line+1, 1, no.message, no.help))
	case err != nil:
		d.Note(notYAML(src, err, f.line+1))
	default:
		fields.document = d
		d.Fields = fields
	}
}

// breaksUnseen reports whether YAML ends a line at a character where no editor
// does: what looks like one field must not be two.
func breaksUnseen(c rune) bool { return c == 0x85 || c == 0x2028 || c == 0x2029 }

// noText finds what no text has.
func noText(text []byte, most int) *Diagnostic {
	if len(text) > most {
		return tooMuch(int64(len(text)), most)
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return Wrong("encoding", 1, 1, "the file is UTF-16", "Save it as UTF-8.")
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		line, column := PlaceOf(text, i)
		return Wrong("nul", line, column, "the file has a NUL byte, so it is no text", "Save it as plain text in UTF-8.")
	}
	if utf8.Valid(text) {
		return nil
	}
	i := 0
	for r, size := rune(0), 0; r != utf8.RuneError || size != 1; i += size {
		r, size = utf8.DecodeRune(text[i:])
	}
	i--
	line, column := PlaceOf(text, i)
	return Wrong("encoding", line, column, "the byte 0x"+strconv.FormatUint(uint64(text[i]), 16)+" is not UTF-8", "Save the file as UTF-8.")
}

// PlaceOf is the line and column of a byte of a text.
func PlaceOf(text []byte, at int) (line, column int) {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return 1 + bytes.Count(text[:at], []byte("\n")), 1 + utf8.RuneCount(text[start:at])
}
