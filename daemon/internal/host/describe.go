package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/schema"
	"github.com/bothyd/bothy/sdk"
)

// described is what is kept about a binary between runs: its manifest belongs
// to its digest, and its identity saves reading it all again.
type described struct {
	Identity string                  `json:"identity"` // empty when the file must be read again
	Digest   string                  `json:"digest"`
	Manifest *sdk.Manifest           `json:"manifest,omitempty"` // nil until somebody asked
	Served   map[string]sdk.Manifest `json:"served,omitempty"`   // by instance: what it became by its configuration
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
	b, fail := s.verified(spec)
	if fail != nil {
		return sdk.Manifest{}, fail
	}
	defer b.file.Close()
	return s.manifest(ctx, b)
}

// manifest is what an open file declares, from what is kept for its digest.
func (s *Inspector) manifest(ctx context.Context, b *binary) (sdk.Manifest, error) {
	kept, known := s.kept(b.path)
	if known && kept.Digest == b.digest && kept.Manifest != nil {
		return *kept.Manifest, nil
	}
	m, err := s.runDescribe(ctx, b)
	if err != nil {
		return m, err
	}
	s.remember(b, "", m)
	return m, nil
}

// Lock says what bothy.lock is to say of a plugin as its file is now.
func (s *Inspector) Lock(ctx context.Context, spec Spec) (config.Locked, error) {
	_, l, err := s.Declared(ctx, spec)
	return l, err
}

// Declared is what a plugin declares, whatever the lock says of it, and what the
// lock is to say. What it declares by its configuration is known once the daemon
// has started it with this very file, and is what counts then.
func (s *Inspector) Declared(ctx context.Context, spec Spec) (sdk.Manifest, config.Locked, error) {
	locked := spec.Locked
	spec.Locked = nil
	b, fail := s.verified(spec)
	if fail != nil {
		return sdk.Manifest{}, config.Locked{}, fail
	}
	defer b.file.Close()
	if locked != nil && locked.Digest == b.digest && b.pin == "" {
		b.pin = PinLock
	}
	m, err := s.manifest(ctx, b)
	if err != nil {
		return sdk.Manifest{}, config.Locked{}, err
	}
	if kept, known := s.kept(b.path); known && kept.Digest == b.digest {
		if served, was := kept.Served[spec.Instance]; was {
			m = served
		}
	}
	return m, config.LockOf(m, b.digest, b.script), nil
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
		if lacks := s.cfg.unwalled(spec); len(lacks) > 0 {
			found = append(found, warn(spec, "what it declares was asked of it without walls",
				"It is not pinned, and this kernel cannot hold it back from "+strings.Join(lacks, "; ")+"."))
		}
		_, secrets, diags := decodeBlock(spec, m.Config)
		for _, v := range secrets {
			s.cfg.Redact(v)
		}
		for _, d := range diags {
			found = append(found, Diagnostic{Instance: spec.Instance, Diagnostic: d})
		}
	}
	return found
}

// decodeBlock reads the block of a plugin against what the plugin declares.
func decodeBlock(spec Spec, declared *sdk.ConfigSchema) (json.RawMessage, []string, hcl.Diagnostics) {
	return schema.Block{Instance: spec.Instance, Body: spec.Body, Eval: spec.Eval, Source: spec.Source}.Decode(declared)
}

// describeTime is how long a binary may take to say what it declares.
const describeTime = 10 * time.Second

// describeMemory is how many bytes of data it may allocate for it, where it is
// confined.
const describeMemory = 512 << 20

// largestManifest is how much of a plugin's own word is read.
const largestManifest = 4 << 20

func (s *Inspector) runDescribe(ctx context.Context, b *binary) (sdk.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, min(s.cfg.StartTimeout, describeTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, "describe")
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(Spec{}), "/", killed
	ownGroup(cmd)
	fromFile(cmd, b)
	walls, err := s.cfg.stranger(b)
	if err == nil && walls != nil {
		cmd.Env = walls.environment(cmd.Env, Spec{})
		err = walls.apply(cmd, b, "")
		defer walls.handed()
	}
	if err != nil {
		return sdk.Manifest{}, fmt.Errorf("%s describe: %w", b.path, err)
	}
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

// declared is what a program is known to declare before it is configured; nil when
// its process has to be asked: a script is more than its file, and what a block
// gives it besides may change its mind. So may its configuration, where it did
// before. Schemes are registered before it is configured, and stay: they are asked
// for.
func (s *Inspector) declared(b *binary, spec Spec) *sdk.Manifest {
	kept, known := s.kept(b.path)
	if !known || b.script || !keepable(spec) || kept.Digest != b.digest || kept.Manifest == nil || len(kept.Manifest.Schemes) > 0 {
		return nil
	}
	if served, was := kept.Served[spec.Instance]; was && !sameGround(kept.Manifest, &served) {
		return nil
	}
	return kept.Manifest
}

// keepable reports whether what a process declares belongs to its file alone. One
// that its author runs may be of another file.
func keepable(spec Spec) bool {
	return spec.Foreign == nil && len(spec.Args) == 0 && len(spec.Env) == 0
}

// sameGround reports whether two manifests agree in what a plugin is configured by:
// tools and hooks may follow from the configuration. They are compared as they are
// kept, for JSON that was written by another hand has other spaces and empty lists.
func sameGround(a, b *sdk.Manifest) bool {
	ground := func(m *sdk.Manifest) []byte {
		text, _ := json.Marshal(struct {
			Protocol int
			Schemes  []sdk.Scheme `json:",omitempty"`
			Config   *sdk.ConfigSchema
			Grants   []string `json:",omitempty"`
			Calls    sdk.Calls
			Requires []string `json:",omitempty"`
		}{m.Protocol, m.Schemes, m.Config, m.Grants, m.Calls, m.Requires}) // what was read from JSON can be written again
		return text
	}
	return bytes.Equal(ground(a), ground(b))
}

// remember keeps the manifest of a verified file, so that the next check needs
// no process. With an instance it is what the plugin became by its configuration,
// which is kept where that makes a difference to the lock.
func (s *Inspector) remember(b *binary, instance string, m sdk.Manifest) {
	same := func(x sdk.Manifest) bool {
		return reflect.DeepEqual(x, m) || sameGround(&x, &m) && len(config.LockOf(x, b.digest, b.script).Diff(config.LockOf(m, b.digest, b.script))) == 0
	}
	s.update(b, func(kept *described) bool {
		was, had := kept.Served[instance]
		switch {
		case instance == "" && kept.Manifest == nil:
			kept.Manifest = &m
		case instance == "" || had && same(was):
			return false
		case kept.Manifest != nil && same(*kept.Manifest):
			delete(kept.Served, instance)
			return had
		default:
			if kept.Served == nil {
				kept.Served = map[string]sdk.Manifest{}
			}
			kept.Served[instance] = m
		}
		return true
	})
}

func (s *Inspector) cacheFile(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.cfg.DataDir, "plugins", hex.EncodeToString(sum[:8])+".json")
}

func (s *Inspector) kept(path string) (described, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recall(path)
}

// recall needs s.mu.
func (s *Inspector) recall(path string) (described, bool) {
	d, known := s.known[path]
	if known || s.cfg.DataDir == "" {
		return d, known
	}
	b, err := os.ReadFile(s.cacheFile(path))
	if err != nil || json.Unmarshal(b, &d) != nil || d.Digest == "" {
		return described{}, false
	}
	return d, true
}

// update changes what is kept about a file, beginning anew when its digest is
// another. It is written by renaming, so that nobody reads half of it. What
// cannot be kept is asked for again.
func (s *Inspector) update(b *binary, change func(*described) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, known := s.recall(b.path)
	fresh := !known || d.Digest != b.digest
	if fresh {
		d = described{Digest: b.digest}
	}
	d.Served = maps.Clone(d.Served)
	if !change(&d) && !fresh {
		return
	}
	s.known[b.path] = d
	if s.cfg.DataDir == "" || s.cfg.LookOnly {
		return
	}
	if err := s.write(s.cacheFile(b.path), d); err != nil {
		s.log.Debug("keeping a plugin's manifest", "path", b.path, "error", err)
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
