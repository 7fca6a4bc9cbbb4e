package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestFailureIsForPeople: what Go says of an ended context reaches nobody.
func TestFailureIsForPeople(t *testing.T) {
	for _, c := range []struct {
		err     error
		outcome sdk.Outcome
		message string
	}{
		{context.Canceled, sdk.Aborted, "the call was aborted"},
		{fmt.Errorf("read a: %w", context.Canceled), sdk.Aborted, "read a: aborted"},
		{context.DeadlineExceeded, sdk.Timeout, "the call ran out of time"},
		{sdk.Errorf(sdk.Conflict, "wait: %w", context.DeadlineExceeded), sdk.Conflict, "wait: out of time"},
		{errors.New("no context canceled here"), sdk.Internal, "no context canceled here"},
	} {
		f := Failure(c.err)
		if f.GetOutcome() != string(c.outcome) || f.GetMessage() != c.message {
			t.Errorf("%v became %s: %s", c.err, f.GetOutcome(), f.GetMessage())
		}
	}
	if Failure(nil) != nil {
		t.Error("no error became a failure")
	}
}

// TestResultsComeBack: what a result says of changes and of the call behind it crosses the wire whole.
func TestResultsComeBack(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for name, r := range map[string]sdk.ToolResult{
		"nothing": {Success: true, Output: "done"},
		"changes": {Success: true, Changes: []sdk.FileChange{{
			Path: "a", Before: &sdk.FileState{Kind: "file", Mode: 0o644, Hash: digest}, After: &sdk.FileState{Kind: "file", Hash: "cd"}, Kept: digest,
		}}},
		"brings":       {Success: true, Writes: []sdk.Write{{Path: "https://a", Body: new("b"), Attributes: []byte(`{"c":1}`), Visibility: sdk.Archived}}},
		"many changes": {Success: true, ChangesKept: digest, Told: true},
		"a call":       {Success: true, Follow: &sdk.FollowUp{Tool: "apply", Arguments: json.RawMessage(`{"paths":[{"path":".envrc"}]}`), Otherwise: "not applied"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, failure := Ended(r, nil)
			got, err := End(m, failure)
			if err != nil || !reflect.DeepEqual(got, r) {
				t.Errorf("%+v became %+v, %v", r, got, err)
			}
		})
	}
	if _, failure := Ended(sdk.ToolResult{Follow: &sdk.FollowUp{Tool: "apply", Arguments: json.RawMessage(`{`)}}, nil); failure == nil {
		t.Error("arguments that are no JSON got through")
	}
}
