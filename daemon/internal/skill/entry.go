package skill

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// entry is a skill folder as it was read last.
type entry struct {
	key  watch.Key // of the file
	sure bool      // an equal key means an equal content
	text string    // the hash of the content, or what kept it from being read
	good *Document // the last version that could be loaded
	doc  *Document // what people see; nil while the first version may be half written

	files uint64 // sums up the keys of all files in the folder; 0 when they have to be read again
	sum   folderSum
}

// reading is a SKILL.md that has to be read, and what that came to.
type reading struct {
	found  finding
	entry  *entry
	moving bool // it may be half written

	key     watch.Key // after it was read
	text    string
	trouble *diagnostic
	doc     *Document // nil when there is trouble, and when the text is the known one
}

// read reads the file that was found, and parses its text unless that is known.
// It never waits: what is no regular file is not opened, what became one
// meanwhile not read.
func (x *reading) read(parse parseFunc) {
	text, key, trouble := x.found.load()
	if x.key, x.trouble = key, trouble; trouble != nil {
		x.text = trouble.Code + ": " + trouble.Message
		return
	}
	if x.text = x.entry.text; x.text != "" && hashOf(text) == x.text {
		return
	}
	doc := parse(text, x.found.folder)
	doc.Modified = time.Unix(0, key.Written)
	x.text, x.doc = doc.Hash, &doc
}

func (f finding) load() ([]byte, watch.Key, *diagnostic) {
	file, err := f.location.open()
	if err != nil {
		return nil, f.key, unopened(err)
	}
	defer file.Close()
	text, trouble := readText(file)
	if trouble != nil {
		return nil, f.key, trouble
	}
	info, err := file.Stat()
	if err != nil {
		return nil, f.key, unopened(err)
	}
	return text, watch.KeyOf(info), nil
}

// take makes what was read the one in force, if it is another than before.
func (e *entry) take(at Folder, x *reading, now time.Time) {
	e.key, e.sure = x.key, x.trouble == nil && x.key.Sure(now)
	if x.text == e.text && e.doc != nil {
		return
	}
	e.text = x.text
	doc := x.doc
	if doc == nil { // there is no text to show
		doc = &Document{}
		doc.Name = SafeName(filepath.Base(x.found.folder))
		doc.Diagnostics = []diagnostic{*x.trouble}
	}
	doc.Tier, doc.Root, doc.Folder, doc.Path = at.Tier, at.Path, x.found.folder, filepath.Join(x.found.folder, x.found.file)
	switch {
	case doc.Loaded:
		e.good, e.doc = doc, doc
	case e.good != nil:
		e.doc = stale(e.good, doc.Diagnostics)
	default:
		e.doc = doc
	}
}

// refuse shows why the file cannot even be opened. Behind a link that is not
// followed what was good before is not any more: the files are others'.
func (e *entry) refuse(at Folder, f finding, now time.Time) {
	x := &reading{found: f, text: f.trouble.Code + ": " + f.trouble.Message, trouble: f.trouble}
	if strings.HasPrefix(f.trouble.Code, "link-") && e.text != x.text {
		*e = entry{}
	}
	e.take(at, x, now)
}

// hide marks what lies in a folder that cannot be read.
func (e *entry) hide() {
	const hidden = "hidden"
	if e.text == hidden || e.good == nil {
		return
	}
	e.text, e.sure = hidden, false
	e.doc = stale(e.good, []diagnostic{*wrong("unreadable", 0, 0, "the folder that it lies in cannot be looked into", "Make it readable for you: chmod u+rx.")})
}

// stale is the last good version of a file with what is wrong with it now.
func stale(good *Document, wrong []diagnostic) *Document {
	d := *good
	d.Stale, d.Diagnostics = true, wrong
	return &d
}
