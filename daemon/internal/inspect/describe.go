// Package inspect knows the binaries of plugins without running plugins: it finds
// and verifies a file (binary.go, pin.go), asks it what it declares (describe.go,
// cache.go), and holds the store of installed ones (store.go). Files are the
// plugins of one configuration, for the commands that need no daemon (files.go,
// install.go, remove.go).
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/sdk"
)

// Config is what an Inspector needs to know of the installation.
type Config struct {
	Log          hclog.Logger
	Libexec      string             // where bothy-plugin-NAME is looked for
	DataDir      string             // where manifests are kept; empty keeps nothing between runs
	Installed    string             // the store of installed plugins; what lies below it has that origin
	Shim         string             // bothy-shim; empty: what nobody vouches for describes itself unconfined
	LookOnly     bool               // manifests that were kept are read, and none is kept
	Redact       func(value string) // is told every secret value that a block resolved to; nil is nobody
	StartTimeout time.Duration      // how long a binary may take to describe itself, at most 10 s; 0 is that

	Kernel func() confine.Kernel // what can be held here; nil looks at this kernel, once
}

// WithDefaults is the Config with what it leaves out.
func (c Config) WithDefaults() Config {
	if c.Kernel == nil {
		c.Kernel = sync.OnceValue(func() confine.Kernel { return confine.ThisKernel(c.Shim) })
	}
	if c.Redact == nil {
		c.Redact = func(string) {}
	}
	c.StartTimeout = cmp.Or(c.StartTimeout, describeTime)
	return c
}

// Inspector knows what binaries declare without making plugins of them, and without a
// daemon. Its methods may be called from any goroutine.
type Inspector struct {
	cfg Config

	mu         sync.Mutex    // of what is kept
	subscribed subscriptions // nil before they are read
}

// New makes an Inspector. It looks at nothing yet.
func New(cfg Config) *Inspector { return &Inspector{cfg: cfg.WithDefaults()} }

// Manifest says what a binary declares, from what is kept, else by its sub-command describe.
// Tools that depend on the configuration are not in it.
func (s *Inspector) Manifest(ctx context.Context, spec Spec) (sdk.Manifest, error) {
	b, fail := s.Verified(spec)
	if fail != nil {
		return sdk.Manifest{}, fail
	}
	defer b.Close()
	return s.manifest(ctx, b, "")
}

// manifest is what an open file declares, from what is kept for its digest: with an
// instance what that became by its configuration.
func (s *Inspector) manifest(ctx context.Context, b *Binary, instance string) (sdk.Manifest, error) {
	kept := s.kept(b.Path)
	m, known := kept.declared(instance)
	if !known || kept.Digest != b.Digest {
		var err error
		if m, err = s.runDescribe(ctx, b); err != nil {
			return m, err
		}
		s.Remember(b, "", m)
	}
	return m, b.agrees(m)
}

// Declared is what a plugin declares, whatever the lock says of it, and what the
// lock is to say. What it declares by its configuration is known once the daemon
// has started it with this very file, and is what counts then.
func (s *Inspector) Declared(ctx context.Context, spec Spec) (sdk.Manifest, config.Locked, error) {
	locked := spec.Locked
	spec.Locked = nil
	b, fail := s.Verified(spec)
	if fail != nil {
		return sdk.Manifest{}, config.Locked{}, fail
	}
	defer b.Close()
	if locked != nil && locked.Digest == b.Digest && b.Pin == "" {
		b.Pin = PinLock
	}
	m, err := s.manifest(ctx, b, spec.Instance)
	return m, config.LockOf(m, b.Digest, b.Script), err
}

// Check reports what is wrong with the specs without starting a plugin: blocks
// that do not satisfy the schema which the binary declares and, as warnings, for
// they may be right elsewhere, binaries that cannot be used on this machine. compare adds
// what it has to say of a block and what its plugin declares.
func (s *Inspector) Check(ctx context.Context, specs []Spec, compare func(Spec, *sdk.Manifest) []Diagnostic) (found []Diagnostic) {
	for _, spec := range specs {
		if fail := spec.NotThere(); fail != nil {
			found = append(found, spec.Warn(fail.Summary, fail.Detail))
		}
		m, err := s.Manifest(ctx, spec)
		if err != nil {
			fail := &Fault{Summary: "it does not describe itself", Detail: err.Error()}
			_ = errors.As(err, &fail)
			found = append(found, spec.Warn(fail.Summary, fail.Detail))
			continue
		}
		if lacks := s.cfg.Kernel().Lacks(); len(lacks) > 0 && s.cfg.Shim != "" && spec.Path != "" && spec.SHA256 == "" && spec.Locked == nil {
			found = append(found, spec.Warn("what it declares was asked of it without walls",
				"It is not pinned, and this kernel cannot hold it back from "+strings.Join(lacks, "; ")+"."))
		}
		_, secrets, diags := spec.Decode(m.Config)
		for _, v := range secrets {
			s.cfg.Redact(v)
		}
		_, untaken := spec.Taken(&m)
		found = slices.Concat(found, spec.inBlock(diags), compare(spec, &m), untaken)
	}
	return found
}

// What a binary may take to describe itself.
const (
	describeTime    = 10 * time.Second
	describeDelay   = 2 * time.Second // until its end, when it is killed
	describeErrors  = 1 << 10         // bytes of its standard error that are read
	describeMemory  = 512 << 20       // bytes of data, where it is confined
	largestManifest = 4 << 20         // bytes of its own word that are read
)

func (s *Inspector) runDescribe(ctx context.Context, b *Binary) (m sdk.Manifest, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(s.cfg.StartTimeout, describeTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, b.Program, "describe")
	walls, err := s.stranger(b)
	cmd.Env, cmd.Dir, cmd.WaitDelay = walls.Environment("", false, nil), "/", describeDelay
	b.SetUp(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, errs := &capped{most: largestManifest}, &capped{most: describeErrors}
	cmd.Stdout, cmd.Stderr = out, errs
	if err == nil && walls != nil {
		err = walls.Apply(cmd, b.File, "")
		defer walls.Started()
	}
	if err != nil {
		return m, fmt.Errorf("%s describe: %w", b.Path, err)
	}
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it started and left
	}
	if err != nil {
		return m, fmt.Errorf("%s describe: %w: %s", b.Path, err, Escaped(errs.text.String()))
	}
	if m, err = sdk.ReadManifest(out.text.Bytes()); err != nil {
		err = fmt.Errorf("%s describe printed no manifest (%s): %w", b.Path, Escaped(out.text.String()), err)
	}
	return m, err
}

// stranger is the confinement in which a binary that nobody vouches for says
// what it declares: it may read the system and itself, and has no network. It
// is nil for one that is part of the installation or pinned.
func (s *Inspector) stranger(b *Binary) (*confine.Process, error) {
	if s.cfg.Shim == "" || b.Pin != "" || runtime.GOOS != "linux" {
		return nil, nil
	}
	if _, err := os.Stat(s.cfg.Shim); err != nil {
		return nil, fmt.Errorf("it is not pinned, and what would confine it is missing: %w: install Bothy again", err)
	}
	return &confine.Process{
		Shim: s.cfg.Shim, Home: "/", Tmp: "/tmp",
		Spec: confine.Spec{Read: b.Beside(), Memory: describeMemory, Parent: os.Getpid(), BestEffort: true, Apart: s.cfg.Kernel().Apart()},
	}, nil
}

// capped keeps the beginning of what is written and swallows the rest. The buffer is no
// part of it: that would read by itself, without an end.
type capped struct {
	text bytes.Buffer
	most int
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), c.most-c.text.Len())]) // a Buffer never fails
	return len(p), nil
}

// Escaped shows at most 200 bytes of something that may be anything.
func Escaped(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(s[:most]) + " and more"
	}
	return strconv.Quote(s)
}
