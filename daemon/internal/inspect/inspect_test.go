package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// faultBinary is the plugin that the host's tests start, built once.
var faultBinary string

func TestMain(m *testing.M) {
	if faultBinary = os.Getenv("INSPECT_FAULT"); faultBinary != "" { // a test that has a process of its own
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "inspect")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	faultBinary = filepath.Join(dir, "bothy-plugin-fault")
	if out, err := exec.Command("go", "build", "-o", faultBinary, "../host/faultplugin").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the fault plugin: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // the system clears what is left
	os.Exit(code)
}

var quiet = hclog.NewNullLogger()

func newInspector(t testing.TB) *Inspector {
	return New(Config{Log: quiet, DataDir: t.TempDir()})
}

func sha256Of(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// copyOf is a copy of the fault plugin, written just now.
func copyOf(t testing.TB, mode os.FileMode) string {
	t.Helper()
	b, err := os.ReadFile(faultBinary)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bothy-plugin-copy")
	syscall.ForkLock.RLock() // a child that was begun meanwhile would hold the file open for writing, and it could not be run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// keeps has an Inspector find this as what is kept of a file.
func keeps(t testing.TB, s *Inspector, path string, d described) {
	t.Helper()
	text, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(s.cacheFile(path), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeptDigest: a digest is taken from what is kept only where the file cannot
// be another one behind its times.
func TestKeptDigest(t *testing.T) {
	old, err := exec.LookPath("true")
	if err == nil {
		old, err = filepath.EvalSymlinks(old)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		kept bool
	}{
		"root's, and old":  {old, true},
		"written just now": {copyOf(t, 0o700), false},
		"of a group":       {copyOf(t, 0o770), false},
	} {
		s := newInspector(t)
		open := func() *Binary {
			b, fail := s.Verified(Spec{Path: c.path})
			if fail != nil {
				t.Fatal(name, fail)
			}
			t.Cleanup(func() { _ = b.Close() }) // only read
			return b
		}
		b := open()
		if b.Digest != sha256Of(t, c.path) {
			t.Errorf("%s: digest %s", name, b.Digest)
		}
		keeps(t, s, c.path, described{Identity: s.kept(c.path).Identity, Digest: "kept"})
		if got := open().Digest == "kept"; got != c.kept {
			t.Errorf("%s: taken from what is kept: %v", name, got)
		}
	}
}

// TestManifest: asked once of the binary, then kept; a changed file is asked
// again.
func TestManifest(t *testing.T) {
	r := newInspector(t)
	path := copyOf(t, 0o700)
	s := Spec{Instance: "x", Path: path}
	m, err := r.Manifest(context.Background(), s)
	if err != nil || m.Name != "fault" || m.Version != "1.2.3" || len(m.Config.Attributes) != 7 || len(m.Kinds) != 5 {
		t.Fatalf("%+v %v", m, err)
	}
	kept := r.kept(path)
	if kept.Digest != sha256Of(t, path) {
		t.Fatalf("kept %+v", kept)
	}
	m.Version = "kept"
	kept.Declared[""] = m
	keeps(t, r, path, kept)
	if m, err = r.Manifest(context.Background(), s); err != nil || m.Version != "kept" {
		t.Errorf("it was asked again: %s %v", m.Version, err)
	}
	kept.Identity = "moved"
	keeps(t, r, path, kept)
	if m, err = r.Manifest(context.Background(), s); err != nil || m.Version != "kept" {
		t.Errorf("the same digest was asked again: %s %v", m.Version, err)
	}
	kept.Identity, kept.Digest = "other", "other"
	keeps(t, r, path, kept)
	if m, err = r.Manifest(context.Background(), s); err != nil || m.Version != "1.2.3" {
		t.Errorf("a changed file was not asked: %s %v", m.Version, err)
	}
	f, diags := hclsyntax.ParseConfig([]byte("base_url = 1"), "user.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s.Body = f.Body
	if found := r.Check(context.Background(), []Spec{s, {Instance: "y", Plugin: "absent"}}, wantsNothing); len(found) != 2 || found[0].Subject.Start.Line != 1 {
		t.Errorf("check found %v", found)
	}
}

// TestNoRace: what was verified is what is described, whatever its path names by
// then.
func TestNoRace(t *testing.T) {
	r, path := newInspector(t), copyOf(t, 0o700)
	b, fail := r.Verified(Spec{Instance: "x", Path: path})
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.Close()
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\nexit 66\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(evil, path); err != nil {
		t.Fatal(err)
	}
	if m, err := r.runDescribe(context.Background(), b); err != nil || m.Name != "fault" {
		t.Errorf("described was the other: %+v %v", m, err)
	}
}
