package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// modelEntry is what a run should see at a path.
type modelEntry struct {
	body, stream string
	attributes   map[string]any
	state        sdk.State
	outcome      sdk.Outcome
	phase        sdk.Phase
	visibility   sdk.Visibility
	writer       sdk.Writer
	version      int
}

// modelRun is a run as a plain map, with the order of first appearance.
type modelRun struct {
	order   []string
	entries map[string]modelEntry
}

func (r *modelRun) clone() *modelRun {
	return &modelRun{slices.Clone(r.order), maps.Clone(r.entries)}
}

// fork keeps what has ended. Attributes are never changed in place, so the
// entries themselves can be shared.
func (r *modelRun) fork() *modelRun {
	c := &modelRun{entries: map[string]modelEntry{}}
	for _, path := range r.order {
		if e := r.entries[path]; e.state.Ended() {
			c.order = append(c.order, path)
			c.entries[path] = e
		}
	}
	return c
}

// apply does one write, or tells the outcome it is refused with.
func (r *modelRun) apply(w sdk.Write) sdk.Outcome {
	e, there := r.entries[w.Path]
	switch {
	case strings.HasPrefix(w.Path, "known://") && w.Writer == sdk.WriterSystem, strings.HasPrefix(w.Path, "log://") && w.Writer == sdk.WriterClient:
		return sdk.Permission
	case w.Create && there, w.Expect != "" && e.phase != w.Expect:
		return sdk.Conflict
	case (w.Remove || w.Chunk != nil) && !there:
		return sdk.NotFound
	case w.Chunk != nil && e.state != sdk.StateStreaming:
		return sdk.Conflict
	case w.Remove:
		delete(r.entries, w.Path)
		r.order = slices.DeleteFunc(r.order, func(p string) bool { return p == w.Path })
		return ""
	case w.Chunk != nil:
		e.stream += w.Chunk.Text
		r.entries[w.Path] = e
		return ""
	}
	if !there {
		e = modelEntry{state: sdk.StateResolved, visibility: sdk.Visible}
		r.order = append(r.order, w.Path)
	}
	e.version++
	e.writer = w.Writer
	if w.State != "" {
		e.state, e.outcome = w.State, w.Outcome
	} else if w.Outcome != "" {
		e.outcome = w.Outcome
	}
	if w.Phase != "" {
		e.phase = w.Phase
	}
	if w.Visibility != "" {
		e.visibility = w.Visibility
	}
	if w.Body != nil {
		e.body, e.stream = *w.Body, ""
	}
	if e.state != sdk.StateStreaming {
		e.body, e.stream = e.body+e.stream, ""
	}
	if w.Attributes != nil {
		var patch map[string]any
		if err := json.Unmarshal(w.Attributes, &patch); err != nil {
			panic(err)
		}
		all := maps.Clone(e.attributes)
		if all == nil {
			all = map[string]any{}
		}
		for k, v := range patch {
			if all[k] = v; v == nil {
				delete(all, k)
			}
		}
		e.attributes = all
	}
	r.entries[w.Path] = e
	return ""
}

func drawWrite(t *rapid.T) sdk.Write {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	w := sdk.Write{
		Path:   pick("path", "known://a", "known://b", "log://turn_1/x/1", "log://turn_1/x/2"),
		Writer: sdk.Writer(pick("writer", "model", "plugin", "model", "plugin", "system", "client")),
	}
	switch pick("kind", "set", "set", "set", "set", "chunk", "chunk", "remove") {
	case "chunk":
		w.Chunk = &sdk.Chunk{Channel: rapid.IntRange(1, 2).Draw(t, "channel"), Text: rapid.String().Draw(t, "text")}
		return w
	case "remove":
		w.Remove = true
		return w
	}
	if rapid.Bool().Draw(t, "with body") {
		w.Body = body(rapid.String().Draw(t, "body"))
	}
	if rapid.Bool().Draw(t, "with attributes") {
		patch := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			var v any = rapid.IntRange(0, 3).Draw(t, "value")
			switch v {
			case 0:
				v = nil
			case 1:
				v = strings.Repeat("long ", 30)
			}
			patch[pick("member", "p", "q", "r")] = v
		}
		w.Attributes, _ = json.Marshal(patch)
	}
	w.State = sdk.State(pick("state", "", "", "streaming", "streaming", "resolved", "failed", "proposed"))
	if w.State == sdk.StateFailed {
		w.Outcome = sdk.Timeout
	}
	w.Phase = sdk.Phase(pick("phase", "", "", "recorded", "started"))
	w.Visibility = sdk.Visibility(pick("visibility", "", "", "visible", "archived"))
	w.Create = rapid.IntRange(0, 5).Draw(t, "create") == 0
	if rapid.IntRange(0, 5).Draw(t, "expects") == 0 {
		w.Expect = sdk.Phase(pick("expect", "recorded", "started"))
	}
	return w
}

// A random sequence of changes, forks and reopenings does what plain maps do,
// and the chain verifies after each.
// spec: known_store upsert_semantics
func TestStoreIsAMapWithAJournal(t *testing.T) {
	dir := memoryDir(t)
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(folder, "bothy.db")
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				rt.Fatal(err)
			}
		}()
		p, err := s.OpenProject(t.Context(), "/p")
		if err != nil {
			rt.Fatal(err)
		}
		model := map[int64]*modelRun{}
		var runs []int64
		start := func(parent int64) {
			r, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Parent: parent})
			if err != nil {
				rt.Fatal(err)
			}
			runs = append(runs, r.ID)
			if model[r.ID] = (&modelRun{entries: map[string]modelEntry{}}); parent != 0 {
				model[r.ID] = model[parent].fork()
			}
		}
		start(0)
		aRun := rapid.Custom(func(t *rapid.T) int64 { return rapid.SampledFrom(runs).Draw(t, "run") })
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				if err := s.Verify(t.Context(), 0); err != nil {
					rt.Fatal(err)
				}
				for id, want := range model {
					compare(rt, s, id, want)
				}
			},
			"change": func(rt *rapid.T) {
				run := aRun.Draw(rt, "run")
				next, c := model[run].clone(), sdk.Change{Run: run}
				var want sdk.Outcome
				for range rapid.IntRange(1, 3).Draw(rt, "writes") {
					w := drawWrite(rt)
					c.Writes = append(c.Writes, w)
					if want == "" {
						want = next.apply(w)
					}
				}
				before := s.Seq()
				receipt, err := s.Commit(t.Context(), c)
				switch {
				case want == "" && err == nil:
					model[run] = next
					if receipt.Seq != s.Seq() || s.Seq() < before+int64(len(c.Writes)) {
						rt.Fatalf("receipt %d, seq %d after %d", receipt.Seq, s.Seq(), before)
					}
				case want == "" || err == nil || sdk.OutcomeOf(err) != want:
					rt.Fatalf("outcome of %+v: %v, want %q", c.Writes, err, want)
				case s.Seq() != before:
					rt.Fatal("a refused change was told")
				}
			},
			"fork": func(rt *rapid.T) {
				if len(runs) > 3 {
					rt.Skip("enough runs")
				}
				start(aRun.Draw(rt, "parent"))
			},
			"reopen": func(rt *rapid.T) {
				if rapid.IntRange(0, 3).Draw(rt, "really") > 0 {
					return
				}
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = Open(t.Context(), path, Options{}); err != nil {
					rt.Fatal(err)
				}
			},
		})
	})
}

func compare(t *rapid.T, s *Store, run int64, want *modelRun) {
	all, err := s.Entries(t.Context(), sdk.EntryQuery{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, describe(t, e))
		if one, err := s.Entry(t.Context(), run, e.Path); err != nil || describe(t, one) != describe(t, e) || one.Hash != e.Hash {
			t.Fatalf("Entry says %+v, Entries %+v (%v)", one, e, err)
		}
	}
	var wanted []string
	for _, path := range want.order {
		e := want.entries[path]
		attributes, err := json.Marshal(e.attributes)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.attributes) == 0 {
			attributes = nil
		}
		wanted = append(wanted, fmt.Sprintf("%s %q %s %s %s %s %s %s %d", path, e.body+e.stream, attributes, e.state, e.outcome, e.phase, e.visibility, e.writer, e.version))
	}
	if !slices.Equal(got, wanted) {
		t.Fatalf("run %d holds\n%s\nwant\n%s", run, strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

func describe(_ *rapid.T, e sdk.Entry) string {
	return fmt.Sprintf("%s %q %s %s %s %s %s %s %d", e.Path, e.Body, e.Attributes, e.State, e.Outcome, e.Phase, e.Visibility, e.Writer, e.Version)
}
