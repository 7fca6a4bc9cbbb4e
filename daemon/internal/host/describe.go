package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// described is what is kept about a binary between runs: its manifest belongs
// to its digest, and its identity saves reading it all again.
type described struct {
	Identity string       `json:"identity"`
	Digest   string       `json:"digest,omitempty"` // empty until somebody needed it
	Manifest sdk.Manifest `json:"manifest"`
}

// Inspector knows what binaries declare without making plugins of them. It
// needs no daemon, and disturbs none.
type Inspector struct {
	cfg Config
	log hclog.Logger

	mu    sync.Mutex
	known map[string]described // by path, what was asked for
}

// NewInspector takes of a Config what it needs: Log, Libexec, DataDir (empty
// keeps nothing between runs), LookOnly, Redact and StartTimeout.
func NewInspector(cfg Config) *Inspector {
	cfg.defaults()
	return &Inspector{cfg: cfg, log: cfg.Log, known: map[string]described{}}
}

// Manifest says what a binary declares without making a plugin of it: from
// what is kept, else by its sub-command describe. Tools that depend on the
// configuration are not in it.
func (s *Inspector) Manifest(ctx context.Context, spec Spec) (sdk.Manifest, error) {
	b, fail := find(spec, s.cfg.Libexec)
	if fail != nil {
		return sdk.Manifest{}, fail
	}
	defer b.file.Close()
	kept, known := s.kept(b.path)
	id := identity(b.file)
	if known && kept.Identity == id {
		return kept.Manifest, nil
	}
	sum, err := digest(b.file)
	if err != nil {
		return sdk.Manifest{}, fmt.Errorf("read %s: %w", b.path, err)
	}
	if known && kept.Digest == sum {
		kept.Identity = id
		s.keep(b.path, kept)
		return kept.Manifest, nil
	}
	m, err := s.runDescribe(ctx, b)
	if err != nil {
		return m, err
	}
	s.keep(b.path, described{Identity: id, Digest: sum, Manifest: m})
	return m, nil
}

// Check reports what is wrong with the specs without starting a plugin: blocks
// that do not satisfy the schema which the binary declares and, as warnings, for
// they may be right elsewhere, binaries that cannot be used on this machine.
func (s *Inspector) Check(ctx context.Context, specs []Spec) []Diagnostic {
	var found []Diagnostic
	for _, spec := range specs {
		m, err := s.Manifest(ctx, spec)
		if fail, ok := err.(*startError); ok {
			found = append(found, warn(spec, fail.summary, fail.detail))
			continue
		}
		if err != nil {
			found = append(found, warn(spec, "it does not describe itself", err.Error()))
			continue
		}
		_, secrets, diags := decodeBody(spec, m.Config)
		for _, v := range secrets {
			s.cfg.Redact(v)
		}
		for _, d := range diags {
			found = append(found, Diagnostic{Instance: spec.Instance, Diagnostic: d})
		}
	}
	return found
}

// largestManifest is how much of a plugin's own word is read.
const largestManifest = 4 << 20

func (s *Inspector) runDescribe(ctx context.Context, b *binary) (sdk.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StartTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, "describe")
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(Spec{}), "/", killed
	ownGroup(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, errs := &capped{most: largestManifest}, &capped{most: lastWords}
	cmd.Stdout, cmd.Stderr = out, errs
	var m sdk.Manifest
	if err := cmd.Run(); err != nil {
		return m, fmt.Errorf("%s describe: %w: %s", b.path, err, escaped(errs.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return m, fmt.Errorf("%s describe printed no manifest (%s): %w", b.path, escaped(out.String()), err)
	}
	return m, nil
}

// capped keeps the beginning of what is written and swallows the rest.
type capped struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), max(0, c.most-c.Len()))]) // a Buffer never fails
	return len(p), nil
}

// remember keeps the first manifest of a started binary, so that the next check
// needs no process, and returns the binary's digest, which is worked out once.
func (s *Inspector) remember(b *binary, m sdk.Manifest) string {
	id := identity(b.file)
	kept, known := s.kept(b.path)
	if known && kept.Identity == id && kept.Digest != "" {
		return kept.Digest
	}
	if !known || kept.Identity != id {
		kept = described{Identity: id, Manifest: m}
	}
	var err error
	if kept.Digest, err = digest(b.file); err != nil {
		s.log.Warn("the digest of a plugin's binary is not known", "path", b.path, "error", err)
		kept.Digest = ""
	}
	s.keep(b.path, kept)
	return kept.Digest
}

func (s *Inspector) cacheFile(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.cfg.DataDir, "plugins", hex.EncodeToString(sum[:8])+".json")
}

func (s *Inspector) kept(path string) (described, bool) {
	s.mu.Lock()
	d, known := s.known[path]
	s.mu.Unlock()
	if known || s.cfg.DataDir == "" {
		return d, known
	}
	b, err := os.ReadFile(s.cacheFile(path))
	if err != nil || json.Unmarshal(b, &d) != nil {
		return d, false
	}
	return d, true
}

// keep writes by renaming, so that nobody reads half of it. What cannot be
// kept is asked for again.
func (s *Inspector) keep(path string, d described) {
	s.mu.Lock()
	s.known[path] = d
	s.mu.Unlock()
	if s.cfg.DataDir == "" || s.cfg.LookOnly {
		return
	}
	if err := s.write(s.cacheFile(path), d); err != nil {
		s.log.Debug("keeping a plugin's manifest", "path", path, "error", err)
	}
}

func (s *Inspector) write(file string, d described) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(file), "new")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(fresh.Name()) }() // gone when it was renamed
	if _, err := fresh.Write(b); err != nil {
		_ = fresh.Close() // the write's error is the one that counts
		return err
	}
	if err := fresh.Close(); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), file)
}

// identity changes whenever the file does: it saves a digest of megabytes.
func identity(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	return identityOf(info)
}

func identityOf(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d:%s:%s", st.Dev, st.Ino, st.Size, info.ModTime().UTC().Format(time.RFC3339Nano), changeTime(st))
}
