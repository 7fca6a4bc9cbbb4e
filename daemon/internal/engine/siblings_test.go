package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestSiblingsThatWrite: neighbours are at work together but where both may write the same, or commands have no copies.
func TestSiblingsThatWrite(t *testing.T) {
	writing := func(task, writes string) call {
		return call{sdk.ToolDelegate, `{"agent":"worker","task":"` + task + `"` + writes + `}`}
	}
	for name, c := range map[string]struct {
		calls   []call
		gives   Submission
		copies  bool
		unknown bool
		want    string // m a child is made, e its work ends
	}{
		"on copies":                  {[]call{writing("a", ""), writing("b", "")}, Submission{}, true, false, "mmee"},
		"without copies":             {[]call{writing("a", ""), writing("b", "")}, Submission{}, false, false, "meme"},
		"nobody knows":               {[]call{writing("a", ""), writing("b", "")}, Submission{}, false, true, "meme"},
		"a reader without copies":    {[]call{writing("a", `,"writes":[]`), writing("b", ""), writing("c", `,"writes":[]`)}, Submission{}, false, false, "mmmeee"},
		"a prompt that reads":        {[]call{writing("a", ""), writing("b", "")}, Submission{ReadOnly: true}, false, false, "mmee"},
		"a channel's":                {[]call{writing("a", ""), writing("b", "")}, Submission{Channel: true}, true, false, "meme"},
		"apart":                      {[]call{writing("a", `,"writes":["a/**"]`), writing("b", `,"writes":["b/**"]`)}, Submission{}, true, false, "mmee"},
		"a folder by its name":       {[]call{writing("a", `,"writes":["folder"]`), writing("b", `,"writes":["folder/b"]`)}, Submission{}, true, false, "meme"},
		"the first two, then others": {[]call{writing("a", `,"writes":["a/**"]`), writing("b", `,"writes":["b/**"]`), writing("c", `,"writes":["./a/"]`), writing("d", `,"writes":["d"]`)}, Submission{}, true, false, "mmeemmee"},
	} {
		t.Run(name, func(t *testing.T) {
			steps := map[string][]step{"do it": {calls(c.calls...), say("done")}}
			for _, task := range []string{"a", "b", "c", "d"} {
				steps[task] = []step{say("did " + task)}
			}
			h := asksIn(delegatingHouse(t, steps))
			if !c.unknown {
				h.access.found(sdk.Prepared{View: c.copies})
			}
			if err := os.Mkdir(filepath.Join(h.project, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			h.start()
			c.gives.Agent = "lead"
			a := h.submit(c.gives)
			if l := h.await(a); l.Stop != sdk.StopAnswer {
				t.Fatalf("the loop ended with %+v", l)
			}
			rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Kinds: []string{sdk.KindRunCreated, sdk.KindLoopEnded}})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, row := range rows {
				switch {
				case row.Run == a.Run.ID:
				case row.Kind == sdk.KindRunCreated:
					got.WriteByte('m')
				default:
					got.WriteByte('e')
				}
			}
			if got.String() != c.want {
				t.Errorf("%s, want %s", &got, c.want)
			}
		})
	}
}
