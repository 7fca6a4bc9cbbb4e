package skill

import (
	"path/filepath"
	"time"
)

// record is what is remembered of one skill folder from look to look.
type record struct {
	key  fileKey   // of the content that was taken last
	sure bool      // an equal key means an equal content
	sum  string    // of that content, or what kept it from being read
	good *Document // the last version that could be loaded
	now  *Document // as it is shown; nil while its first version may be half written

	seen  fileKey   // a key that may still change
	since time.Time // when that was seen first
	lost  time.Time // when it was missed first

	whole wholeFolder // in a workspace
}

// reading is what a look decided about one folder before reading it.
type reading struct {
	found  finding
	record *record
	read   bool // its content has to be read
	hasty  bool // it may be half written
}

// content is what reading a SKILL.md came to.
type content struct {
	key     fileKey
	sum     string
	trouble *diagnostic
	doc     *Document // nil when there is trouble, and when the sum is the one that was known
}

// read reads the file that was found, and its text when it is another than the
// one with the sum known.
func (f finding) read(parse parseFunc, known string) content {
	text, key, trouble := f.load()
	c := content{key: key, trouble: trouble}
	if trouble != nil {
		c.sum = trouble.Code + ": " + trouble.Message
		return c
	}
	if known != "" && hashOf(text) == known {
		c.sum = known
		return c
	}
	doc := parse(text, f.folder)
	doc.Modified = time.Unix(0, key.written)
	c.sum, c.doc = doc.Hash, &doc
	return c
}

// load reads the file that was found, and what its key was behind that. It
// never waits: what is no regular file is not opened, what became one meanwhile
// not read.
func (f finding) load() ([]byte, fileKey, *diagnostic) {
	file, err := f.spot.open()
	if err != nil {
		return nil, f.key, unopened(err)
	}
	defer file.Close()
	text, _, trouble := readText(file)
	if trouble != nil {
		return nil, f.key, trouble
	}
	info, err := file.Stat()
	if err != nil {
		return nil, f.key, unopened(err)
	}
	return text, keyOf(info), nil
}

// take makes a content the one in force, if it is another than before.
func (r *record) take(at Folder, f finding, c content, now time.Time) {
	r.key, r.sure, r.since = c.key, c.trouble == nil && c.key.sure(now), time.Time{}
	if c.sum == r.sum && r.now != nil {
		return
	}
	r.sum = c.sum
	doc := c.doc
	if doc == nil {
		doc = broken(f, c.trouble)
	}
	doc.Tier, doc.Root, doc.Folder, doc.Path = at.Tier, at.Path, f.folder, filepath.Join(f.folder, f.file)
	switch {
	case doc.Loaded:
		r.good, r.now = doc, doc
	case r.good != nil:
		r.now = stale(r.good, doc.Diagnostics)
	default:
		r.now = doc
	}
}

// refuse shows why the folder is not looked at. What was good of it is not any
// more: its files are others'.
func (r *record) refuse(at Folder, f finding, now time.Time) {
	c := content{sum: f.trouble.Code + ": " + f.trouble.Message, trouble: f.trouble}
	if r.sum != c.sum {
		*r = record{}
	}
	r.take(at, f, c, now)
}

// broken is the document of a folder that has no text to show.
func broken(f finding, trouble *diagnostic) *Document {
	d := &Document{}
	d.Name = SafeName(filepath.Base(f.folder))
	d.Diagnostics = []diagnostic{*trouble}
	return d
}

// stale is the last good version of a file with what is wrong with it now.
func stale(good *Document, wrong []diagnostic) *Document {
	d := *good
	d.Stale, d.Diagnostics = true, wrong
	return &d
}
