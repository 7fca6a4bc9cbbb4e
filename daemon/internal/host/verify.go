package host

import "path/filepath"

// Verified is what a plugin's file is, compared with all that pins it.
type Verified struct {
	Instance string `json:"instance"`
	Path     string `json:"path,omitempty"`
	Digest   string `json:"digest,omitempty"` // hex SHA-256, worked out now
	Origin   string `json:"origin,omitempty"`
	Pin      Pin    `json:"pinned_by,omitempty"` // what vouches for it; empty: nothing does
	Script   bool   `json:"script,omitempty"`    // the digest covers the script alone
	Problem  string `json:"problem,omitempty"`   // why it would not run; empty: it would
}

// Verify reads the file of a plugin, whatever is kept of it, and compares it
// with its block and the lock. Nothing is run.
func (s *Inspector) Verify(spec Spec) Verified {
	v := Verified{Instance: spec.Instance}
	b, fail := find(spec, s.cfg.Libexec)
	if fail != nil {
		v.Problem = fail.Error()
		return v
	}
	defer b.file.Close()
	v.Path, v.Script, v.Origin = filepath.Clean(b.path), b.script, s.cfg.origin(b)
	var err error
	if b.digest, err = digest(b.file); err == nil {
		v.Digest = b.digest
		err = b.verify(spec)
	}
	if err != nil {
		v.Problem = err.Error()
	}
	v.Pin = b.pinnedBy(spec)
	return v
}
