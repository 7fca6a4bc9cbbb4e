package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// readLine reads one line without its ending. What lies beyond maxMatched bytes
// of it is read and dropped. It tells whether there was a line.
func readLine(ctx context.Context, r *bufio.Reader) ([]byte, bool, error) {
	var line []byte
	for pieces := 0; ; pieces++ {
		piece, err := r.ReadSlice('\n')
		whole := err == nil || errors.Is(err, io.EOF)
		if !whole && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}
		if whole && pieces == 0 {
			return trimEnding(piece), err == nil || len(piece) > 0, nil
		}
		line = append(line, piece[:min(len(piece), maxMatched-len(line))]...)
		if whole {
			return trimEnding(line), true, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
	}
}

func trimEnding(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// write shows the matches as grep -n does: path:line:text, lines around them
// with dashes, and -- between places that do not touch. No line is shown twice.
func (s *search) write(text *strings.Builder) {
	path, shownTo := "", 0 // what was written last
	for i, m := range s.data.Matches {
		from := m.Line - len(m.Before)
		if m.Path != path {
			path, shownTo = m.Path, 0
		}
		if s.context > 0 && i > 0 && (shownTo == 0 || from > shownTo+1) {
			text.WriteString("--\n")
		}
		for j, line := range m.Before {
			if n := from + j; n > shownTo {
				fmt.Fprintf(text, "%s-%d-%s\n", shown(path), n, line)
				shownTo = n
			}
		}
		fmt.Fprintf(text, "%s:%d:%s\n", shown(path), m.Line, m.Text)
		shownTo = m.Line
		next := s.nextIn(path, i)
		for j, line := range m.After {
			if n := m.Line + 1 + j; n < next {
				fmt.Fprintf(text, "%s-%d-%s\n", shown(path), n, line)
				shownTo = n
			}
		}
	}
}

// nextIn is the line of the match behind match i when it is in the same file.
func (s *search) nextIn(path string, i int) int {
	if i+1 < len(s.data.Matches) && s.data.Matches[i+1].Path == path {
		return s.data.Matches[i+1].Line
	}
	return math.MaxInt
}
