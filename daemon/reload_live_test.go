package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
)

// quietly starts a daemon without plugins in this process, with a home of its
// own and the text as its configuration. It returns the path of that.
func quietly(t *testing.T, text string) (*Daemon, string) {
	t.Helper()
	runtime, err := os.MkdirTemp("/tmp", "br-") // short: a socket's path ends at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""} {
		t.Setenv(name, value)
	}
	for _, v := range asksNobody {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	path := filepath.Join(home, ".config", "bothy", "config.hcl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
	d, err := New(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		if err := os.RemoveAll(runtime); err != nil {
			t.Error(err)
		}
	})
	return d, path
}

const noPlugins = "plugin \"bash\" {\n  enabled = false\n}\nplugin \"files\" {\n  enabled = false\n}\n"

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wait polls until ok, for a time that only a defect reaches.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true that %s", what)
		}
	}
}

// TestReloadsLeaveNothing: 200 reloads cost no descriptor and no goroutine, and
// the last one is in force.
func TestReloadsLeaveNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	d, path := quietly(t, noPlugins)
	descriptors := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // elsewhere than on Linux
		}
		return len(open)
	}
	for _, text := range []string{noPlugins + "plugin \"absent\" {\n}\n", noPlugins} { // who watches files of plugins stays from now on
		write(t, path, text)
		if err := d.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := descriptors()
	for n := range 200 {
		text := fmt.Sprintf("%ssandbox {\n  pids = %d\n}\nagent \"a%d\" {\n}\nplugin \"absent%d\" {\n}\n", noPlugins, n+1, n, n%3)
		if n%5 == 4 {
			text += "a mistake\n"
		}
		write(t, path, text)
		if err := d.Reload(t.Context()); (err != nil) != (n%5 == 4) {
			t.Fatalf("reload %d: %v", n, err)
		}
	}
	write(t, path, noPlugins+"sandbox {\n  pids = 77\n}\n")
	if err := d.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := d.current().Sandbox.Pids; got != 77 {
		t.Errorf("pids = %d", got)
	}
	if left := d.problems.texts(); len(left) != 0 {
		t.Errorf("problems that hold no more: %q", left)
	}
	if now := descriptors(); now > first+2 {
		t.Errorf("%d descriptors, and %d at first", now, first)
	}
	if plugins := d.host.Plugins(); len(plugins) != 0 {
		t.Errorf("plugins that are in no block: %+v", plugins)
	}
	d.Close()
	goleak.VerifyNone(t, before)
}

// TestReloadTriesAgain: a plugin that was given up is tried again by the next
// reload, though its block is as it was: its binary may be there by now.
func TestReloadTriesAgain(t *testing.T) {
	d, path := quietly(t, noPlugins)
	binary := filepath.Join(filepath.Dir(path), "late")
	write(t, path, fmt.Sprintf("%splugin \"late\" {\n  path = %q\n}\n", noPlugins, binary))
	_ = d.Reload(t.Context()) // it says what is tested next
	said := func(what string) func() bool {
		return func() bool { return strings.Contains(strings.Join(d.problems.texts(), "\n"), what) }
	}
	wait(t, "the binary is missed", said("its binary is missing"))
	if err := os.WriteFile(binary, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_ = d.Reload(t.Context()) // likewise
	wait(t, "it was started", func() bool { return !said("its binary is missing")() })
}

// TestReloadAfterTheStop: a daemon that stops takes no configuration any more.
func TestReloadAfterTheStop(t *testing.T) {
	d, path := quietly(t, noPlugins)
	d.Close()
	write(t, path, noPlugins+"sandbox {\n  pids = 77\n}\n")
	if err := d.Reload(t.Context()); err == nil || d.current().Sandbox.Pids == 77 {
		t.Errorf("reloaded: %v", err)
	}
}

// TestReloadOfTheLog: its level changes at once, unless the command line says one.
func TestReloadOfTheLog(t *testing.T) {
	d, path := quietly(t, noPlugins)
	if d.log.IsDebug() {
		t.Fatal("it logs more than info")
	}
	write(t, path, noPlugins+"log {\n  level = \"debug\"\n}\n")
	if err := d.Reload(t.Context()); err != nil || !d.log.IsDebug() || !d.log.Named("x").IsDebug() {
		t.Errorf("the level did not change: %v", err)
	}
	write(t, path, noPlugins+"log {\n  level = \"loud\"\n}\n")
	if err := d.Reload(t.Context()); sdk.OutcomeOf(err) != sdk.Validation || !d.log.IsDebug() {
		t.Errorf("a level that is none: %v", err)
	}
}

// TestReloadFollowsFiles: a file that file() reads is part of the configuration,
// also when it was not there at first.
func TestReloadFollowsFiles(t *testing.T) {
	d, path := quietly(t, noPlugins)
	persona := filepath.Join(filepath.Dir(path), "persona.txt")
	write(t, path, noPlugins+"agent \"default\" {\n  persona = file(\"persona.txt\")\n}\n")
	wait(t, "the missing file is a problem", func() bool { return strings.Contains(strings.Join(d.problems.texts(), ""), "persona.txt") })
	write(t, persona, "a pirate")
	wait(t, "the file is read", func() bool { return d.current().Agents["default"].Persona == "a pirate" })
	write(t, persona, "a poet")
	wait(t, "its change is seen", func() bool { return d.current().Agents["default"].Persona == "a poet" })
	if left := d.problems.texts(); len(left) != 0 {
		t.Errorf("problems: %q", left)
	}
}

// TestReloadWhatWaits: what only the next start can change is said, until it is
// as it was.
func TestReloadWhatWaits(t *testing.T) {
	d, path := quietly(t, noPlugins)
	was := d.paths.Store
	write(t, path, noPlugins+"store {\n  path = \"/tmp/elsewhere.db\"\n}\nplugin \"files\" {\n}\n")
	if err := d.Reload(t.Context()); err == nil {
		t.Fatal("a block was given twice")
	}
	write(t, path, noPlugins+"store {\n  path = \"/tmp/elsewhere.db\"\n}\n")
	r := d.ReloadConfig(t.Context())
	if !r.Applied || len(r.Changes) != 1 || len(r.Diagnostics) != 1 || r.Diagnostics[0].Line != 8 || r.Diagnostics[0].Severity != "warning" {
		t.Errorf("%+v", r)
	}
	if d.paths.Store != was || len(d.problems.texts()) != 1 {
		t.Errorf("%s %q", d.paths.Store, d.problems.texts())
	}
	write(t, path, noPlugins)
	if r := d.ReloadConfig(t.Context()); !r.Applied || len(r.Diagnostics) != 0 || len(d.problems.texts()) != 0 {
		t.Errorf("%+v %q", r, d.problems.texts())
	}
}
