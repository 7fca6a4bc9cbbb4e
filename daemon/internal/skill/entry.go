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
	sum  string    // of the content, or what kept it from being read
	good *Document // the last version that could be loaded
	doc  *Document // what people see; nil while the first version may be half written

	digest folderDigest // in a workspace
}

// content is what reading a SKILL.md came to.
type content struct {
	key     watch.Key
	sum     string
	trouble *diagnostic
	doc     *Document // nil when there is trouble, and when the sum is the known one
}

// read reads the file that was found, and parses its text unless that has the
// sum known.
func (f finding) read(parse parseFunc, known string) content {
	text, key, trouble := f.load()
	c := content{key: key, trouble: trouble}
	if trouble != nil {
		c.sum = sumOf(trouble)
		return c
	}
	if known != "" && hashOf(text) == known {
		c.sum = known
		return c
	}
	doc := parse(text, f.folder)
	doc.Modified = time.Unix(0, key.Written)
	c.sum, c.doc = doc.Hash, &doc
	return c
}

func sumOf(trouble *diagnostic) string { return trouble.Code + ": " + trouble.Message }

// load reads the file that was found, and its key after that. It never waits:
// what is no regular file is not opened, what became one meanwhile not read.
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

// take makes a content the one in force, if it is another than before.
func (e *entry) take(at Folder, f finding, c content, now time.Time) {
	e.key, e.sure = c.key, c.trouble == nil && c.key.Sure(now)
	if c.sum == e.sum && e.doc != nil {
		return
	}
	e.sum = c.sum
	doc := c.doc
	if doc == nil {
		doc = broken(f, c.trouble)
	}
	doc.Tier, doc.Root, doc.Folder, doc.Path = at.Tier, at.Path, f.folder, filepath.Join(f.folder, f.file)
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
	c := content{sum: sumOf(f.trouble), trouble: f.trouble}
	if strings.HasPrefix(f.trouble.Code, "link-") && e.sum != c.sum {
		*e = entry{}
	}
	e.take(at, f, c, now)
}

// hide marks what lies in a folder that cannot be read.
func (e *entry) hide() {
	const sum = "hidden"
	if e.sum == sum || e.good == nil {
		return
	}
	e.sum, e.sure = sum, false
	e.doc = stale(e.good, []diagnostic{*wrong("unreadable", 0, 0, "the folder that it lies in cannot be looked into", "Make it readable for you: chmod u+rx.")})
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
