package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestRecord(t *testing.T) {
	b := withDaemon(t, func(f *fakeDaemon, loop int64) { f.commit(ended(loop, 200, "answer", "")) })
	file := filepath.Join(b.project, "c.json")
	holds := func(want string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if info, statErr := os.Stat(file); err != nil || statErr != nil || string(text) != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v %q", err, statErr, text)
		}
	}
	b.want(t, exitOK, "run", "--record", "c.json", "x")
	if p := b.daemon.prompts[0]; !p.Record || p.Replay != "" || !strings.Contains(b.err.String(), "recorded in "+file) {
		t.Errorf("%+v, %q", p, b.err.String())
	}
	holds("the cassette")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.want(t, exitUsage, "run", "--record", "c.json", "x")
	holds("mine")
	b.want(t, exitOK, "run", "-q", "--record", "c.json", "--force", "x")
	holds("the cassette")
	if err := (cassetteFlags{Record: file}).write([]byte("later")); !errors.Is(err, fs.ErrExist) { // it came while the model worked
		t.Errorf("error %v", err)
	}
	holds("the cassette")
	if left, err := os.ReadDir(b.project); err != nil || len(left) != 3 { // .git, sub, c.json
		t.Errorf("%v %v", left, err)
	}
}

// TestRecordOfAPromptThatFails: its cassette is saved as well, and its code stays.
func TestRecordOfAPromptThatFails(t *testing.T) {
	b := withDaemon(t, func(f *fakeDaemon, loop int64) { f.commit(ended(loop, 500, "max_turns", "because")) })
	b.want(t, exitStopped, "run", "--record", "c.json", "x")
	if _, err := os.Stat(filepath.Join(b.project, "c.json")); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(b.project, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(b.project, 0o700) })
	if os.Getuid() != 0 {
		b.want(t, exitStopped, "run", "--record", "d.json", "x")
		if !strings.Contains(b.err.String(), "the cassette: ") {
			t.Errorf("%q", b.err.String())
		}
	}
}

func TestReplay(t *testing.T) {
	b := withDaemon(t, func(f *fakeDaemon, loop int64) {
		f.commit(ended(loop, 500, sdk.StopMismatch, "step 2, message 1 (tool) of read differs\n  expected: \"a\"\n  got:      \"b\""))
	})
	b.want(t, exitFailed, "run", "--replay", "c.json", "--strict", "x")
	if p := b.daemon.prompts[0]; p.Replay != filepath.Join(b.project, "c.json") || !p.Strict || p.Record {
		t.Errorf("%+v", p)
	}
	for _, text := range []string{"step 2", `expected: "a"`, `got:      "b"`} {
		if !strings.Contains(b.err.String(), text) {
			t.Errorf("%q lacks %q", b.err.String(), text)
		}
	}
	for _, args := range [][]string{
		{"--replay", "c.json", "-m", "a/b"}, {"--strict"}, {"--force"}, {"--record", filepath.Join("none", "c.json")},
	} {
		b.want(t, exitUsage, append([]string{"run", "x"}, args...)...)
	}
	if n := len(b.daemon.prompts); n != 1 {
		t.Errorf("%d prompts were given", n)
	}
}
