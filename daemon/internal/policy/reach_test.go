package policy

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestMountsShownToPeople(t *testing.T) {
	home, skills := "/home/bothy (read and write): /r/home", "/skills (read): /r/skills"
	for name, c := range map[string]struct {
		sandbox sdk.Sandbox
		want    []string
	}{
		"as it comes": {sdk.Sandbox{}, []string{"/workspace (read and write): /p", home, skills, "/usr (read): /usr"}},
		"private":     {sdk.Sandbox{Workspace: "private"}, []string{"/workspace (read and write): /r/workspace", home, skills, "/usr (read): /usr"}},
		"an image":    {sdk.Sandbox{Image: "tools:1"}, []string{"/workspace (read and write): /p", home, skills, "/ (read): image tools:1"}},
	} {
		if got := insideMounts(c.sandbox, "/p", "/r"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestDirShownToPeople(t *testing.T) {
	for arguments, want := range map[string]string{
		``: "/workspace", `{}`: "/workspace", `[]`: "/workspace", `{"dir":""}`: "/workspace", `{"dir":7}`: "/workspace", `{"dir":"."}`: "/workspace",
		`{"dir":"sub/a"}`: "/workspace/sub/a", `{"dir":"../etc"}`: "/etc", `{"dir":"../../.."}`: "/",
		`{"dir":"/tmp/x/"}`: "/tmp/x", `{"dir":"/workspace/../home//bothy/."}`: "/home/bothy",
	} {
		if got := insideDir(json.RawMessage(arguments)); got != want {
			t.Errorf("%s: got %s, want %s", arguments, got, want)
		}
	}
}
