package hook

import (
	"context"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// TestVerdictOnlyStops: the first stop holds word for word, whoever comes
// before or after it, and nobody can hide what the turn did.
func TestVerdictOnlyStops(t *testing.T) {
	type rule = func(sdk.TurnResult) sdk.TurnResult
	stop := func(reason string) rule {
		return func(r sdk.TurnResult) sdk.TurnResult {
			r.Ruling = sdk.Ruling{Status: sdk.StatusAborted, Stop: "window", Reason: reason}
			return r
		}
	}
	loosen := func(r sdk.TurnResult) sdk.TurnResult {
		return sdk.TurnResult{Ruling: sdk.Ruling{Continue: true, Status: sdk.StatusRunning, Reason: "go on"}}
	}
	goOn := sdk.Ruling{Continue: true, Status: sdk.StatusRunning}
	answered := sdk.Ruling{Status: sdk.StatusOK, Stop: "answer", Reason: "the model answered"}
	for name, c := range map[string]struct {
		before sdk.Ruling
		rules  []rule
		want   sdk.Ruling
	}{
		"a stop":                  {goOn, []rule{stop("a")}, sdk.Ruling{Status: 499, Stop: "window", Reason: "a"}},
		"nobody objects":          {goOn, []rule{loosen}, goOn},
		"loosened behind it":      {goOn, []rule{stop("a"), loosen}, sdk.Ruling{Status: 499, Stop: "window", Reason: "a"}},
		"loosened before it":      {goOn, []rule{loosen, stop("a")}, sdk.Ruling{Status: 499, Stop: "window", Reason: "a"}},
		"the first of two":        {goOn, []rule{stop("a"), stop("b")}, sdk.Ruling{Status: 499, Stop: "window", Reason: "a"}},
		"an answer stays the end": {answered, []rule{loosen}, answered},
		"an answer is not undone": {answered, []rule{stop("a")}, answered},
	} {
		chains := New(hclog.NewNullLogger())
		for i, r := range c.rules {
			chains.TurnVerdict.On(i, "t", false, func(_ context.Context, v sdk.TurnResult) (sdk.TurnResult, error) { return r(v), nil })
		}
		var seen int
		chains.TurnVerdict.On(99, "last", false, func(_ context.Context, v sdk.TurnResult) (sdk.TurnResult, error) {
			seen = len(v.Actions)
			return v, nil
		})
		got, err := chains.TurnVerdict.Apply(t.Context(), sdk.TurnResult{Turn: 4, Actions: make([]sdk.Entry, 2), Ruling: c.before})
		if err != nil || got.Ruling != c.want || got.Turn != 4 || seen != 2 {
			t.Errorf("%s: %+v, turn %d, %d actions seen, %v; want %+v", name, got.Ruling, got.Turn, seen, err, c.want)
		}
	}
}

// TestRecordingOnlyRejects: likewise for a call that is about to be recorded.
func TestRecordingOnlyRejects(t *testing.T) {
	chains := New(hclog.NewNullLogger())
	chains.EntryRecording.On(1, "changes", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		r.Attributes = []byte(`{"arguments":{"path":"b"}}`)
		r.Tool, r.Path, r.Run, r.Loop = "other", "log://turn_9/x", 9, 9
		return r, nil
	})
	chains.EntryRecording.On(2, "rejects", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		r.State, r.Outcome, r.Body = sdk.StateCancelled, sdk.Aborted, "no"
		return r, nil
	})
	chains.EntryRecording.On(3, "loosens", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		r.State, r.Outcome, r.Body, r.Attributes = sdk.StateStreaming, "", "", nil
		return r, nil
	})
	got, err := chains.EntryRecording.Apply(t.Context(), sdk.Recording{Run: 1, Loop: 2, Tool: "read", Path: "log://turn_1/read/a", State: sdk.StateStreaming})
	if err != nil || got.State != sdk.StateCancelled || got.Body != "no" || got.By != "rejects" || string(got.Attributes) != `{"arguments":{"path":"b"}}` {
		t.Errorf("%+v, %v", got, err)
	}
	if got.Run != 1 || got.Loop != 2 || got.Tool != "read" || got.Path != "log://turn_1/read/a" {
		t.Errorf("a filter changed which call it is: %+v", got)
	}
}
