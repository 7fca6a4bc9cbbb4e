package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// Pin is what vouches for the digest of a plugin's file. Empty is nothing: what
// such a plugin says of its tools loosens no policy.
type Pin string

// What vouches for a digest, the nearest first. It is also what has to agree:
// a file that one of them refuses does not run.
const (
	PinBlock   Pin = "block"   // sha256 in its block
	PinLock    Pin = "lock"    // its entry in bothy.lock
	PinBundled Pin = "bundled" // it is part of the installation
)

// Verified opens the file of a plugin and compares its digest with all that pins it. The
// file stays open: it is what is started.
func (s *Inspector) Verified(spec Spec) (*Binary, *Fault) {
	b, fail := s.Find(spec)
	if fail != nil {
		return nil, fail
	}
	if err := s.Sum(b); err != nil {
		fail = &Fault{Summary: "its binary cannot be used", Detail: err.Error(), Permanent: b.Bundle != nil}
	} else if err := s.verify(b, spec); err != nil {
		fail = &Fault{Summary: "its binary is refused", Detail: err.Error(), Permanent: true}
	}
	if fail != nil {
		_ = b.Close() // it is not used
		return nil, fail
	}
	s.vouch(b)
	return b, nil
}

// Verified is what a plugin's file is, compared with all that pins it.
type Verified struct {
	Instance string `json:"instance"`
	Path     string `json:"path,omitempty"`      // the file, or the folder of a bundle
	Digest   string `json:"digest,omitempty"`    // hex SHA-256
	Origin   string `json:"origin,omitempty"`    // "bundled": it is part of the installation; "store", or "path"
	Pin      Pin    `json:"pinned_by,omitempty"` // what vouches for it; empty: nothing does
	Script   bool   `json:"script,omitempty"`    // the digest covers no interpreter, and nothing that it imports from elsewhere
	Files    int    `json:"files,omitempty"`     // of a bundle: how many the digest covers
	Problem  string `json:"problem,omitempty"`   // why it would not run; empty: it would
}

// Verify reads the file of a plugin, whatever is kept of it, and compares it
// with its block and the lock. Nothing is run.
func (s *Inspector) Verify(spec Spec) Verified {
	b, fail := s.Find(spec)
	if fail != nil {
		return Verified{Instance: spec.Instance, Problem: fail.Error()}
	}
	defer b.Close()
	var err error
	if b.Digest, err = b.Sum(); err == nil {
		err = s.verify(b, spec)
	}
	if err != nil {
		b.Problem = err.Error()
	}
	b.Instance, b.Path, b.Pin = spec.Instance, filepath.Clean(b.Path), b.PinnedBy(spec)
	return b.Verified
}

// Sum works out the digest of the open file, or takes the one that is kept for
// the very same file.
func (s *Inspector) Sum(b *Binary) (err error) {
	b.identity = b.Identity()
	if kept := s.kept(b.Path); b.identity != "" && kept.Identity == b.identity {
		b.Digest = kept.Digest
		return nil
	}
	if b.Digest, err = b.Sum(); err != nil {
		return fmt.Errorf("read %s: %w", b.Path, err)
	}
	places, believed := b.look()
	if believed == "" || believed != b.identity {
		return fmt.Errorf("%s changed while it was read", b.Path)
	}
	if !settled(places) {
		believed = ""
	}
	s.update(b, func(kept *described) bool {
		was := kept.Identity
		kept.Identity = believed
		return was != believed
	})
	return nil
}

// Unchanged reports whether the open file is still what it was when its digest
// was worked out. A path cannot change it; writing into the file can.
func (b *Binary) Unchanged() bool { return b.identity != "" && b.Identity() == b.identity }

// settled reports whether a file, or all of a bundle, stays what it is as long as it
// looks the same: nobody but us and root can write it, and it is older than a step of its
// clock, for one that was written just now can be written again without its times telling.
func settled(places []bundle.Place) bool {
	return !slices.ContainsFunc(places, func(p bundle.Place) bool {
		owner, mode := ownerOf(p.Info), p.Info.Mode()
		return owner != os.Geteuid() && owner != 0 || mode&0o022 != 0 && mode.Type() != fs.ModeSymlink || !watch.KeyOf(p.Info).Sure(time.Now())
	})
}

// verify compares the file with all that pins it, and says what vouches for it.
// Where nothing else does, one in the store must be what its place says.
func (s *Inspector) verify(b *Binary, spec Spec) error {
	block, lock := strings.ToLower(strings.TrimPrefix(spec.SHA256, "sha256:")), ""
	if spec.Locked != nil {
		lock = spec.Locked.Digest
	}
	pin := cmp.Or(block, lock, s.digestOf(b.Path))
	var err error
	switch {
	case block != "" && lock != "" && block != lock:
		err = fmt.Errorf("its block pins sha256 %s and bothy.lock has %s: when you know which of them is right, mend the block, or take it into the lock with %s", block, lock, spec.LockVerb())
	case pin == "" || pin == b.Digest:
		b.Pin = b.PinnedBy(spec)
		return nil
	case !slices.Contains([]string{"", b.Digest}, s.digestOf(b.Path)):
		if err = errors.New("it is not any more what was installed: install it again"); block+lock != "" {
			err = fmt.Errorf("%s has sha256 %s: %w", b.Path, b.Digest, err)
		}
	case block != "":
		err = fmt.Errorf("%s has sha256 %s, its block pins %s: if you changed it on purpose, pin the new digest", b.Path, b.Digest, block)
	default:
		err = fmt.Errorf("%s has sha256 %s, bothy.lock has %s of version %s: `bothy plugins lock --check %s` shows what is different; if you changed it on purpose, call %s",
			b.Path, b.Digest, lock, spec.Locked.Version, spec.Instance, spec.LockVerb())
	}
	return s.named(b, pin, err)
}

// PinnedBy is what vouches for a digest that nothing refuses.
func (b *Binary) PinnedBy(spec Spec) Pin {
	switch {
	case spec.SHA256 != "":
		return PinBlock
	case spec.Locked != nil:
		return PinLock
	case b.Origin == "bundled":
		return PinBundled
	}
	return ""
}

// LockVerb is the command that takes a plugin as it is now into bothy.lock.
func (spec Spec) LockVerb() string { return "`bothy plugins lock " + spec.Instance + "`" }
