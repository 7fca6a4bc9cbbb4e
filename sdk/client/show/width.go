package show

import "github.com/clipperhouse/displaywidth"

// Width is how many columns of a terminal a line takes.
func Width(line string) int { return displaywidth.String(line) }

// Cut is a line in at most so many columns, with a mark where it was cut.
func Cut(line string, width int) string {
	if len(line) <= width {
		return line
	}
	return displaywidth.TruncateString(line, max(width, 1), "…")
}

// broken is a line in pieces of at most so many columns, wherever that breaks it.
func broken(line string, width int) (pieces []string) {
	if len(line) <= width {
		return []string{line}
	}
	from, at, used := 0, 0, 0
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		if used+g.Width() > width && at > from {
			pieces = append(pieces, line[from:at])
			from, used = at, 0
		}
		used += g.Width()
		at += len(g.Value())
	}
	return append(pieces, line[from:])
}
