package main

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// table is a table in columns of one width, for a text in which all characters have the same. Telegram has no tables.
func (p *painter) table(t *extast.Table) string {
	var rows [][]string
	p.children(t, func(row ast.Node) {
		var cells []string
		p.children(row, func(cell ast.Node) { cells = append(cells, p.plain(cell)) })
		rows = append(rows, cells)
	})
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var lines []string
	for n, row := range rows {
		line := make([]string, len(widths))
		for i, width := range widths {
			if i < len(row) {
				line[i] = row[i]
			}
			line[i] += strings.Repeat(" ", width-len([]rune(line[i])))
		}
		lines = append(lines, strings.TrimRight(strings.Join(line, " | "), " "))
		if n == 0 {
			for i, width := range widths {
				line[i] = strings.Repeat("-", width)
			}
			lines = append(lines, strings.Join(line, "-+-"))
		}
	}
	return strings.Join(lines, "\n")
}
