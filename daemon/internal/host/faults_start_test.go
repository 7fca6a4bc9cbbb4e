package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// unstarted is a plugin that does not start, with what its one diagnostic says.
type unstarted struct {
	name  string
	spec  inspect.Spec
	state string // what it ends in; empty where it is tried again
	want  []string
}

func failedStarts(t *testing.T) []unstarted {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := copyOf(t, 0o700)
	patch(t, foreign, 18, 0xf3) // e_machine: RISC-V
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(faultBinary, link); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("just words"), 0o700); err != nil {
		t.Fatal(err)
	}
	many := spec("x", "")
	many.Env["FAULT_TOOLS"] = "20000"
	return []unstarted{
		{name: "05 many tools", spec: many, state: Broken, want: []string{"it does not describe itself", "20", "tools, at most 1600 are taken"}},
		{name: "05 garbage", spec: spec("x", "garbage"), state: Broken, want: []string{"no handshake", `\x1b]0;garbage`, "and more"}},
		{name: "05 print", spec: spec("x", "print"), state: Broken, want: []string{`it is no plugin: Its first line on standard output is no handshake: "starting up ...". A plugin must print nothing before its SDK serves.`}},
		{name: "05 exit", spec: spec("x", "exit"), want: []string{`it ended before its handshake: it ended with exit status 3; its last words: "no licence found"`}},
		{name: "06 version", spec: spec("x", "version"), state: Broken, want: []string{`it speaks another protocol: Its plugin protocol: have "7", want "1". Build it with the SDK of this version of Bothy.`}},
		{name: "06 core", spec: spec("x", "core"), state: Broken, want: []string{`have "9", want "1"`, "core protocol"}},
		{name: "06 netrpc", spec: spec("x", "netrpc"), state: Broken, want: []string{`have "netrpc", want "grpc"`}},
		{name: "05 tcp", spec: spec("x", "tcp"), want: []string{"PLUGIN_UNIX_SOCKET_DIR"}},
		{name: "07 silent", spec: spec("x", "silent"), want: []string{"it did not start in time: It printed no handshake. Run it by hand to see what it waits for."}},
		{name: "07 too slow", spec: spec("x", "slow=30s"), want: []string{"did not start in time"}},
		{name: "14 missing", spec: inspect.Spec{Instance: "x", Plugin: "absent"}, state: Broken, want: []string{"Looked for /one/bothy-plugin-absent. "}},
		{name: "14 missing path", spec: inspect.Spec{Instance: "x", Path: "/nowhere/p"}, state: Broken, want: []string{"/nowhere/p"}},
		{name: "14 relative path", spec: inspect.Spec{Instance: "x", Path: "p"}, state: Broken, want: []string{"not absolute"}},
		{name: "14 folder", spec: inspect.Spec{Instance: "x", Path: t.TempDir()}, state: Broken, want: []string{"is not a file"}},
		{name: "14 pipe", spec: inspect.Spec{Instance: "x", Path: pipe}, state: Broken, want: []string{"is not a file"}},
		{name: "14 not executable", spec: inspect.Spec{Instance: "x", Path: copyOf(t, 0o600)}, state: Broken, want: []string{"chmod +x"}},
		{name: "14 open to all", spec: inspect.Spec{Instance: "x", Path: copyOf(t, 0o777)}, state: Broken, want: []string{"can be changed by everybody (-rwxrwxrwx): run chmod o-w on it"}},
		{name: "14 wrong machine", spec: inspect.Spec{Instance: "x", Path: foreign}, state: Broken, want: []string{"built for EM_RISCV"}},
		{name: "14 no program", spec: inspect.Spec{Instance: "x", Path: text}, state: Broken, want: []string{"neither a program"}},
		{name: "14 symbolic link", spec: inspect.Spec{Instance: "x", Path: link}, state: Broken, want: []string{"is a symbolic link to " + faultBinary + ": name the file itself"}},
		{name: "13 pin", spec: inspect.Spec{Instance: "x", Path: faultBinary, SHA256: strings.Repeat("0", 64)}, state: Broken, want: []string{"pins 0000", sha256Of(t, faultBinary)}},
	}
}

// failedStart (5, 6, 7, 13, 14): each is one diagnostic that says what to do, and the
// healthy neighbour never notices.
func failedStart(t *testing.T) {
	for _, c := range failedStarts(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(cfg *Config) {
				cfg.StartTimeout, cfg.Libexec = 2*time.Second, "/one"
			})
			found := r.start(context.Background(), []inspect.Spec{spec("healthy", ""), c.spec})
			if len(found) != 1 {
				t.Fatalf("%d diagnostics, want one: %v", len(found), found)
			}
			whole := found[0].Summary + ": " + found[0].Detail
			for _, w := range c.want {
				if !strings.Contains(whole, w) {
					t.Errorf("%q lacks %q", whole, w)
				}
			}
			if len(whole) > 2000 {
				t.Errorf("the diagnostic has %d bytes", len(whole))
			}
			if strings.ContainsRune(whole, '\x1b') {
				t.Error("the diagnostic carries control characters")
			}
			if c.state != "" {
				if state := r.status(t, "x").State; state != c.state || strings.Contains(r.log.String(), "the plugin is crashed") {
					t.Errorf("it is %s when the start is over, and is to be %s at once:\n%s", state, c.state, r.log)
				}
				_, err := r.call(t, "x__noop", ``)
				wantOutcome(t, err, sdk.NotFound)
				if !strings.Contains(err.Error(), "Plugins that do not run: x") {
					t.Errorf("the error does not name the broken plugin: %v", err)
				}
			}
			r.mustCall(t, "noop", ``)
		})
	}
}

func patch(t *testing.T, path string, offset int64, b byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{b}, offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// slowStart (7): a slow plugin holds nobody up.
func slowStart(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Patience = 50 * time.Millisecond })
	goOn := filepath.Join(t.TempDir(), "go-on")
	if found := r.start(context.Background(), []inspect.Spec{spec("slow", "until="+goOn), spec("fast", "")}); len(found) > 0 {
		t.Fatal(found)
	}
	eventually(t, "the fast one is ready", func() bool { return r.status(t, "fast").State == Ready })
	r.mustCall(t, "fast__noop", ``)
	if st := r.status(t, "slow"); st.State != Starting {
		t.Errorf("the slow one is %s", st.State)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slow one is ready", func() bool { return r.status(t, "slow").State == Ready })
	r.mustCall(t, "slow__noop", ``)
	if tools := r.Tools(); tools[0].Plugin != "slow" || tools[0].Name != "noop" {
		t.Errorf("the first configured has not the bare name: %+v", tools[0])
	}
}

// replacedBinary (13): the file is replaced while it runs. The running one stays; the
// next start is refused.
func replacedBinary(t *testing.T) {
	path := copyOf(t, 0o700)
	s := inspect.Spec{Instance: "x", Path: path, SHA256: "sha256:" + sha256Of(t, path)}
	r := started(t, nil, s)
	if r.status(t, "x").PinnedBy != string(inspect.PinBlock) {
		t.Error("it is not pinned")
	}
	other := copyOf(t, 0o700)
	patch(t, other, 18, 0xf3)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	r.mustCall(t, "noop", ``)
	_, err := r.call(t, "crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
	eventually(t, "the start is refused", func() bool { return r.status(t, "x").State == Broken })
	_, err = r.call(t, "noop", ``)
	wantOutcome(t, err, sdk.Unavailable)
}
