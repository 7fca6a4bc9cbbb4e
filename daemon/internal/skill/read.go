package skill

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse reads the text of a SKILL.md that lies in this folder, a name or a path.
// It takes any bytes; what keeps them from being a skill is in the Diagnostics,
// and Loaded is false then. The document has a usable Name in every case.
func Parse(text []byte, folder string) Document {
	d := parse(text, folder, false)
	sum := sha256.Sum256(text)
	d.Hash = hex.EncodeToString(sum[:])
	return d
}

// parse is Parse without the hash; strict adds what the standard asks and nothing
// here needs.
func parse(text []byte, folder string, strict bool) Document {
	d := Document{Loaded: true}
	if folder != "" {
		folder = filepath.Base(folder)
	}
	d.Name = SafeName(folder)
	if fault := noText(text); fault != nil {
		d.note(fault)
		return d
	}
	f, fault := scanFences(text)
	if fault != nil {
		d.note(fault)
		return d
	}
	d.Body = string(f.body)
	d.note(showHidden(text)...)
	if len(f.block) > MaxFrontmatter {
		d.note(wrong("frontmatter-too-large", f.line, 1, fmt.Sprintf("the frontmatter has %d bytes; %d are read", len(f.block), MaxFrontmatter),
			"Move what is long into the text below, or into a file beside it."))
		return d
	}
	if fields := d.decode(f); fields != nil {
		r := fieldReader{frontmatter: fields, doc: &d, folder: folder, fence: f.line, strict: strict}
		r.read()
	}
	if strict {
		d.lint(text, f)
	}
	slices.SortStableFunc(d.Diagnostics, func(a, b diagnostic) int { // errors first in a line
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Severity, b.Severity))
	})
	return d
}

// decode decodes the frontmatter, after one repair when it is no YAML; nil when it
// cannot.
func (d *Document) decode(f fenced) *frontmatter {
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
			d.note(notes...)
		}
		src = fixed
	}
	switch {
	case errors.As(err, &no):
		d.note(wrong(no.code, f.line+1, 1, no.message, no.help))
	case err != nil:
		d.note(notYAML(src, err, f.line+1))
	}
	return fields
}

// breaksUnseen reports whether YAML ends a line at a character where no editor
// does: what looks like one field must not be two.
func breaksUnseen(c rune) bool { return c == 0x85 || c == 0x2028 || c == 0x2029 }

// noText finds what no text has.
func noText(text []byte) *diagnostic {
	if len(text) > MaxFile {
		return tooMuch(int64(len(text)))
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return wrong("encoding", 1, 1, "the file is UTF-16", "Save it as UTF-8.")
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		line, column := placeOf(text, i)
		return wrong("nul", line, column, "the file has a NUL byte, so it is no text", "Save it as plain text in UTF-8.")
	}
	if utf8.Valid(text) {
		return nil
	}
	i := 0
	for r, size := rune(0), 0; r != utf8.RuneError || size != 1; i += size {
		r, size = utf8.DecodeRune(text[i:])
	}
	i--
	line, column := placeOf(text, i)
	return wrong("encoding", line, column, "the byte 0x"+strconv.FormatUint(uint64(text[i]), 16)+" is not UTF-8", "Save the file as UTF-8.")
}

// placeOf is the line and column of a byte of a text.
func placeOf(text []byte, at int) (line, column int) {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return 1 + bytes.Count(text[:at], []byte("\n")), 1 + utf8.RuneCount(text[start:at])
}
