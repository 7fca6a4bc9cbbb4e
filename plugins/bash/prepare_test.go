//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func (r *rig) prepare() error {
	_, err := r.b.tools().Prepare(r.t.Context(), sdk.Place{Tool: "bash", Run: "run-1", Project: r.project, RunDir: r.runDir})
	return err
}

// TestPrepare: what is made beforehand is what the first command runs in.
func TestPrepare(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	if err := r.prepare(); err != nil || r.b.manager == nil {
		t.Fatalf("the sandbox is open: %v, and %v", r.b.manager != nil, err)
	}
	first, _, err := r.call(`{"command":"touch /tmp/mark"}`)
	if id, ok := first.Metadata["container"].(string); err != nil || !first.Success || !ok || len(id) != 12 {
		t.Fatalf("got %+v %v", first, err)
	}
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	next, _, err := r.call(`{"command":"ls /tmp/mark"}`)
	if err != nil || !next.Success || next.Metadata["container"] != first.Metadata["container"] {
		t.Errorf("got %+v %v, the first command ran in %v", next, err, first.Metadata["container"])
	}
}

// TestPodmanIsLookedForOnceBeforehand, and what is missing is no problem of the
// plugin as long as nobody calls.
func TestPodmanIsLookedForOnceBeforehand(t *testing.T) {
	dir := t.TempDir()
	stub, asked := filepath.Join(dir, "podman"), filepath.Join(dir, "asked")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho once >>"+asked+"\necho podman version 3.0.1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BOTHY_PODMAN", stub)
	times := func() int {
		b, _ := os.ReadFile(asked) // none is never
		return strings.Count(string(b), "once")
	}
	r := newRig(t, nil)
	for range 3 {
		if err := r.prepare(); sdk.OutcomeOf(err) != sdk.Unavailable {
			t.Fatalf("got %v", err)
		}
	}
	first := times()
	if err := r.b.health(t.Context()); err != nil || os.Geteuid() != 0 && first == 0 {
		t.Errorf("Podman was asked for %d times; health: %v", first, err)
	}
	again := newRig(t, nil)
	if err := again.prepare(); err == nil || times() != 2*first {
		t.Errorf("another process asked %d times more, want %d: %v", times()-first, first, err)
	}
	if _, _, err := r.call(`{"command":"true"}`); sdk.OutcomeOf(err) != sdk.Unavailable || times() != 3*first {
		t.Errorf("a call asked %d times more, want %d: %v", times()-2*first, first, err)
	}
	if err := r.prepare(); err == nil || times() != 3*first {
		t.Errorf("after a call that failed: asked %d times more: %v", times()-3*first, err)
	}
}

func TestNothingIsPreparedWithoutTheGrant(t *testing.T) {
	r := newRig(t, func(s *sdk.Settings) { s.Sandbox = nil })
	if err := r.prepare(); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("got %v", err)
	}
}
