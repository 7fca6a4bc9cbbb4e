package inspect

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// TestDescribeFails: whatever a program does when it is asked what it declares, it is one
// error that names it, in time, and shows no more of it than a line takes.
func TestDescribeFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"nothing":         {"", `describe printed no manifest ("")`},
		"no manifest":     {"echo hello", `describe printed no manifest ("hello\n")`},
		"a list":          {"echo []", "describe printed no manifest"},
		"half of one":     {`echo '{"name": "x"'`, "describe printed no manifest"},
		"it fails":        {"echo 'no \033[31mlibrary' >&2; exit 3", `describe: exit status 3: "no \x1b[31mlibrary\n"`},
		"it is killed":    {"kill -9 $$", "describe: signal: killed"},
		"a long word":     {"i=0; while [ $i -lt 50 ]; do echo aaaaaaaaaa; i=$((i+1)); done", `aa" and more`},
		"without an end":  {"exec yes x", "describe: "},
		"it hangs":        {"sleep 600", "describe: "},
		"what it started": {"sleep 600 & exit 0", "describe: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := laid(t, "bothy-plugin-x", "#!/bin/sh\n"+c.script+"\n")
			s := New(Config{Log: quiet, DataDir: t.TempDir(), StartTimeout: 500 * time.Millisecond})
			_, err := s.Manifest(t.Context(), Spec{Instance: "x", Path: path})
			if err == nil || !strings.HasPrefix(err.Error(), path+" ") || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
				t.Errorf("%v, want %s", err, c.want)
			}
			if kept := s.kept(path); len(kept.Declared) != 0 {
				t.Errorf("kept %+v", kept)
			}
		})
	}
}

// TestCapped: a plugin that never stops talking takes no memory, by whichever way its words
// come.
func TestCapped(t *testing.T) {
	for n, want := range map[int]string{0: "", 3: "abc", 6: "abcdef", 9: "abcdef"} {
		c := &capped{most: n}
		for _, part := range []string{"ab", "", "cdef"} {
			if took, err := io.Copy(c, struct{ io.Reader }{strings.NewReader(part)}); err != nil || took != int64(len(part)) {
				t.Errorf("%d: %d %v", n, took, err)
			}
		}
		if c.text.String() != want {
			t.Errorf("%d: %q", n, c.text.String())
		}
	}
}

// TestDescribeLeavesNothing: what was asked is gone with all that it started, when it has
// ended and when who asked gives it up.
func TestDescribeLeavesNothing(t *testing.T) {
	for name, end := range map[string]string{
		"given up": "wait",
		"it ended": "exec echo '{\"name\": \"x\", \"version\": \"1\", \"protocol\": 1, \"kinds\": [\"tool\"]}'",
	} {
		pids := filepath.Join(t.TempDir(), "pid")
		path := laid(t, "bothy-plugin-x", "#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\necho $! > "+pids+".new\nmv "+pids+".new "+pids+"\n"+end+"\n")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := newInspector(t).Manifest(ctx, Spec{Instance: "x", Path: path})
			done <- err
		}()
		var pid int
		for pid == 0 {
			text, _ := os.ReadFile(pids)
			_, _ = fmt.Sscan(string(text), &pid) // not written yet
			time.Sleep(time.Millisecond)
		}
		if name == "given up" {
			cancel()
		}
		if err := <-done; (err == nil) != (name == "it ended") {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		for syscall.Kill(pid, 0) == nil {
			if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(text), ") Z ") {
				break // nobody waits for it here
			}
			select {
			case <-t.Context().Done():
				t.Fatalf("%s: what it started goes on", name)
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// TestWithoutShim: a binary that nobody vouches for is not run at all where what would
// confine it is missing.
func TestWithoutShim(t *testing.T) {
	marks := filepath.Join(t.TempDir(), "ran")
	path := laid(t, "bothy-plugin-x", "#!/bin/sh\ntouch "+marks+"\necho '{\"name\": \"x\", \"version\": \"1\", \"protocol\": 1, \"kinds\": [\"tool\"]}'\n")
	s := New(Config{Log: quiet, DataDir: t.TempDir(), Shim: "/nowhere/bothy-shim"})
	_, err := s.Manifest(t.Context(), Spec{Instance: "x", Path: path})
	if err == nil || !strings.Contains(err.Error(), "what would confine it is missing: stat /nowhere/bothy-shim") {
		t.Error(err)
	}
	if _, err := os.Stat(marks); err == nil {
		t.Error("it ran")
	}
	for name, spec := range map[string]Spec{
		"pinned by its block": {Instance: "x", Path: path, SHA256: sha256Of(t, path)},
		"pinned by the lock":  {Instance: "x", Path: path, Locked: &config.Locked{Digest: sha256Of(t, path)}},
	} {
		if m, err := s.Manifest(t.Context(), spec); err != nil || m.Name != "x" {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
	if _, err := os.Stat(marks); err != nil {
		t.Error(err)
	}
	spec := Spec{Instance: "x", Path: path, Locked: &config.Locked{Digest: sha256Of(t, path)}}
	s = New(Config{Log: quiet, Shim: "/nowhere/bothy-shim"})
	if _, entry, err := s.Declared(t.Context(), spec); err != nil || entry.Plugin != "x" {
		t.Errorf("locked as it is, it was not asked: %+v %v", entry, err)
	}
}

// TestCheck: what a block says wrong is an error at its line, and what a machine lacks a
// warning; secrets are told to the redactor, whatever else is wrong.
func TestCheck(t *testing.T) {
	var redacted []string
	s := New(Config{Log: quiet, DataDir: t.TempDir(), Redact: func(v string) { redacted = append(redacted, v) }})
	block := func(text string) Spec {
		f, diags := hclsyntax.ParseConfig([]byte(text), "user.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return Spec{Instance: "x", Path: faultBinary, Body: f.Body, Source: hcl.Range{Filename: "user.hcl", Start: hcl.Pos{Line: 9}}}
	}
	silent := laid(t, "silent", "#!/bin/sh\nexit 1\n")
	for name, c := range map[string]struct {
		spec    Spec
		want    string
		line    int
		warning bool
	}{
		"well":       {block("base_url = \"http://x\"\nkey = \"hidden-key\""), "", 0, false},
		"wrong":      {block("base_url = \"http://x\"\nkey = 7"), "plugin x: Wrong value for key: key: it must be a text", 2, false},
		"unknown":    {block("bogus = 1"), "declares no attribute \"bogus\"", 1, false},
		"missing":    {Spec{Instance: "x", Path: "/nowhere/x", Source: hcl.Range{Filename: "user.hcl", Start: hcl.Pos{Line: 9}}}, "plugin x: its binary is missing", 9, true},
		"refused":    {Spec{Instance: "x", Path: faultBinary, SHA256: strings.Repeat("0", 64)}, "plugin x: its binary is refused", 0, true},
		"it is mute": {Spec{Instance: "x", Path: silent}, "plugin x: it does not describe itself", 0, true},
	} {
		found := s.Check(t.Context(), []Spec{c.spec}, wantsNothing)
		if c.want == "" {
			if len(found) != 0 {
				t.Errorf("%s: %v", name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Warning() != c.warning || found[0].Block == c.warning || found[0].Instance != "x" {
			t.Errorf("%s: %v", name, found)
			continue
		}
		if d := found[0]; !strings.Contains("plugin x: "+strings.TrimPrefix(d.Summary, "plugin x: ")+": "+d.Detail, c.want) || (d.Subject == nil) != (c.line == 0) || c.line > 0 && d.Subject.Start.Line != c.line {
			t.Errorf("%s: %v at %v, want %s", name, d, d.Subject, c.want)
		}
	}
	if len(redacted) != 1 || redacted[0] != "hidden-key" {
		t.Errorf("redacted %q", redacted)
	}
}

// TestFault: a person is told a fault once, and of a block's mistakes each at its place.
func TestFault(t *testing.T) {
	spec := Spec{Instance: "x", Source: hcl.Range{Filename: "user.hcl", Start: hcl.Pos{Line: 3}}}
	one := hcl.Diagnostic{Severity: hcl.DiagError, Summary: "A", Detail: "b", Subject: &hcl.Range{Filename: "user.hcl", Start: hcl.Pos{Line: 5}}}
	for _, c := range []struct {
		fail  Fault
		text  string
		found int
		line  int
	}{
		{Fault{Summary: "it is late", Detail: "Wait."}, "it is late: Wait.", 1, 3},
		{Fault{Summary: "it is late"}, "it is late", 1, 3},
		{Fault{Summary: "its block is wrong", Config: hcl.Diagnostics{&one}}, "A; b", 1, 5},
		{Fault{Config: hcl.Diagnostics{&one, &one}}, "A; b", 2, 5},
	} {
		found := c.fail.Diagnostics(spec)
		if !strings.Contains(c.fail.Error(), c.text) || len(found) != c.found {
			t.Errorf("%q %v", c.fail.Error(), found)
		}
		for _, d := range found {
			if d.Instance != "x" || d.Warning() || d.Subject.Start.Line != c.line || d.Block != (c.line == 5) {
				t.Errorf("%+v at %v", d, d.Subject)
			}
		}
	}
	if d := (Spec{Instance: "x"}).Warn("a", "b"); !d.Warning() || d.Subject != nil {
		t.Errorf("%+v", d)
	}
}

func wantsNothing(Spec, *sdk.Manifest) []Diagnostic { return nil }

// TestCheckCompares: what a confine block opens and is not there is told of, and what is
// said of a block beside its manifest.
func TestCheckCompares(t *testing.T) {
	for name, c := range map[string]struct {
		confine *config.Confine
		want    string
	}{
		"unconfined":  {nil, ""},
		"there":       {&config.Confine{Paths: []string{t.TempDir()}, ReadPaths: []string{"/"}}, ""},
		"a path":      {&config.Confine{Paths: []string{"/nowhere/x"}}, "its confine block opens /nowhere/x, which is not there"},
		"a read path": {&config.Confine{ReadPaths: []string{"/", "/nowhere/y"}}, "its confine block opens /nowhere/y, which is not there"},
	} {
		fail := Spec{Confine: c.confine}.NotThere()
		if (fail != nil) != (c.want != "") || fail != nil && (fail.Summary != c.want || !fail.Permanent) {
			t.Errorf("%s: %v", name, fail)
		}
	}
}
