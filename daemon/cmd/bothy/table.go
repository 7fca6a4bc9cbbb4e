package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/bothyd/bothy/sdk/client/show"
)

// columns is how wide a terminal is, 80 when it does not say, and 0 for what is
// no terminal.
func columns(w io.Writer, tty bool) int {
	if !tty {
		return 0
	}
	if f, ok := terminalOf(w).(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// width is how wide text is written: as the terminal, within what can be read.
func (c *console) width() int {
	if n := columns(c.out, c.outTTY); n > 0 {
		return min(max(n, 40), 120)
	}
	return 0
}

// errWidth is how wide what happens is drawn: as the terminal, and without end in a log.
func (c *console) errWidth() int { return columns(c.err, c.errTTY) }

// lastColumn is the least that is left of a table's last column.
const lastColumn = 16

// table prints rows under a header, each cell escaped and on one line. On a
// terminal the last column is shortened to what room there is; a file or a pipe
// gets it whole.
func (c *console) table(header []string, rows [][]string) error {
	lines := [][]string{header}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = show.Line(cell); cells[i] == "" {
				cells[i] = "-"
			}
		}
		lines = append(lines, cells)
	}
	if n := columns(c.out, c.outTTY); n > 0 {
		narrow(lines, n)
	}
	w := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// tableOf is table with a row for each of list. Where there is none it says so
// instead, if there is something to say.
func tableOf[T any](c *console, list []T, none string, header []string, row func(T) []string) error {
	if len(list) == 0 && none != "" {
		c.say("%s", none)
		return nil
	}
	return c.table(header, each(list, row))
}

// facts prints names and values, a line each, without those that have no value.
func (c *console) facts(width int, lines [][2]string) error {
	for _, l := range lines {
		if l[1] == "" {
			continue
		}
		if err := c.lines(fmt.Sprintf("%-*s %s", width, show.Line(l[0]), l[1])); err != nil {
			return err
		}
	}
	return nil
}

// narrow shortens the last cells of lines so that each fits into width, paths at
// their begin and other text at its end.
func narrow(lines [][]string, width int) {
	last := len(lines[0]) - 1
	for i := range last {
		cell := slices.MaxFunc(lines, func(a, b []string) int { return utf8.RuneCountInString(a[i]) - utf8.RuneCountInString(b[i]) })[i]
		width -= utf8.RuneCountInString(cell) + 2
	}
	width = max(width, lastColumn)
	for _, cells := range lines {
		if n := utf8.RuneCountInString(cells[last]); n > width && strings.HasPrefix(cells[last], "/") {
			cells[last] = "…" + string([]rune(cells[last])[n-width+1:])
		}
		cells[last] = show.Shorten(cells[last], width)
	}
}
