package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
)

// described is what is kept about a binary: what it declares belongs to its digest, and its
// identity saves reading it all again.
type described struct {
	Identity string                  `json:"identity"`           // empty when the file must be read again
	Digest   string                  `json:"digest"`             // empty: nothing is kept
	Declared map[string]sdk.Manifest `json:"declared,omitempty"` // by instance: what it became by its configuration; "" before that
}

// declared is what an instance of a plugin became, or else what its file says.
func (d *described) declared(instance string) (m sdk.Manifest, known bool) {
	if m, known = d.Declared[instance]; !known {
		m, known = d.Declared[""]
	}
	return m, known
}

// Remember keeps the manifest of a verified file, so that the next check needs
// no process. With an instance it is what the plugin became by its configuration,
// which is kept where that makes a difference to the lock.
func (s *Inspector) Remember(b *Binary, instance string, m sdk.Manifest) {
	s.update(b, func(kept *described) bool {
		was, known := kept.declared(instance)
		if known && (instance == "" || reflect.DeepEqual(was, m) || len(config.LockOf(was, b.Digest, b.Script).Diff(config.LockOf(m, b.Digest, b.Script))) == 0) {
			return false
		}
		if kept.Declared == nil {
			kept.Declared = map[string]sdk.Manifest{}
		}
		kept.Declared[instance] = m
		return true
	})
}

// forget drops what is kept of a file.
func (s *Inspector) forget(path string) {
	_, _ = os.Remove(s.cacheFile(path)), os.Remove(s.cacheFile(path)+".files") // it is asked again otherwise
}

func (s *Inspector) cacheFile(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.cfg.DataDir, "plugins", hex.EncodeToString(sum[:8])+".json")
}

// kept is what is kept of a file. What cannot be read is not.
func (s *Inspector) kept(path string) (d described) {
	if s.read(s.cacheFile(path), &d) != nil {
		return described{}
	}
	return d
}

// update changes what is kept about a file, beginning anew when its digest is another.
func (s *Inspector) update(b *Binary, change func(*described) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.kept(b.Path)
	fresh := d.Digest != b.Digest
	if fresh {
		d = described{Digest: b.Digest}
	}
	if change(&d) || fresh {
		text, _ := json.Marshal(d) // what was read from JSON can be written again
		s.keep(s.cacheFile(b.Path), text, durable.Replace)
	}
}

// read decodes what was kept in a file.
func (s *Inspector) read(file string, into any) error {
	if s.cfg.DataDir == "" {
		return fs.ErrNotExist
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// keep writes a file, so that nobody reads half of it. What cannot be kept is asked for again.
func (s *Inspector) keep(file string, text []byte, write func(string, []byte) error) {
	if s.cfg.DataDir == "" || s.cfg.LookOnly {
		return
	}
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = write(file, text)
	}
	if err != nil {
		s.cfg.Log.Debug("keeping what a plugin declares", "file", file, "error", err)
	}
}
