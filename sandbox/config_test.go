package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk/protect"
)

func TestRunIDs(t *testing.T) {
	for id, ok := range map[string]bool{
		"0190b0a2-7c3e-7000-8000-000000000000": true, "tools": true, "a.b_c-d": true, strings.Repeat("a", 128): true,
		"../x": false, "a/b": false, "": false, strings.Repeat("a", 300): false, "a..b": false, ".hidden": false,
		"-flag": false, "a b": false, "a\nb": false, "a\x00b": false, "é": false, "a\n": false,
	} {
		if err := ValidRunID(id); (err == nil) != ok || err != nil && Code(err) != CodeInvalid {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

// A run id that is refused leaves nothing behind, and one that is taken cannot
// leave the directories it is given.
func TestRunIDsNeverBecomePaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[a-zA-Z0-9./_\-]{0,20}`).Draw(t, "id")
		if ValidRunID(id) != nil {
			return
		}
		if filepath.Base(id) != id || !filepath.IsLocal(id) {
			t.Fatalf("%q is a path", id)
		}
	})
}

func TestBadCallsAreRefusedBeforeAnythingIsMade(t *testing.T) {
	dir := t.TempDir()
	m := &Manager{cfg: Config{Dir: dir}, sessions: make(map[string]*session)}
	for name, c := range map[string]struct {
		run RunSpec
		cmd Command
	}{
		"run id":            {RunSpec{RunID: "../x", RunDir: dir}, Command{Argv: []string{"true"}}},
		"relative run dir":  {RunSpec{RunID: "a", RunDir: "run"}, Command{Argv: []string{"true"}}},
		"relative project":  {RunSpec{RunID: "a", RunDir: dir, Project: "p"}, Command{Argv: []string{"true"}}},
		"missing project":   {RunSpec{RunID: "a", RunDir: dir, Project: dir + "/none"}, Command{Argv: []string{"true"}}},
		"root as project":   {RunSpec{RunID: "a", RunDir: dir, Project: "/"}, Command{Argv: []string{"true"}}},
		"empty command":     {RunSpec{RunID: "a", RunDir: dir}, Command{}},
		"NUL in a command":  {RunSpec{RunID: "a", RunDir: dir}, Command{Argv: []string{"a\x00b"}}},
		"negative timeout":  {RunSpec{RunID: "a", RunDir: dir}, Command{Argv: []string{"true"}, Timeout: -1}},
		"negative limit":    {RunSpec{RunID: "a", RunDir: dir, Limits: &Limits{Memory: -1}}, Command{Argv: []string{"true"}}},
		"negative fraction": {RunSpec{RunID: "a", RunDir: dir, Limits: &Limits{CPUs: -1}}, Command{Argv: []string{"true"}}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if _, err := m.Exec(t.Context(), c.run, c.cmd, nil); Code(err) != CodeInvalid {
				t.Fatalf("got %v", err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 || len(m.sessions) != 0 {
				t.Fatalf("made %v, %d sessions, %v", entries, len(m.sessions), err)
			}
		})
	}
	for _, run := range []RunSpec{{RunID: "a/b", RunDir: dir}, {RunID: "a", RunDir: "x"}} {
		if err := m.Reset(t.Context(), run); Code(err) != CodeInvalid {
			t.Errorf("reset %+v: %v", run, err)
		}
	}
	if err := m.Drop(t.Context(), ".."); Code(err) != CodeInvalid {
		t.Errorf("drop: %v", err)
	}
}

// protecting is a protector with a path of its own.
type protecting struct {
	protect.Rules
	path string
}

func (p protecting) Paths() []string { return []string{p.path} }

func TestConfig(t *testing.T) {
	good := Config{Dir: "/tmp/d", StateDir: "/tmp/s", Instance: "i", Runner: "/tmp/r", Protector: protect.Rules{}}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"complete":          {func(*Config) {}, ""},
		"long directory":    {func(c *Config) { c.Dir = "/" + strings.Repeat("d", 80) }, "81 bytes long"},
		"relative":          {func(c *Config) { c.StateDir = "s" }, "absolute"},
		"instance":          {func(c *Config) { c.Instance = "a b" }, "instance name"},
		"protected path":    {func(c *Config) { c.Protector = protecting{path: "../x"} }, "inside the project"},
		"protected itself":  {func(c *Config) { c.Protector = protecting{path: "."} }, "inside the project"},
		"protected nothing": {func(c *Config) { c.Protector = nil }, "no command may change"},
		"limit":             {func(c *Config) { c.Limits.Pids = -1 }, "pids is negative"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			_, err := cfg.complete()
			if c.want == "" && err != nil || c.want != "" && (Code(err) != CodeInvalid || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestSearchPath(t *testing.T) {
	usual := "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
	if _, err := os.Stat("/usr/local/go/bin"); err == nil {
		usual = "/usr/local/go/bin:" + usual
	}
	for found, want := range map[string]string{
		"": usual, "/home/u/.cargo/bin /usr/games": "/home/u/.cargo/bin:/usr/games:" + usual,
		"/bin /usr/games": "/bin:/usr/games:" + strings.Replace(usual, ":/bin", "", 1),
	} {
		if got := searchPath(strings.Fields(found)); got != want {
			t.Errorf("%q: got %q, want %q", found, got, want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	cause := errors.New("cause")
	err := unavailable("Podman is not installed", "install it", cause)
	if err.Error() != "Podman is not installed: cause; install it" || !errors.Is(err, cause) || Code(err) != CodeUnavailable {
		t.Fatalf("got %q", err)
	}
	if Code(cause) != "" || Code(nil) != "" {
		t.Fatal("a foreign error has no code")
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"4.3.0": "", "4.3.1": "", "5.8.2": "", "4.3": "", "5.0.0-rc1": "", "4.3.0-rc1": "",
		"4.2.9": "too old", "3.4.4": "too old", "4.2": "too old", "nonsense": "did not tell", "": "did not tell",
	} {
		err := checkVersion(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || Code(err) != CodeUnavailable) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestFindingsOfHosts(t *testing.T) {
	info := hostInfo{}
	info.Host.Security.Rootless, info.Host.Security.Seccomp = true, true
	info.Host.IDMappings.UIDMap = []idMapping{{Size: 1}, {Size: 65536}}
	info.Host.CgroupVersion = "v2"
	info.Host.CgroupControllers = []string{"cpu", "memory", "pids"}
	info.Store.Driver = "overlay"
	levels := func(change func(*hostInfo)) map[string]string {
		i := info
		change(&i)
		bad := make(map[string]string)
		for _, f := range findings(i) {
			if f.Level != LevelOK {
				if f.Hint == "" {
					t.Errorf("%s has no hint", f.Name)
				}
				bad[f.Name] = f.Level
			}
		}
		return bad
	}
	for name, c := range map[string]struct {
		change func(*hostInfo)
		want   map[string]string
	}{
		"all well":        {func(*hostInfo) {}, map[string]string{}},
		"cgroup v1":       {func(i *hostInfo) { i.Host.CgroupVersion = "v1" }, map[string]string{"limits": LevelWarn}},
		"not delegated":   {func(i *hostInfo) { i.Host.CgroupControllers = []string{"pids"} }, map[string]string{"limits": LevelWarn}},
		"vfs":             {func(i *hostInfo) { i.Store.Driver = "vfs" }, map[string]string{"storage": LevelWarn}},
		"no subuids":      {func(i *hostInfo) { i.Host.IDMappings.UIDMap = i.Host.IDMappings.UIDMap[:1] }, map[string]string{"subuids": LevelFail}},
		"rootful":         {func(i *hostInfo) { i.Host.Security.Rootless = false }, map[string]string{"rootless": LevelFail}},
		"without seccomp": {func(i *hostInfo) { i.Host.Security.Seccomp = false }, map[string]string{"seccomp": LevelFail}},
	} {
		if got := levels(c.change); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestToolsAreNamed(t *testing.T) {
	f := toolsFinding(Config{Tools: func() toolchain.Found {
		return toolchain.Found{Names: []string{"cargo", "go"}, Shown: []string{"/h/.cargo/bin"}, Caches: []string{"/h/go/pkg/mod"}, Unseen: []string{"/opt/x/bin"}}
	}})
	for _, want := range []string{"cargo, go", "/h/.cargo/bin", "/h/go/pkg/mod", "not visible in the sandbox: /opt/x/bin"} {
		if f.Level != LevelWarn || !strings.Contains(f.Detail, want) {
			t.Errorf("got %+v, without %q", f, want)
		}
	}
	if f := toolsFinding(Config{}); f.Level != LevelOK || f.Detail != "programs below /usr" {
		t.Errorf("got %+v", f)
	}
	if f := toolsFinding(Config{Image: "i", Tools: func() toolchain.Found { return toolchain.Found{Names: []string{"go"}, Unseen: []string{"/opt/x"}} }}); f.Level != LevelOK || strings.Contains(f.Detail, "go") {
		t.Errorf("got %+v", f)
	}
}

func TestPodmanThatHangs(t *testing.T) {
	stub := filepath.Join(t.TempDir(), "podman")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\nexec sleep 100\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := findBinary(ctx, Config{Podman: stub})
	if Code(err) != CodeUnavailable || !strings.Contains(err.Error(), "does not answer") {
		t.Fatalf("got %v", err)
	}
}
