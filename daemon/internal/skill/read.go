package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// Parse reads the text of a SKILL.md that lies in this folder, a name or a path.
// It takes any bytes; what keeps them from being a skill is in the Diagnostics,
// and Loaded is false then. The document has a usable Name in every case.
func Parse(text []byte, folder string) Document {
	d := parse(text, folder, false)
	sum := sha256.Sum256(text)
	d.Hash = hex.EncodeToString(sum[:])
	return d
}

// parse is Parse without the hash; strict adds what the standard asks and nothing
// here needs.
func parse(text []byte, folder string, strict bool) Document {
	d := Document{Loaded: true}
	if folder != "" {
		folder = filepath.Base(folder)
	}
	d.Name = SafeName(folder)
	f := frontmatter.Parse(text, MaxFile)
	d.Body, d.Repaired = f.Body, f.Repaired
	for i := range f.Diagnostics {
		if x := &f.Diagnostics[i]; x.Code == "repaired" {
			x.Help += " What was repaired gets no tools approved in advance."
		}
	}
	if f.Fields != nil {
		r := fieldReader{Fields: f.Fields, doc: &d, folder: folder, strict: strict}
		r.read()
	}
	if strict && f.Line > 0 {
		lint(text, f)
	}
	f.Sort()
	for i := range f.Diagnostics {
		d.note(&f.Diagnostics[i])
	}
	return d
}
