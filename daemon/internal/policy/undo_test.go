package policy

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestMayUndoTheProjectsFolder: undo may give the project's own folder its mode back,
// and neither removes it nor touches what lies above it.
func TestMayUndoTheProjectsFolder(t *testing.T) {
	l := Live{Written: func(string) Settings { return Settings{} }}
	for _, c := range []struct {
		path    string
		removes bool
		may     bool
	}{{".", false, true}, {".", true, false}, {"..", false, false}, {"a", false, true}, {".git/config", false, false}} {
		if err := l.MayUndo("/p", c.path, c.removes); (err == nil) != c.may || err != nil && sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s, removes %v: %v", c.path, c.removes, err)
		}
	}
}
