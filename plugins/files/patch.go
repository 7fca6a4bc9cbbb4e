package main

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// The limits on a difference that is shown.
const (
	shownPatch   = 256 << 10 // bytes
	mostCompared = 1 << 20   // bytes of a text that may differ, for its lines to be compared
)

// patch is a difference as people are shown it, in git's manner. What does not
// fit is counted, and told of at its end.
type patch struct {
	text  strings.Builder
	lines int // left out
	files int // left out whole
}

// String is the difference with a last line about what it lacks.
func (d *patch) String() string {
	if d.lines+d.files == 0 {
		return d.text.String()
	}
	return d.text.String() + fmt.Sprintf("# not shown: %s and %s, for this is longer than %s. Every new text is whole in the arguments of the call, which bothy proposals show prints; every old one is in the project\n",
		plural(d.lines, "line"), plural(d.files, "more file"), sized(shownPatch))
}

// add puts one file's part behind the others: a head that is shown whole or not
// at all, and lines as far as they fit.
func (d *patch) add(head, body string) {
	if d.files > 0 || d.text.Len()+len(head) > shownPatch {
		d.files++
		return
	}
	d.text.WriteString(head)
	left := 0
	for line := range strings.Lines(body) {
		if left > 0 || d.text.Len()+len(line) > shownPatch {
			left++
			continue
		}
		d.text.WriteString(line)
	}
	if left > 0 {
		d.lines += left
		fmt.Fprintf(&d.text, "# %s more of this file are not shown\n", plural(left, "line"))
	}
}

// header begins the part of a file that is at from and would be at to.
func header(from, to string, lines ...string) string {
	head := "diff --git " + shown("a/"+from) + " " + shown("b/"+to) + "\n"
	for _, line := range lines {
		head += line + "\n"
	}
	return head
}

// folder tells of a folder, which git does not.
func (d *patch) folder(what, at string) { d.note(what + " directory " + shown(at+"/")) }

// unseen says of a folder that what is in it is unknown.
func (d *patch) unseen(s pathState) {
	if s.unread != "" {
		d.note("what is in " + shown(s.path+"/") + " is not shown: " + s.unread)
	}
}

// renamed tells of what would be at another path, whole as it is; "copy" says
// that it would stay where it is as well.
func (d *patch) renamed(verb string, s pathState, to string) {
	if s.kind == "directory" {
		d.folder(verb, s.path+"/ to "+to)
		d.unseen(s)
		return
	}
	d.add(header(s.path, to, "similarity index 100%", verb+" from "+shown(s.path), verb+" to "+shown(to)), "")
}

// note tells something that no difference can, the way bothy runs diff does.
func (d *patch) note(line string) { d.add("# "+line+"\n", "") }

// gone tells of what would be lost at a path.
func (d *patch) gone(s pathState) {
	if s.kind == "directory" {
		d.folder("deleted", s.path)
		d.unseen(s)
		return
	}
	head := header(s.path, s.path, "deleted file mode "+gitMode(s))
	switch {
	case s.kind == "link":
		d.add(head, texts(s.path, "", s.target, "", usualAround))
	case s.kind != "file":
		d.add(head+"# it is a "+s.kind+"\n", "")
	case !s.shows():
		d.add(head+old(s), "")
	default:
		d.add(head, texts(s.path, "", string(s.body), "", usualAround))
	}
}

// replaced tells of the new contents of a file, or of a new file.
func (d *patch) replaced(s pathState, after string) {
	switch {
	case s.kind == "":
		d.add(header(s.path, s.path, "new file mode 100644"), texts("", s.path, "", after, usualAround))
	case !s.shows():
		d.add(header(s.path, s.path)+old(s), texts("", s.path, "", after, usualAround))
	default:
		d.add(header(s.path, s.path), texts(s.path, s.path, string(s.body), after, usualAround))
	}
}

// shows reports whether the lines of a file can be shown: of text, and not of
// too much.
func (s pathState) shows() bool { return s.unread == "" && !s.binary && s.body != nil }

// old is the line about contents that are not shown.
func old(s pathState) string {
	what := "# the file "
	if s.binary {
		what = "# the binary file "
	}
	return what + shown("a/"+s.path) + " is not shown: " + s.described() + "\n"
}

// gitMode is a mode as git writes it, with all permissions.
func gitMode(s pathState) string {
	if s.kind == "link" {
		return "120000"
	}
	return fmt.Sprintf("100%03o", s.mode&fs.ModePerm)
}

// texts is the unified diff of two texts. Where they differ in more than can be
// compared, all old lines go and all new ones come.
func texts(from, to, before, after string, around int) string {
	var diff string
	if splice := sdk.SpliceOf(before, after); max(len(splice.Removed), splice.Inserted) <= mostCompared {
		diff = match.DiffAround(from, to, before, after, around)
	} else {
		diff = match.DiffFiles(from, to, before, "")
		_, added, _ := strings.Cut(match.DiffFiles(from, to, "", after), "\n+++ ")
		_, added, _ = strings.Cut(added, "\n")
		diff += added
	}
	return legible(diff)
}

// legible writes bytes that are no text as \xNN, and says so: what is shown
// must get through to a person, and must not hide that two bytes differ.
func legible(diff string) string {
	if utf8.ValidString(diff) && !strings.ContainsRune(diff, 0) {
		return diff
	}
	var b strings.Builder
	b.WriteString(`# bytes that are no text are written as \xNN` + "\n")
	for len(diff) > 0 {
		r, n := utf8.DecodeRuneInString(diff)
		if r == 0 || r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, diff[0])
		} else {
			b.WriteString(diff[:n])
		}
		diff = diff[n:]
	}
	return b.String()
}
