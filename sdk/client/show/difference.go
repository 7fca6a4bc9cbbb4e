package show

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// difference is what a question shows of a unified difference.
type difference struct {
	lines []string // that it adds or takes away, and all others that are not plain
	plain bool     // it changes the text of one file, and says nothing else

	// The lines of its hunks, each behind a line break.
	added, removed, before, after string
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// differenceOf reads a difference. Names reports whether a name is that of a file that is
// shown beside it: the heads of a plain difference name no other.
func differenceOf(diff string, names func(file string) bool) difference {
	d := difference{plain: true}
	var added, removed, before, after strings.Builder
	var heads []string // the first words of those that were read
	from, to := 0, 0   // how many lines of the hunk are still to come
	last := ""         // the mark of the line before
	var unended []int  // where a line was changed that ends without a line break
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		mark, text := " ", ""
		if line != "" {
			mark, text = line[:1], line[1:]
		}
		word, _, _ := strings.Cut(line, " ")
		outside := from == 0 && to == 0
		switch {
		case from > 0 && to > 0 && mark == " ":
			from, to = from-1, to-1
			before.WriteString("\n" + text)
			after.WriteString("\n" + text)
		case from > 0 && mark == "-":
			from--
			removed.WriteString("\n" + text)
			before.WriteString("\n" + text)
			d.lines = append(d.lines, line)
		case to > 0 && mark == "+":
			to--
			added.WriteString("\n" + text)
			after.WriteString("\n" + text)
			d.lines = append(d.lines, line)
		case line == `\ No newline at end of file` && last == " ":
		case line == `\ No newline at end of file` && (last == "+" || last == "-"):
			unended = append(unended, len(d.lines))
		case outside && hunkHead.MatchString(line):
			m := hunkHead.FindStringSubmatch(line)
			from, to = lineCount(m[1]), lineCount(m[2])
			heads, mark = append(heads, "@@"), "@"
		case outside && !slices.Contains(heads, "@@") && !slices.Contains(heads, word) && plainHead(line, names):
			heads, mark = append(heads, word), "@"
		default:
			d.plain, mark = false, "@"
			d.lines = append(d.lines, line)
		}
		last = mark
	}
	d.added, d.removed, d.before, d.after = added.String(), removed.String(), before.String(), after.String()
	if len(unended) == 1 && d.before != "" {
		d.lines = slices.Insert(d.lines, unended[0], `\ No newline at end of file`)
	}
	d.plain = d.plain && from == 0 && to == 0
	return d
}

// lineCount reads how many lines a side of a hunk has, from its head.
func lineCount(text string) int {
	if text == "" {
		return 1
	}
	n, _ := strconv.Atoi(text) // of too many, more than there are
	return n
}

// plainHead reports whether a line before the hunks says no more than which text is
// changed: that of a file that names knows.
func plainHead(line string, names func(file string) bool) bool {
	word, name, _ := strings.Cut(line, " ")
	name = strings.TrimSuffix(name, "\t")
	switch word {
	case "diff":
		name, git := strings.CutPrefix(name, "--git a/")
		at := len(name)/2 - 1 // both names are the same
		return git && at > 0 && name[at:] == " b/"+name[:at] && names(name[:at])
	case "new":
		return line == "new file mode 100644"
	case "---":
		return name == "/dev/null" || names(strings.TrimPrefix(name, "a/"))
	case "+++":
		return names(strings.TrimPrefix(name, "b/"))
	}
	return false
}

// tells reports whether the lines of a question show an argument already: a text of
// several lines that are all added, or all taken away, one behind the other; of a tool
// that changes files, its text with what stands around it.
func (d difference) tells(name, text string) bool {
	switch {
	case text == "":
		return false
	case name == "content" || name == "new_text":
		return holds(d.after, text)
	case name == "old_text":
		return holds(d.before, text)
	}
	return strings.Contains(text, "\n") && (holds(d.added, text) || holds(d.removed, text))
}

// holds reports whether the lines of a text stand among others, one behind the other.
func holds(lines, text string) bool {
	return strings.Contains(lines+"\n", "\n"+strings.TrimSuffix(text, "\n")+"\n")
}
