package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// readArgs are the arguments of read_file.
type readArgs struct {
	Path      string `json:"path" jsonschema:"the file, relative to the project"`
	StartLine *int   `json:"start_line,omitempty" jsonschema:"first line to read; the file's first line is 1"`
	EndLine   *int   `json:"end_line,omitempty" jsonschema:"last line to read, itself included; left out, the rest of the file"`
}

// readData is what read_file tells besides the text. TotalLines is absent when
// the end of the file was not reached.
type readData struct {
	Path        string `json:"path"`
	Size        int64  `json:"size"`
	StartLine   int    `json:"start_line,omitempty"`
	EndLine     int    `json:"end_line,omitempty"`
	TotalLines  *int   `json:"total_lines,omitempty"`
	More        bool   `json:"more"` // the file goes on after end_line
	Binary      bool   `json:"binary,omitempty"`
	Type        string `json:"type,omitempty"` // of a binary file, as a media type
	InvalidUTF8 bool   `json:"invalid_utf8,omitempty"`
	Unsaved     bool   `json:"unsaved,omitempty"` // it is as a person's editor has it, and not the disk
}

// read returns a file's text, or a range of its lines. A range is read in
// bounded memory, and nothing behind it is read.
func (p *project) read(ctx context.Context, a readArgs) (answer, error) {
	first, last, err := lineRange(a)
	if err != nil {
		return answer{}, err
	}
	pl, err := p.existing(a.Path, lookup{})
	if err != nil {
		return answer{}, err
	}
	if err := pl.readable(a.Path); err != nil {
		return answer{}, err
	}
	defer pl.close()
	f, info, err := openRegular(pl.dir, pl.base, a.Path)
	if err != nil {
		return answer{}, err
	}
	defer closeRead(f)

	data := readData{Path: pl.path, Size: info.Size()}
	r := bufio.NewReaderSize(f, 64<<10)
	if text, has := p.unsaved[path.Clean(a.Path)]; has {
		data.Size, data.Unsaved, p.shows = int64(len(text)), true, true
		r.Reset(strings.NewReader(text))
	}
	binary, head, err := looksBinary(r)
	if err != nil {
		return answer{}, fault("read", a.Path, err)
	}
	if binary {
		data.Binary, data.Type = true, http.DetectContentType(head)
		return answer{
			text: fmt.Sprintf("%s is a binary file of %s (%s); its contents are not shown", shown(pl.path), sized(data.Size), data.Type),
			data: data,
		}, nil
	}
	lines, err := readLines(ctx, r, first, last, p.most)
	if err != nil {
		return answer{}, fault("read", a.Path, err)
	}
	if lines.count == 0 && first > 1 {
		return answer{}, sdk.Errorf(sdk.Validation, "start_line %d is behind the end of %s, which has %s", first, shown(a.Path), plural(lines.seen, "line"))
	}
	got := lines.answer(data, first)
	if int64(len(got.text)) > p.most+p.most/2 {
		return answer{}, sdk.Errorf(sdk.Overflow, "%s holds so many bytes that are no UTF-8 that its text does not fit one answer; read it in ranges of lines", shown(a.Path))
	}
	return got, nil
}

func lineRange(a readArgs) (first, last int, err error) {
	first, last = 1, math.MaxInt
	if a.StartLine != nil {
		first = *a.StartLine
	}
	if a.EndLine != nil {
		last = *a.EndLine
	}
	if first < 1 || last < 1 {
		return 0, 0, sdk.Errorf(sdk.Validation, "lines are counted from 1: start_line %d and end_line %d name no range", first, last)
	}
	if last < first {
		return 0, 0, sdk.Errorf(sdk.Validation, "end_line %d lies before start_line %d", last, first)
	}
	return first, last, nil
}

// lines is a range of lines as it was read.
type lines struct {
	text  []byte
	count int  // lines in text
	seen  int  // lines passed, those before the range included
	ended bool // the file has nothing behind them
	cut   bool // the range is longer than what may be read
	part  bool // the last line is cut itself
}

// readLines reads lines first to last, up to most bytes of them.
func readLines(ctx context.Context, r *bufio.Reader, first, last int, most int64) (lines, error) {
	var got lines
	begun := false // a line was begun that has not ended
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return got, ctx.Err()
		}
		if !begun && got.seen == last {
			_, err := r.Peek(1)
			got.ended = errors.Is(err, io.EOF)
			if got.ended {
				err = nil
			}
			return got, err
		}
		piece, err := r.ReadSlice('\n')
		if len(piece) > 0 && got.seen+1 >= first {
			if !got.take(piece, begun, most) {
				return got, nil
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			begun = true
		case errors.Is(err, io.EOF):
			if begun || len(piece) > 0 {
				got.seen++
			}
			got.ended = true
			return got, nil
		case err != nil:
			return got, err
		default:
			begun = false
			got.seen++
		}
	}
}

// take adds a piece of a line; begun says that the line's beginning is in text
// already. It tells whether there was room: a line that does not fit whole goes
// away again, unless it is the only one.
func (l *lines) take(piece []byte, begun bool, most int64) bool {
	room := int(most) - len(l.text)
	if !begun {
		l.count++
	}
	if len(piece) <= room {
		l.text = append(l.text, piece...)
		return true
	}
	l.cut = true
	if l.count == 1 {
		l.text = append(l.text, piece[:room]...)
		l.part = true
		return false
	}
	l.count--
	l.text = l.text[:bytes.LastIndexByte(l.text, '\n')+1]
	return false
}

// answer writes the lines, and behind them what was left out of the range.
func (l *lines) answer(data readData, first int) answer {
	data.StartLine, data.EndLine = first, first+l.count-1
	if l.count == 0 {
		data.StartLine, data.EndLine = 0, 0
	}
	data.More = !l.ended
	if l.ended {
		total := l.seen
		data.TotalLines = &total
	}
	text := l.text
	if l.part {
		text = trimRune(text)
	}
	data.InvalidUTF8 = !utf8.Valid(text)
	got := answer{text: strings.ToValidUTF8(string(text), "\uFFFD"), truncated: l.cut}
	switch {
	case l.part:
		got.text += fmt.Sprintf("\n[line %d is longer than %s and cut here; the rest of it cannot be read by lines]", first, sized(int64(len(l.text))))
	case l.cut:
		got.text += fmt.Sprintf("[lines %d to %d are shown; the range is longer than what is read at once: go on with start_line %d]\n", first, data.EndLine, data.EndLine+1)
	}
	got.data = data
	return got
}

// trimRune drops the beginning of a UTF-8 character that a cut left at the end.
func trimRune(text []byte) []byte {
	for n := 1; n <= min(utf8.UTFMax, len(text)); n++ {
		at := len(text) - n
		if utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at]
			}
			break
		}
	}
	return text
}

// closeRead closes a file that was only read, of which nothing can be lost.
func closeRead(f *os.File) { _ = f.Close() }
