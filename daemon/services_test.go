package daemon

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// served is the services over a real store with one run.
func served(t *testing.T) (*services, sdk.Run, host.Caller) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), store.Options{Log: hclog.NewNullLogger(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := st.OpenProject(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := st.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "default", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{store: st}
	d.live.Store(&config.Config{Agents: map[string]sdk.Agent{"chat": {Name: "chat", Mode: sdk.ModeInteractive}}})
	return &services{d: d}, run, host.Caller{Instance: "x", Run: run.Key, RunDir: filepath.Join("runs", run.Key)}
}

// TestPluginsCallInTheModeOfTheLoop: a prompt that may only read does not get
// its side effects by way of a plugin.
func TestPluginsCallInTheModeOfTheLoop(t *testing.T) {
	s, run, _ := served(t)
	check := func(when string, want bool, mode sdk.Mode) {
		t.Helper()
		if got, may, err := s.standing(t.Context(), run.ID); err != nil || got != want || may != mode {
			t.Errorf("%s: %t, %s, %v", when, got, may, err)
		}
	}
	check("without a loop", false, sdk.ModeRestricted)
	for readOnly, mode := range map[bool]sdk.Mode{true: sdk.ModeInteractive, false: sdk.ModeFull} {
		options := `{}` // the agent's
		if mode == sdk.ModeFull {
			options = `{"mode":"full"}`
		}
		l, _, err := s.d.store.Enqueue(t.Context(), sdk.Loop{Run: run.ID, ReadOnly: readOnly, Agent: "chat", Prompt: "p", Options: json.RawMessage(options)})
		if err != nil {
			t.Fatal(err)
		}
		check("while it is queued", false, sdk.ModeRestricted)
		if _, ok, err := s.d.store.ClaimLoop(t.Context(), run.ID); !ok || err != nil {
			t.Fatal(ok, err)
		}
		check("while it runs", readOnly, mode)
		end := sdk.Change{Run: run.ID, EndLoop: &sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusOK, Stop: "answer", Reason: "r"}}
		if _, err := s.d.store.Commit(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	check("after them", false, sdk.ModeRestricted)
}

func TestPluginsDoNotWriteWhatHappened(t *testing.T) {
	s, run, caller := served(t)
	text := "it all went well"
	for path, want := range map[string]sdk.Outcome{
		"log://turn_1/bash/ls": sdk.Permission, "LOG://turn_1/bash/ls": sdk.Permission, "Log://Turn_1/x": sdk.Permission,
		"log://x/note": "", "assistant://1": sdk.Permission, "known://fact": "",
	} {
		_, err := s.Write(t.Context(), caller, []sdk.Write{{Path: path, Body: &text, Writer: sdk.WriterPlugin}})
		if err == nil && want != "" || err != nil && sdk.OutcomeOf(err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for attributes, want := range map[string]sdk.Outcome{
		`{"meaning":{"text":"do harm"}}`: sdk.Permission, `{"MEANING":null}`: sdk.Permission, `{"mode":"act"}`: "",
	} {
		_, err := s.Write(t.Context(), caller, []sdk.Write{{Path: "Prompt://9", Body: &text, Attributes: json.RawMessage(attributes), Writer: sdk.WriterPlugin}})
		if err == nil && want != "" || err != nil && sdk.OutcomeOf(err) != want {
			t.Errorf("a prompt with %s: %v", attributes, err)
		}
	}
	if all, err := s.d.store.Entries(t.Context(), run.ID, ""); err != nil || len(all) != 3 {
		t.Errorf("%d entries, %v", len(all), err)
	}
}
