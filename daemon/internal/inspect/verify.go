package inspect

import (
	"path/filepath"
	"strings"
)

// Verified is what a plugin's file is, compared with all that pins it.
type Verified struct {
	Instance string `json:"instance"`
	Path     string `json:"path,omitempty"`
	Digest   string `json:"digest,omitempty"` // hex SHA-256, worked out now
	Origin   string `json:"origin,omitempty"`
	Pin      Pin    `json:"pinned_by,omitempty"` // what vouches for it; empty: nothing does
	Script   bool   `json:"script,omitempty"`    // the digest covers no interpreter, and nothing that it imports from elsewhere
	Files    int    `json:"files,omitempty"`     // of a bundle: how many the digest covers
	Problem  string `json:"problem,omitempty"`   // why it would not run; empty: it would
}

// Verify reads the file of a plugin, whatever is kept of it, and compares it
// with its block and the lock. Nothing is run.
func (s *Inspector) Verify(spec Spec) Verified {
	v := Verified{Instance: spec.Instance}
	b, fail := s.Find(spec)
	if fail != nil {
		v.Problem = fail.Error()
		return v
	}
	defer b.Close()
	v.Path, v.Script, v.Origin = filepath.Clean(b.Path), b.Script, s.Origin(b)
	var err error
	if b.Digest, err = b.Sum(); err == nil {
		v.Digest = b.Digest
		v.Files = b.listing.Files()
		if err = b.verify(spec); err != nil {
			err = s.named(b, spec, err)
		}
	}
	if err != nil {
		v.Problem = err.Error()
	}
	v.Pin = b.PinnedBy(spec)
	return v
}

// Origin says where a plugin's file comes from.
func (s *Inspector) Origin(b *Binary) string {
	switch {
	case b.Bundled:
		return "bundled"
	case s.cfg.Installed != "" && strings.HasPrefix(filepath.Clean(b.Path), s.cfg.Installed+"/"):
		return "store"
	}
	return "path"
}
