package skill

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// entry is a skill folder as it was read last.
type entry struct {
	key  watch.Key // of the file
	sure bool      // an equal key means an equal content
	good *Document // the last version that could be loaded
	doc  *Document // what people see; nil while the first version may be half written
}

// reading is a SKILL.md that has to be read, and what that came to.
type reading struct {
	finding
	entry  *entry
	moving bool // it may be half written

	after watch.Key // when it was read; the finding's when it could not be
	doc   *Document // what it holds, or only what is wrong
}

// read reads the file that was found. It never waits: what is no regular file is not
// opened, what became one meanwhile not read.
func (x *reading) read(roots places.Roots) {
	if x.after = x.key; x.trouble != nil {
		return
	}
	file, err := roots.Open(x.real)
	if err != nil {
		x.trouble = frontmatter.Unopened(err)
		return
	}
	defer file.Close()
	text, trouble := frontmatter.Read(file, MaxFile)
	info, err := file.Stat()
	if trouble == nil && err != nil {
		trouble = frontmatter.Unopened(err)
	}
	if x.trouble = trouble; trouble == nil {
		x.after = watch.KeyOf(info)
		d := Parse(text, x.folder)
		d.Modified = time.Unix(0, x.after.Written)
		x.doc = &d
	}
}

// take makes what was found the version in force. What lies behind a link that is not
// followed is others', so that what was good before is not any more.
func (e *entry) take(at Folder, x *reading, now time.Time) {
	doc := x.doc
	e.key, e.sure = x.after, doc != nil && x.after.Sure(now)
	if doc == nil {
		doc = &Document{}
		doc.Name = SafeName(filepath.Base(x.folder))
		doc.Diagnostics = []diagnostic{*x.trouble}
		if strings.HasPrefix(x.trouble.Code, "link-") {
			e.good = nil
		}
	}
	doc.Tier, doc.Root, doc.Folder, doc.Path = at.Tier, at.Path, x.folder, filepath.Join(x.folder, x.file)
	if doc.Loaded {
		e.good = doc
	}
	e.show(doc)
}

// show has people see a version, or the last good one with what is wrong now. What is
// as before stays the same document.
func (e *entry) show(doc *Document) {
	if !doc.Loaded && e.good != nil {
		stale := *e.good
		stale.Stale, stale.Diagnostics, stale.sum = true, doc.Diagnostics, e.doc.sum
		doc = &stale
	}
	if old := e.doc; old == nil || old.Hash != doc.Hash || old.Path != doc.Path || old.Stale != doc.Stale || !slices.Equal(old.Diagnostics, doc.Diagnostics) {
		e.doc = doc
	}
}
