package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// carriers are where changes of files stand in what is stored or sent.
var carriers = map[string]struct {
	encode func(t *rapid.T, changes []sdk.FileChange) []byte
	decode func(t *rapid.T, raw []byte) []sdk.FileChange
}{
	"a list":   {func(t *rapid.T, c []sdk.FileChange) []byte { return must(t, c) }, decoded[[]sdk.FileChange]},
	"a result": {func(t *rapid.T, c []sdk.FileChange) []byte { return must(t, answered(c)) }, func(t *rapid.T, raw []byte) []sdk.FileChange { return decoded[answer0](t, raw).Result.Changes }},
	"an entry": {func(t *rapid.T, c []sdk.FileChange) []byte { return must(t, sdk.Entry{Body: string(must(t, c))}) }, func(t *rapid.T, raw []byte) []sdk.FileChange {
		return decoded[[]sdk.FileChange](t, []byte(decoded[sdk.Entry](t, raw).Body))
	}},
	"a row in a row": {func(t *rapid.T, c []sdk.FileChange) []byte {
		return must(t, map[string]string{"data": string(must(t, map[string]string{"body": string(must(t, c))}))})
	}, func(t *rapid.T, raw []byte) []sdk.FileChange {
		data := decoded[map[string]string](t, raw)["data"]
		return decoded[[]sdk.FileChange](t, []byte(decoded[map[string]string](t, []byte(data))["body"]))
	}},
}

type answer0 struct {
	Result sdk.ToolResult `json:"result"`
}

func answered(c []sdk.FileChange) answer0 {
	return answer0{sdk.ToolResult{Success: true, Output: "written", Changes: c}}
}

func must(t *rapid.T, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoded[T any](t *rapid.T, raw []byte) (v T) {
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// TestContentsWithSecrets: whatever a file held, what tells of its change decodes
// after redaction, no secret is in it in any form, and a splice is there as it
// was or not at all.
func TestContentsWithSecrets(t *testing.T) {
	var r Redactor
	secret, binary := "canary-0123456789abcdef", "\x00\xff\x10canary\x80key"
	for _, s := range []string{secret, "c2VjcmV0LWluLWJhc2U2NC1mb3Jt", binary} {
		r.Add(s)
	}
	contents := []string{"", "plain", "\x00\x01\xfe", secret, hex.EncodeToString([]byte(secret)), encoders["base64 twice"](secret), encoders["JSON units"](secret), dumps["xxd"](secret),
		binary, "secret-in-base64-form", "offset inserted removed", `{"removed":"c2VjcmV0"}`}
	rapid.Check(t, func(t *rapid.T) {
		var changes []sdk.FileChange
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			removed := strings.Join(rapid.SliceOfN(rapid.SampledFrom(contents), 0, 3).Draw(t, "removed"), rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "between"))
			c := sdk.FileChange{Path: "a", After: &sdk.FileState{Kind: "file"}, Before: &sdk.FileState{Kind: "file"}, Undo: &sdk.Splice{Offset: 3, Inserted: 2, Removed: []byte(removed)}}
			if rapid.Bool().Draw(t, "lost") {
				c.Undo, c.Lost = nil, "it was "+removed
			}
			changes = append(changes, c)
		}
		for name, x := range carriers {
			raw := x.encode(t, changes)
			clean := r.JSON(raw)
			if r.Redact(string(clean)) != string(clean) {
				t.Fatalf("%s still holds a secret: %s", name, clean)
			}
			got := x.decode(t, clean)
			if len(got) != len(changes) {
				t.Fatalf("%s has %d changes of %d", name, len(got), len(changes))
			}
			hidden := false
			for i, c := range got {
				was := changes[i]
				switch {
				case c.Undo == nil && was.Undo != nil:
					hidden = true
					if c.Lost != lostSecret || r.isClean(was.Undo.Removed) && r.isClean(must(t, was.Undo)) {
						t.Fatalf("%s: %q was left out as %q", name, was.Undo.Removed, c.Lost)
					}
				case (c.Undo == nil) != (was.Undo == nil) || c.Undo != nil && (!bytes.Equal(c.Undo.Removed, was.Undo.Removed) || !r.isClean(c.Undo.Removed)):
					t.Fatalf("%s: %q became %q", name, was.Undo.Removed, c.Undo.Removed)
				}
				hidden = hidden || !r.isClean([]byte(was.Lost))
			}
			if !hidden && !bytes.Equal(clean, raw) {
				t.Fatalf("%s: there was nothing to hide in %s, which became %s", name, raw, clean)
			}
		}
	})
}

// TestSpliceByItself, a piece of a file, and what only looks like one.
func TestSpliceByItself(t *testing.T) {
	var r Redactor
	r.Add("canary-0123456789abcdef")
	for text, want := range map[string]string{
		`{"offset":0,"inserted":1,"removed":"Y2FuYXJ5LTAxMjM0NTY3ODlhYmNkZWY="}`:          `null`,
		`{"offset":0,"inserted":1,"removed":"canary-0123456789abcdef"}`:                   `{"inserted":1,"offset":0,"removed":"[secret]"}`,
		`{"offset":0,"inserted":1,"removed":"cGxhaW4="}`:                                  `{"offset":0,"inserted":1,"removed":"cGxhaW4="}`,
		`{"path":"a","data":"Y2FuYXJ5LTAxMjM0NTY3ODlhYmNkZWY="}`:                          `{"data":"[secret]","path":"a"}`,
		`{"path":"a","data":"cGxhaW4="}`:                                                  `{"path":"a","data":"cGxhaW4="}`,
		`{"inserted":"\u003c","removed":"x"}`:                                             `{"inserted":"\u003c","removed":"x"}`,
		strings.Repeat("[", 99) + `{"inserted":0,"removed":""}` + strings.Repeat("]", 99): strings.Repeat("[", deepest) + `"[secret]"` + strings.Repeat("]", deepest),
	} {
		if got := r.JSON(json.RawMessage(text)); string(got) != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}
