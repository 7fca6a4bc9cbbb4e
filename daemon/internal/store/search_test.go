package store

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestRunsThatASearchFinds(t *testing.T) {
	f := newFixture(t)
	one := f.newRun(sdk.Run{Alias: "fix-Parser"})
	f.enqueue(one.ID, "Why does TestParseRange fail?")
	f.enqueue(one.ID, "then 100% über _all_")
	two := f.newRun(sdk.Run{Alias: "other"})
	f.enqueue(two.ID, "tidy up")
	for search, want := range map[string]string{
		"": "other fix-Parser chat-1", "parser": "fix-Parser", "PARSERANGE": "fix-Parser", "tidy": "other", "100%": "fix-Parser", "über": "fix-Parser", "_all_": "fix-Parser", "e_": "", "%": "fix-Parser", "nothing": "",
	} {
		found, err := f.Runs(t.Context(), sdk.RunFilter{Search: search})
		var names []string
		for _, r := range found {
			names = append(names, r.Alias)
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%q finds %q, want %q (%v)", search, got, want, err)
		}
	}
}
