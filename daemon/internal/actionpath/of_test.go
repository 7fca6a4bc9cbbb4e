package actionpath

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// spec: wrong_slug_cut
func TestOf(t *testing.T) {
	redact := func(s string) string {
		return strings.NewReplacer("hunter2", "hidden", "hunt_er2", "hidden").Replace(s)
	}
	for name, c := range map[string]struct {
		tool, arguments, want string
	}{
		"a path":              {"read_file", `{"path":"src/main.go"}`, "read_file/src_main.go"},
		"a source":            {"mv", `{"source":"known://a","target":"known://b"}`, "mv/known_a"},
		"a name":              {"skill", `{"name":"tidy"}`, "skill/tidy"},
		"the path is first":   {"grep", `{"name":"n","path":"src"}`, "grep/src"},
		"a command":           {"bash", `{"command":"curl -H token:s3cr3t"}`, "bash/call"},
		"a command and a dir": {"bash", `{"command":"s3cr3t","dir":"src"}`, "bash/call"},
		"a pattern":           {"grep", `{"pattern":"s3cr3t"}`, "grep/call"},
		"a query":             {"search", `{"query":"s3cr3t"}`, "search/call"},
		"an address":          {"fetch", `{"url":"https://u:s3cr3t@example.org/"}`, "fetch/call"},
		"no arguments":        {"read", ``, "read/call"},
		"no text":             {"read", `{"path":7}`, "read/call"},
		"nothing that fits":   {"read", `{"path":"../.."}`, "read/call"},
		"a secret":            {"hunter2", `{"path":"notes/hunter2.txt"}`, "hidden/notes_hidden.txt"},
		"one made by cutting": {"read", `{"path":"hunt er2"}`, "read/call"},
		"a name for failures": {"error", `{"path":"a"}`, "unknown/a"},
		"one that is cut":     {"read", `{"path":"` + strings.Repeat("a", 39) + `\ud83d\ude00b"}`, "read/" + strings.Repeat("a", 39)},
		"half of a character": {"read", `{"path":"a\ud83d"}`, "read/a"},
		"only such":           {"read", `{"path":"\ud83d\ude00"}`, "read/call"},
	} {
		t.Run(name, func(t *testing.T) {
			call := sdk.ReadCall{Tool: c.tool, Arguments: json.RawMessage(c.arguments)}
			taken := map[string]bool{}
			for _, suffix := range []string{"", "_2", "_3"} {
				if got, want := Of(3, call, taken, redact), "log://turn_3/"+c.want+suffix; got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
}
