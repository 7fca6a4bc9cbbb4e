package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// cut is a call of a run that keeps its attempts.
func (s staging) cut(runDir, id, name string, arguments object) sdk.Invocation {
	call := s.call(name, arguments, "")
	call.RunDir, call.CallID = runDir, id
	return call
}

func (s staging) made(call sdk.Invocation) sdk.ToolResult {
	s.t.Helper()
	got, err := s.client.Invoke(context.Background(), call, nowhere{s.t})
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// TestCutShort: what a call did whose end nobody heard is told when it is asked about or asked for again, with all that takes it
// back, and is not done twice.
func TestCutShort(t *testing.T) {
	for name, c := range map[string]struct {
		tool      string
		arguments object
		path      string
		changes   int
	}{
		"a new file":    {"write_file", object{"path": "p/n", "content": "new\n"}, "p/n", 2},
		"a file anew":   {"write_file", object{"path": "a", "content": "other\n"}, "a", 1},
		"an edit":       {"edit_file", object{"path": "a", "old_text": "two", "new_text": "two two"}, "a", 1},
		"markers":       {"edit_file", object{"path": "a", "old_text": "", "new_text": "<<APPEND\nthree\nAPPEND"}, "a", 1},
		"a new one so":  {"edit_file", object{"path": "p/n", "old_text": "", "new_text": "<<APPEND\nthree\nAPPEND"}, "p/n", 2},
		"nothing to do": {"write_file", object{"path": "a", "content": "one\ntwo\n"}, "a", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStaging(t, map[string]string{"a": "one\ntwo\n"})
			dir := filepath.Join(t.TempDir(), "runs", "key")
			call := s.cut(dir, "call", c.tool, c.arguments)
			if _, err := s.client.Settle(context.Background(), call); sdk.OutcomeOf(err) != sdk.Interrupted {
				t.Errorf("before it is made: %v", err)
			}
			first := s.made(call)
			if !first.Success || len(first.Changes) != c.changes {
				t.Fatalf("%+v", first)
			}
			text := s.get(c.path)
			settled, err := s.client.Settle(context.Background(), call)
			if err != nil || !reflect.DeepEqual(settled.Changes, first.Changes) || !settled.Success || settled.Structured == nil {
				t.Errorf("it came to %+v, %v, and did %+v", settled, err, first)
			}
			again := s.made(call)
			if !reflect.DeepEqual(again.Changes, first.Changes) || !again.Success || s.get(c.path) != text {
				t.Errorf("again it is %+v, and was %+v; the file has %q", again, first, s.get(c.path))
			}
			s.put(c.path, "somebody else's\n")
			if r, err := s.client.Settle(context.Background(), call); sdk.OutcomeOf(err) != sdk.Interrupted {
				t.Errorf("when somebody changed it: %+v, %v", r, err)
			}
		})
	}
}

// TestNotYetMade: a call that was cut short before its file was written did nothing, and says so.
func TestNotYetMade(t *testing.T) {
	s := newStaging(t, map[string]string{"a": "one\n"})
	dir := filepath.Join(t.TempDir(), "runs", "key")
	call := s.cut(dir, "call", "edit_file", object{"path": "a", "old_text": "one", "new_text": "two"})
	if err := attemptsOf(call).keep(attempt{Path: "a", Before: hashOf("one\n"), After: hashOf("two\n")}); err != nil {
		t.Fatal(err)
	}
	r, err := s.client.Settle(context.Background(), call)
	if err != nil || r.Success || r.Outcome != sdk.Interrupted || len(r.Changes) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r = s.made(call); !r.Success || s.get("a") != "two\n" {
		t.Errorf("%+v", r)
	}
}

// TestFewAttemptsAreKept, and of damaged ones nothing is believed.
func TestFewAttemptsAreKept(t *testing.T) {
	s := newStaging(t, map[string]string{})
	dir := filepath.Join(t.TempDir(), "runs", "key")
	var call sdk.Invocation
	for n := range 3 * mostAttempts {
		call = s.cut(dir, fmt.Sprint(n), "write_file", object{"path": "a", "content": fmt.Sprint(n)})
		s.made(call)
	}
	kept := attemptsOf(call)
	if names, err := os.ReadDir(kept.dir); err != nil || len(names) != mostAttempts {
		t.Errorf("%d are kept, %v", len(names), err)
	}
	if _, err := kept.kept(); err != nil {
		t.Errorf("the last is not: %v", err)
	}
	if err := os.WriteFile(filepath.Join(kept.dir, kept.call), []byte(`{"path":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := s.client.Settle(context.Background(), call); sdk.OutcomeOf(err) != sdk.Interrupted {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestWhatCannotBeKeptIsNotMade, and of what keeps nothing nobody knows.
func TestWhatCannotBeKeptIsNotMade(t *testing.T) {
	s := newStaging(t, map[string]string{"a": "one\n"})
	dir := filepath.Join(t.TempDir(), "runs", "key")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "attempts"), nil, 0o600); err != nil { // where the folder would be
		t.Fatal(err)
	}
	if r := s.made(s.cut(dir, "call", "edit_file", object{"path": "a", "old_text": "one", "new_text": "two"})); r.Success || s.get("a") != "one\n" {
		t.Errorf("%+v", r)
	}
	if r, err := s.client.Settle(context.Background(), s.cut(filepath.Join(t.TempDir(), "runs", "key"), "other", "delete_path", object{"path": "a"})); sdk.OutcomeOf(err) != sdk.Interrupted {
		t.Errorf("%+v, %v", r, err)
	}
}
