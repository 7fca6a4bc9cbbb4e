package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sdk"
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
	trouble *sdk.SkillDiagnostic
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
	sum := sha256.Sum256(text)
	if c.sum = hex.EncodeToString(sum[:]); c.sum == known {
		return c
	}
	doc := parse(text, f.folder)
	doc.Hash, doc.Modified = c.sum, time.Unix(0, key.written)
	c.doc = &doc
	return c
}

// load reads the file that was found. It never waits: what is no regular file
// is not opened, what became one meanwhile not read.
func (f finding) load() ([]byte, fileKey, *sdk.SkillDiagnostic) {
	file, err := f.spot.open()
	if err != nil {
		return nil, f.key, unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, f.key, unreadable(err)
	case !info.Mode().IsRegular():
		return nil, f.key, notAFile(info.Mode())
	case info.Size() > MaxFile:
		return nil, keyOf(info), tooLarge(info.Size())
	}
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(file, MaxFile+1)); err != nil {
		return nil, f.key, unreadable(err)
	}
	if text.Len() > MaxFile {
		return nil, f.key, tooLarge(int64(text.Len()))
	}
	if info, err = file.Stat(); err != nil {
		return nil, f.key, unreadable(err)
	}
	return text.Bytes(), keyOf(info), nil
}

func tooLarge(size int64) *sdk.SkillDiagnostic {
	return &sdk.SkillDiagnostic{
		Severity: "error", Code: "file-too-large", Message: fmt.Sprintf("SKILL.md has %d bytes; the limit is %d", size, MaxFile),
		Help: "move parts of it into files beside it, which are read when they are needed",
	}
}

// take makes a content the one in force, if it is another than before, and
// reports whether anything is shown differently now.
func (r *record) take(at Folder, f finding, c content, now time.Time) bool {
	r.key, r.sure, r.since = c.key, c.trouble == nil && c.key.sure(now), time.Time{}
	if c.sum == r.sum && r.now != nil {
		return false
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
	return true
}

// refuse shows why the folder is not looked at. What was good of it is not any
// more: its files are others'.
func (r *record) refuse(at Folder, f finding, now time.Time) bool {
	c := content{sum: f.trouble.Code + ": " + f.trouble.Message, trouble: f.trouble}
	if r.sum != c.sum {
		*r = record{}
	}
	return r.take(at, f, c, now)
}

// broken is the document of a folder that has no text to show.
func broken(f finding, trouble *sdk.SkillDiagnostic) *Document {
	d := &Document{}
	d.Name = filepath.Base(f.folder)
	d.Diagnostics = []sdk.SkillDiagnostic{*trouble}
	return d
}

// stale is the last good version of a file with what is wrong with it now.
func stale(good *Document, wrong []sdk.SkillDiagnostic) *Document {
	d := *good
	d.Stale, d.Diagnostics = true, wrong
	return &d
}
