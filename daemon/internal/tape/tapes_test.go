package tape

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// TestLinesOfARecording: a turn that was asked again counts once, and a recording with a
// hole is none.
func TestLinesOfARecording(t *testing.T) {
	line := func(turn int, text string) string {
		raw, _ := json.Marshal(Line{Turn: turn, Model: "m", Step: cassette.NewStep([]sdk.Message{{Role: sdk.RoleUser, Text: "go"}}, sdk.Completion{Text: text}, nil)})
		return string(raw) + "\n"
	}
	for name, c := range map[string]struct{ lines, steps, says string }{
		"whole":          {line(1, "a") + line(2, "b"), "ab", ""},
		"asked again":    {line(1, "a") + line(2, "half") + line(2, "b") + line(3, "c"), "abc", ""},
		"a hole":         {line(1, "a") + line(3, "c"), "", "turn 2 could not be recorded"},
		"no beginning":   {line(2, "b"), "", "turn 1 could not be recorded"},
		"half a line":    {line(1, "a") + `{"turn":2,"st`, "", "cannot be read"},
		"another thing":  {`{"turn":-1}`, "", "turn 1 could not"},
		"nothing at all": {"", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "lines")
		if err := os.WriteFile(path, []byte(c.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := lines(path)
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		steps := ""
		for _, s := range got.Steps {
			steps += s.Events[0].Text
		}
		if err == nil && steps != c.steps {
			t.Errorf("%s: %q, want %q", name, steps, c.steps)
		}
	}
}

// TestAnAnswerIsMissing: what is recorded is compared with the answers that came.
func TestAnAnswerIsMissing(t *testing.T) {
	turns := []sdk.Turn{{Finish: "calls"}, {Finish: "calls"}, {Finish: "stop"}, {}}
	for steps, all := range map[int]bool{2: false, 3: true} {
		if err := whole(turns, steps); (err == nil) != all {
			t.Errorf("%d steps of 3 answers: %v", steps, err)
		}
	}
}
