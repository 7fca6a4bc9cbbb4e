package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// ended commits an action from its record to its end.
func (h *house) ended(run sdk.Run, path, call string, state sdk.State, outcome sdk.Outcome, end string) {
	h.t.Helper()
	body := "output"
	h.commit(sdk.Change{Run: run.ID, Writes: []sdk.Write{
		{Path: path, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Attributes: json.RawMessage(call)},
	}})
	h.commit(sdk.Change{Run: run.ID, Writes: []sdk.Write{
		{Path: path, Writer: sdk.WriterSystem, State: state, Outcome: outcome, Phase: sdk.PhaseEnded, Body: &body, Attributes: json.RawMessage(end)},
	}})
}

func (h *house) records(q sdk.AuditQuery) []sdk.AuditRecord {
	h.t.Helper()
	got, next, err := Records(context.Background(), h.store, q)
	if err != nil || next != 0 {
		h.t.Fatalf("next %d, %v", next, err)
	}
	return got
}

// TestRecords: what the audit says of each kind of row.
func TestRecords(t *testing.T) {
	long := strings.Repeat("x", 3000)
	allow := `"decision":{"verdict":"allow","rule":"sandbox","source":"built-in","reason":"r"}`
	cases := map[string]struct {
		path, call string
		state      sdk.State
		outcome    sdk.Outcome
		end        string
		want       func(r sdk.AuditRecord) bool
	}{
		"a command": {
			"log://turn_1/bash/call", `{"tool":"bash","plugin":"bash","digest":"ab12","arguments":{"command":"make\ntest"},` + allow + `}`,
			sdk.StateFailed, "exit:2", `{"duration_ms":1500,"truncated":true,"error":"exit status 2","metadata":{"exit_code":2}}`,
			func(r sdk.AuditRecord) bool {
				return r.Command == "make\ntest" && r.Arguments == nil && *r.Exit == 2 && time.Duration(r.Duration) == 1500*time.Millisecond && r.Truncated &&
					r.Digest == "ab12" && r.Plugin == "bash" && r.Verdict == sdk.Allow && r.Rule == "sandbox" && r.Source == "built-in" && r.Detail == "exit status 2" && r.Event == ""
			},
		},
		"a command that did well": {
			"log://turn_1/bash/call", `{"tool":"bash","arguments":{"command":"ls"}}`, sdk.StateResolved, "", `{"duration_ms":1,"metadata":{"exit_code":0}}`,
			func(r sdk.AuditRecord) bool { return *r.Exit == 0 && r.Detail == "" && r.State == sdk.StateResolved },
		},
		"a tool with long arguments": {
			"log://turn_1/write/a", `{"tool":"write","arguments":{"path":"a","content":"` + long + `"}}`, sdk.StateResolved, "", `{"duration_ms":1}`,
			func(r sdk.AuditRecord) bool {
				return r.Exit == nil && strings.Contains(string(r.Arguments), long) && r.Command == ""
			},
		},
		"a refused one": {
			"log://turn_1/bash/call", `{"tool":"bash","arguments":{"command":"rm -rf /"},"decision":{"verdict":"deny","rule":"deny_list","reason":"no"}}`,
			sdk.StateFailed, sdk.Permission, `{"duration_ms":0,"error":"refused by rule"}`,
			func(r sdk.AuditRecord) bool {
				return r.Verdict == sdk.Deny && r.Command == "rm -rf /" && r.Outcome == sdk.Permission && r.Event == ""
			},
		},
		"a path that escapes": {
			"log://turn_1/read/a", `{"tool":"read","arguments":{"path":"../a"},"decision":{"verdict":"deny","rule":"outside","reason":"no","violation":"path_escape"}}`,
			sdk.StateFailed, sdk.Permission, `{"duration_ms":0,"error":"refused"}`,
			func(r sdk.AuditRecord) bool { return r.Event == "path_escape" },
		},
		"a sandbox violation": {
			"log://turn_1/bash/call", `{"tool":"bash","arguments":{"command":"x"},` + allow + `}`,
			sdk.StateFailed, sdk.Permission, `{"duration_ms":0,"metadata":{"exit_code":0,"violations":[{"path":".git/hooks","action":"replaced"}]}}`,
			func(r sdk.AuditRecord) bool {
				return r.Event == EventViolation && strings.Contains(r.Detail, "replaced .git/hooks")
			},
		},
		"an answered proposal": {
			"log://turn_1/bash/call", `{"tool":"bash","arguments":{"command":"x"},"proposal":{"digest":"cd34","dir":"/elsewhere","command":"x y"},"answer":{"answer":"accept","by":"cli"}}`,
			sdk.StateResolved, "", `{"duration_ms":0,"metadata":{"exit_code":0}}`,
			func(r sdk.AuditRecord) bool {
				return r.Answer == sdk.Accept && r.Digest == "cd34" && r.Dir == "/elsewhere" && r.Command == "x y"
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			run := h.run()
			h.ended(run, c.path, c.call, c.state, c.outcome, c.end)
			got := h.records(sdk.AuditQuery{})
			if len(got) != 1 {
				t.Fatalf("%d records: %+v", len(got), got)
			}
			r := got[0]
			if !c.want(r) {
				t.Errorf("%+v", r)
			}
			if r.Seq == 0 || r.Time.IsZero() || r.Run != run.Alias || r.RunID != run.ID || r.Project != h.project.Root || r.Path != c.path || r.Tool == "" || r.Dir == "" {
				t.Errorf("where it was is missing: %+v", r)
			}
		})
	}
}

// TestRecordsFilter: pages, projects, runs, times and events.
func TestRecordsFilter(t *testing.T) {
	h := newHouse(t)
	one, two := h.run(), h.run()
	for i := range 5 {
		h.ended(one, fmt.Sprintf("log://turn_%d/read/a", i+1), `{"tool":"read","arguments":{"path":"a"}}`, sdk.StateResolved, "", `{"duration_ms":1}`)
	}
	h.commit(sdk.Change{Run: two.ID, Notes: []sdk.Note{
		{Kind: sdk.KindNote + ".call", Data: map[string]any{"plugin": "p", "tool": "bash", "arguments": json.RawMessage(`{"command":"id"}`), "decision": sdk.Decision{Verdict: sdk.Deny, Rule: "r", Reason: "why"}}},
		{Kind: sdk.KindNote + ".retry", Data: map[string]any{"tool": "none"}},
	}})
	if err := h.store.Note(t.Context(), sdk.Note{Kind: KindSecurity, Data: SecurityEvent{Event: "refused_approval", Detail: "pid 7"}}); err != nil {
		t.Fatal(err)
	}
	// What is written of an action later is no second end.
	h.commit(sdk.Change{Run: one.ID, Writes: []sdk.Write{{Path: "log://turn_1/read/a", Writer: sdk.WriterSystem, Visibility: sdk.Archived}}})

	if got := h.records(sdk.AuditQuery{}); len(got) != 7 || got[5].Tool != "bash" || got[5].Command != "id" || !strings.Contains(got[5].Detail, "plugin p: why") || got[6].Event != "refused_approval" || got[6].RunID != 0 {
		t.Errorf("all: %+v", got)
	}
	if got := h.records(sdk.AuditQuery{Run: two.ID}); len(got) != 1 || got[0].Verdict != sdk.Deny {
		t.Errorf("of a run: %+v", got)
	}
	if got := h.records(sdk.AuditQuery{Events: true}); len(got) != 1 || got[0].Detail != "pid 7" {
		t.Errorf("events: %+v", got)
	}
	if got := h.records(sdk.AuditQuery{Project: h.project.ID + 1}); len(got) != 0 {
		t.Errorf("of another project: %+v", got)
	}
	if got := h.records(sdk.AuditQuery{Since: time.Now().Add(time.Hour)}); len(got) != 0 {
		t.Errorf("since later: %+v", got)
	}
	var paged []sdk.AuditRecord
	for after := int64(0); ; {
		page, next, err := Records(t.Context(), h.store, sdk.AuditQuery{After: after, Limit: 3})
		if err != nil || len(page) > 3 {
			t.Fatal(len(page), err)
		}
		if paged = append(paged, page...); next == 0 {
			break
		}
		after = next
	}
	if len(paged) != 7 {
		t.Errorf("%d records in pages", len(paged))
	}
}

// TestRecordsOfDeletedRun: what is left of an action whose entry is gone.
func TestRecordsOfDeletedRun(t *testing.T) {
	h := newHouse(t)
	run := h.run()
	h.ended(run, "log://turn_1/bash/call", `{"tool":"bash","arguments":{"command":"ls"}}`, sdk.StateResolved, "", `{"duration_ms":1}`)
	if _, err := h.store.DeleteRun(t.Context(), run.ID, "asked"); err != nil {
		t.Fatal(err)
	}
	got := h.records(sdk.AuditQuery{})
	if len(got) != 1 || got[0].Command != "ls" || got[0].Run != "" || got[0].RunID != run.ID {
		t.Errorf("%+v", got)
	}
}

// TestCommandsAreMasked is row X10 of the seeds: one record per command,
// refused ones too, with secrets masked.
func TestCommandsAreMasked(t *testing.T) {
	var r Redactor
	r.Add("canary-0123456789abcdef")
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), store.Options{Redact: &r})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.OpenProject(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "a", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, store: s}
	h.ended(run, "log://turn_1/bash/call", `{"tool":"bash","arguments":{"command":"curl -H 'X: canary-0123456789abcdef'\nid"}}`, sdk.StateFailed, sdk.Permission, `{"duration_ms":0,"error":"canary-0123456789abcdef"}`)
	h.ended(run, "log://turn_2/bash/call", `{"tool":"bash","arguments":{"command":"ls"}}`, sdk.StateResolved, "", `{"duration_ms":3,"metadata":{"exit_code":0}}`)
	got := h.records(sdk.AuditQuery{})
	if len(got) != 2 || got[0].Command != "curl -H 'X: [secret]'\nid" || got[0].Detail != Hidden || *got[1].Exit != 0 {
		t.Errorf("%+v", got)
	}
}

// TestManyRecords: a long journal is read page by page; no page is held beyond
// its time.
func TestManyRecords(t *testing.T) {
	h := newHouse(t)
	run := h.run()
	const rows, batch = 20_000, 5000
	for n := 0; n < rows; n += batch {
		c := sdk.Change{Run: run.ID}
		for i := range batch {
			c.Notes = append(c.Notes, sdk.Note{Kind: sdk.KindNote + ".call", Data: map[string]any{"plugin": "p", "tool": "t", "arguments": json.RawMessage(fmt.Sprintf(`{"n":%d}`, n+i)), "decision": sdk.Decision{Verdict: sdk.Allow}}})
		}
		h.commit(c)
	}
	begin, count, peak := time.Now(), 0, uint64(0)
	for after := int64(0); ; {
		page, next, err := Records(t.Context(), h.store, sdk.AuditQuery{After: after, Limit: mostRecords})
		if err != nil {
			t.Fatal(err)
		}
		if count += len(page); next == 0 {
			break
		}
		if after = next; count%5000 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	if count != rows || peak > 64<<20 {
		t.Errorf("%d records, %d MiB at most", count, peak>>20)
	}
	t.Logf("%d records in %v, %d MiB at most", count, time.Since(begin), peak>>20)
	begin = time.Now()
	for after := int64(0); ; {
		page, next, err := Records(t.Context(), h.store, sdk.AuditQuery{After: after, Events: true})
		if err != nil || len(page) > 0 {
			t.Fatal(len(page), err)
		}
		if next == 0 {
			break
		}
		after = next
	}
	t.Logf("no event among them in %v", time.Since(begin))
}

// notes is a store that can be slow, and full.
type notes struct {
	hold chan struct{}
	fail bool
	kept []SecurityEvent
}

func (n *notes) Note(_ context.Context, note sdk.Note) error {
	<-n.hold
	if n.fail {
		n.fail = false
		return errors.New("the disk is full")
	}
	n.kept = append(n.kept, note.Data.(SecurityEvent))
	return nil
}

// TestSecurityNeverWaits: whoever raises an event goes on at once; what had no
// room is counted.
func TestSecurityNeverWaits(t *testing.T) {
	n := &notes{hold: make(chan struct{}), fail: true}
	s := KeepSecurity(n, hclog.NewNullLogger())
	raised := 3 * mostEvents
	for range raised {
		s.Raise("wrong_token", "d")
	}
	if lost := s.Dropped(); lost < mostEvents {
		t.Errorf("%d of %d had no room", lost, raised)
	}
	close(n.hold)
	for ; s.Dropped() > 0; raised++ {
		s.Raise("wrong_token", "there is room again some time")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.Raise("wrong_token", "after the end")
	count := int64(len(n.kept)) + s.Dropped()
	for _, e := range n.kept {
		count += e.Dropped
	}
	if count != int64(raised) {
		t.Errorf("%d events are kept or counted, of %d", count, raised)
	}
}
