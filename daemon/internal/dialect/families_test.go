package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// TestFamiliesOfModels: one conversation in the habits of each family comes to the same calls, step by step.
func TestFamiliesOfModels(t *testing.T) {
	want := []string{"get greet.py", "set greet.py\nset known://greeting", "update "}
	files, err := filepath.Glob("testdata/families/*.json")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := cassette.Read(f)
		_ = f.Close() // it was only read
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for i, step := range c.Steps {
			var calls []string
			for _, call := range (Tags{}).Read(sdk.Completion{Text: step.Events[0].Text}, twelveOffered).Calls {
				var at struct{ Path, Body string }
				if err := json.Unmarshal(call.Arguments, &at); err != nil || call.Fault != "" {
					t.Errorf("%s, step %d: %s %s: %v", file, i+1, call.Tool, call.Fault, err)
				}
				if at.Path == "greet.py" && call.Tool == "set" && strings.TrimSpace(at.Body) != "def greet(name):\n    return \"Hello \" + name + \"!\"" {
					t.Errorf("%s writes %q", file, at.Body)
				}
				if call.Tool != "think" {
					calls = append(calls, call.Tool+" "+at.Path)
				}
			}
			if got := strings.Join(calls, "\n"); i >= len(want) || got != want[i] {
				t.Errorf("%s, step %d: %q", file, i+1, got)
			}
		}
	}
}
