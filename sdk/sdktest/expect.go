package sdktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// unlike says how a call ended otherwise than a test wants it to; nil when it did not. With
// fails the call has to end with this outcome, by an error or by a result without success,
// and its words have to hold want; else it has to succeed, with want for its output unless
// that is empty.
func unlike(r sdk.ToolResult, err error, want string, fails sdk.Outcome) error {
	if fails == "" {
		switch {
		case err != nil:
			return fmt.Errorf("failed: %w", err)
		case !r.Success:
			return fmt.Errorf("ended without success: %s", r.Error)
		case want != "" && r.Output != want:
			return fmt.Errorf("answered %q, want %q", r.Output, want)
		}
		return nil
	}
	if err != nil {
		r = sdk.Failed(err)
	}
	switch {
	case r.Success:
		return fmt.Errorf("succeeded with %q, want a failure with outcome %s", r.Output, fails)
	case r.Outcome != fails:
		return fmt.Errorf("failed with outcome %q, want %s: %s", r.Outcome, fails, r.Error)
	case !strings.Contains(r.Error, want) && !strings.Contains(r.Output, want):
		return fmt.Errorf("failed with %q, want %q in it", r.Error, want)
	}
	return nil
}

// lacks says which members of the JSON object want are not, or are others, in a value; nil when
// all are there. An empty want wants nothing.
func lacks(value json.RawMessage, want string) error {
	if want == "" {
		return nil
	}
	var wanted, has map[string]json.RawMessage
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		return fmt.Errorf("what is wanted is no JSON object: %w", err)
	}
	if err := json.Unmarshal(value, &has); err != nil {
		return fmt.Errorf("the value is no JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !sameJSON(has[name], wanted[name]) {
			return fmt.Errorf("%s of the value is %s, want %s", name, cmp.Or(string(has[name]), "not there"), wanted[name])
		}
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	x, err := sdk.AnyJSON(a)
	if err != nil {
		return false
	}
	y, err := sdk.AnyJSON(b)
	return err == nil && reflect.DeepEqual(x, y)
}
