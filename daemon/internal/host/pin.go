package host

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
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

// verified opens the file of a plugin and compares its digest with all that pins
// it. The file stays open: it is what is started.
func (s *Inspector) verified(spec Spec) (*binary, *startError) {
	b, fail := s.opened(spec)
	if fail != nil {
		return nil, fail
	}
	if err := b.verify(spec); err != nil {
		_ = b.file.Close() // it is not used
		return nil, &startError{summary: "its binary is refused", detail: err.Error(), permanent: true}
	}
	return b, nil
}

// opened is a plugin's file with its digest, which nothing has been asked about.
func (s *Inspector) opened(spec Spec) (*binary, *startError) {
	b, fail := find(spec, s.cfg.Libexec)
	if fail != nil {
		return nil, fail
	}
	if err := s.sum(b); err != nil {
		_ = b.file.Close() // it is not used
		return nil, &startError{summary: "its binary cannot be used", detail: err.Error()}
	}
	return b, nil
}

// sum works out the digest of the open file, or takes the one that is kept for
// the very same file.
func (s *Inspector) sum(b *binary) error {
	b.identity = identity(b.file)
	kept, known := s.kept(b.path)
	if known && b.identity != "" && kept.Identity == b.identity && b.ours() {
		b.digest = kept.Digest
		return nil
	}
	sum, err := digest(b.file)
	if err != nil {
		return fmt.Errorf("read %s: %w", b.path, err)
	}
	if !b.unchanged() {
		return fmt.Errorf("%s changed while it was read", b.path)
	}
	b.digest = sum
	believed := ""
	if b.ours() && b.settled() {
		believed = b.identity
	}
	s.update(b, func(kept *described) bool {
		was := kept.Identity
		kept.Identity = believed
		return was != believed
	})
	return nil
}

// unchanged reports whether the open file is still what it was when its digest
// was worked out. A path cannot change it; writing into the file can.
func (b *binary) unchanged() bool { return identity(b.file) == b.identity }

// ours reports whether nobody but us and root can write the file: only then it
// is believed to be what it was because it looks the same.
func (b *binary) ours() bool {
	info, err := b.file.Stat()
	if err != nil || info.Mode()&0o022 != 0 {
		return false
	}
	owner := ownerOf(info)
	return owner == os.Geteuid() || owner == 0
}

// tick is longer than the steps in which a file's times go.
const tick = 2 * time.Second

// settled reports whether the file is older than a step of its clock: one that
// was written just now can be written again without its times telling.
func (b *binary) settled() bool {
	info, err := b.file.Stat()
	return err == nil && time.Since(changedAt(info)) > tick
}

// verify compares the file with all that pins it.
func (b *binary) verify(spec Spec) error {
	block := strings.ToLower(strings.TrimPrefix(spec.SHA256, "sha256:"))
	lock := ""
	if spec.Locked != nil {
		lock = spec.Locked.Digest
	}
	switch {
	case block != "" && lock != "" && block != lock:
		return fmt.Errorf("its block pins sha256 %s and bothy.lock has %s: when you know which of them is right, mend the block, or take it into the lock with %s", block, lock, toLock(spec))
	case block != "" && block != b.digest:
		return fmt.Errorf("%s has sha256 %s, its block pins %s: if you changed it on purpose, pin the new digest", b.path, b.digest, block)
	case lock != "" && lock != b.digest:
		return fmt.Errorf("%s has sha256 %s, bothy.lock has %s of version %s: `bothy plugins lock --check %s` shows what is different; if you changed it on purpose, call %s",
			b.path, b.digest, lock, spec.Locked.Version, spec.Instance, toLock(spec))
	}
	b.pin = b.pinnedBy(spec)
	return nil
}

// pinnedBy is what vouches for a digest that nothing refuses.
func (b *binary) pinnedBy(spec Spec) Pin {
	switch {
	case spec.SHA256 != "":
		return PinBlock
	case spec.Locked != nil:
		return PinLock
	case b.bundled:
		return PinBundled
	}
	return ""
}

func toLock(spec Spec) string { return "`bothy plugins lock " + spec.Instance + "`" }

// checkLock refuses what a plugin declares, once it is configured, when the lock
// has it otherwise. Its file is the right one, so that the change comes from its
// configuration, its environment, or from what it read.
func checkLock(spec Spec, b *binary, m sdk.Manifest) *startError {
	if spec.Locked == nil {
		return nil
	}
	drift := spec.Locked.Drift(config.LockOf(m, b.digest, b.script))
	if len(drift) == 0 {
		return nil
	}
	return &startError{
		summary: "it is not what bothy.lock says", permanent: true,
		detail: fmt.Sprintf("Its file is the same, and it declares something else: %s. If that is what you want, call %s.", config.Changes(drift), toLock(spec)),
	}
}
