package show

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// difference is what a question shows of a unified difference.
type difference struct {
	lines []string // that it adds or takes away, and all others that say something
	plain bool     // it changes, deletes or moves one file, or makes a folder, and says nothing else

	// The lines of its hunks, each behind a line break.
	added, removed, before, after string
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// differenceOf reads a difference. Names reports whether a name is that of a file that is
// shown beside it, and holds whether it is that of a folder of such a file, or of one itself:
// the heads of a plain difference name no other.
func differenceOf(diff string, names, holds func(name string) bool) difference {
	d := difference{plain: true}
	var added, removed, before, after strings.Builder
	var heads []string // the first words of those that were read
	apart := false     // it is about two names, and no line says yet what they have to do with each other
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
		case outside && !slices.Contains(heads, "@@") && !slices.Contains(heads, word) && plainHead(line, names, slices.Contains(heads, "deleted")):
			heads, mark = append(heads, word), "@"
			if word == "deleted" {
				d.lines = append(d.lines, line)
			}
			apart = word == "diff" && !sameNames(line) || apart
		case outside && !slices.Contains(heads, "@@") && (namedBy(moved, line, names) || namedBy(folderMade, line, holds) || namedBy(nothingDone, line, names)):
			mark = "@"
			d.lines, apart = append(d.lines, line), apart && !movedTo.MatchString(line)
		default:
			d.plain, mark = false, "@"
			d.lines = append(d.lines, line)
		}
		last = mark
	}
	d.added, d.removed, d.before, d.after = added.String(), removed.String(), before.String(), after.String()
	if len(unended) == 1 && d.before != "" && d.after != "" {
		d.lines = slices.Insert(d.lines, unended[0], `\ No newline at end of file`)
	}
	d.plain = d.plain && from == 0 && to == 0 && !apart
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
// changed, or that it is deleted: that of a file that names knows.
func plainHead(line string, names func(file string) bool, deleted bool) bool {
	word, name, _ := strings.Cut(line, " ")
	name = strings.TrimSuffix(name, "\t")
	switch word {
	case "diff":
		from, git := strings.CutPrefix(name, "--git a/")
		return git && namesBoth(from, names)
	case "new":
		return line == "new file mode 100644"
	case "deleted":
		return deletedFile.MatchString(line)
	case "similarity":
		return line == "similarity index 100%"
	case "---":
		return name == "/dev/null" || names(strings.TrimPrefix(name, "a/"))
	case "+++":
		return deleted && name == "/dev/null" || names(strings.TrimPrefix(name, "b/"))
	}
	return false
}

// namesBoth reports whether the first line about a file, behind its a/, names on both of
// its sides what names knows.
func namesBoth(text string, names func(file string) bool) bool {
	return eachPair(text, func(from, to string) bool { return names(from) && names(to) })
}

// sameNames reports whether the first line about a file has one name on both sides.
func sameNames(line string) bool {
	return eachPair(strings.TrimPrefix(line, "diff --git a/"), func(from, to string) bool { return from == to })
}

// eachPair reports whether something is so of two names, wherever the second may begin.
func eachPair(text string, is func(from, to string) bool) bool {
	const between = " b/"
	for at := 0; ; at++ {
		next := strings.Index(text[at:], between)
		if next < 0 {
			return false
		}
		if at += next; is(text[:at], text[at+len(between):]) {
			return true
		}
	}
}

var (
	// deletedFile is the line about a file that is deleted, and that is no link.
	deletedFile = regexp.MustCompile(`^deleted file mode 100[0-7]{3}$`)
	moved       = regexp.MustCompile(`^(?:rename|copy) (?:from|to) (.+)$`)
	movedTo     = regexp.MustCompile(`^(?:rename|copy) to `)
	nothingDone = regexp.MustCompile(`^# (?:the directory (.+) exists already; nothing would be done|(.+) stays as it is: its contents are these already)$`)
	folderMade  = regexp.MustCompile(`^# new directory (.+)/$`)
)

// namedBy reports whether a line is of a kind, and its name one that names knows.
func namedBy(kind *regexp.Regexp, line string, names func(name string) bool) bool {
	m := kind.FindStringSubmatch(line)
	return m != nil && names(strings.Join(m[1:], "")) // one of them is there
}

// tells reports whether the lines of a question show an argument already: a text of
// several lines that are all added, or all taken away, one behind the other; of a tool
// that changes files, its text with what stands around it.
func (d difference) tells(name, text string) bool {
	switch {
	case text == "":
		return false
	case name == "content" || name == "new_text" || name == "body":
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
