package sent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// plain takes no secret out.
func plain(text string) string { return text }

// Two lists of messages that are not the same have two hashes, however their texts could run into each other.
func TestHashTellsMessagesApart(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "a", "b", "ab", "1:a,", "0:,", "user", "tool"})
	message := rapid.Custom(func(t *rapid.T) sdk.Message {
		m := sdk.Message{Role: sdk.Role(word.Draw(t, "role")), Text: word.Draw(t, "text"), Reasoning: word.Draw(t, "reasoning"), CallID: word.Draw(t, "id"), Tool: word.Draw(t, "tool"), Failed: rapid.Bool().Draw(t, "failed")}
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			m.Calls = append(m.Calls, sdk.Call{ID: word.Draw(t, "call"), Tool: word.Draw(t, "of"), Arguments: word.Draw(t, "arguments")})
		}
		return m
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SliceOfN(message, 0, 3).Draw(rt, "a"), rapid.SliceOfN(message, 0, 3).Draw(rt, "b")
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		same := string(x) == string(y) || len(a)+len(b) == 0
		if (Hash("", a) == Hash("", b)) != same {
			rt.Fatalf("%s and %s", x, y)
		}
		if Hash("be kind", a) != Hash("", append([]sdk.Message{{Role: sdk.RoleSystem, Text: "be kind"}}, a...)) {
			rt.Fatal("the system text is not the first message")
		}
	})
}

// The hash is of netstrings, which anybody can make.
func TestHashOfOneMessage(t *testing.T) {
	want := sha256.Sum256([]byte("4:user,2:hi,0:,1:0,0:,0:,5:false,1:0,0:,"))
	if got := Hash("", []sdk.Message{{Role: sdk.RoleUser, Text: "hi", Skill: "which is not sent"}}); got != hex.EncodeToString(want[:]) {
		t.Errorf("%s, want %x", got, want)
	}
}

// having is a run with entries.
type having []sdk.Entry

func (h having) Entries() []sdk.Entry { return h }
func (h having) Find(path string) (sdk.Entry, bool) {
	i := slices.IndexFunc(h, func(e sdk.Entry) bool { return e.Path == path })
	if i < 0 {
		return sdk.Entry{}, false
	}
	return h[i], true
}

// A text is written once; the system text again where another one came between, without its body.
func TestTextsAreKeptOncePerDigest(t *testing.T) {
	tools := []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "read", Parameters: json.RawMessage(`{}`)}}}
	var run having
	take := func(turn int, system, skills string) (names []string) {
		r := Begin(int64(turn), &sdk.Assembly{Skills: skills})
		r.Out(&sdk.Prompt{System: system, Tools: tools}, 10, nil, plain)
		notes, writes := r.Take(run, sdk.SystemText{Instructions: []sdk.SystemInstructions{{File: "AGENTS.md"}}}, 1, turn)
		if len(notes) != 1 || notes[0].Kind != sdk.KindNoteSent || notes[0].Turn != turn {
			t.Fatalf("%+v", notes)
		}
		if again, _ := r.Take(run, sdk.SystemText{}, 1, turn); again != nil {
			t.Error("what went out is told twice")
		}
		for _, w := range writes {
			e := sdk.Entry{Path: w.Path, Attributes: w.Attributes, Turn: w.Turn}
			if i := slices.IndexFunc(run, func(e sdk.Entry) bool { return e.Path == w.Path }); i >= 0 {
				if w.Body != nil {
					t.Errorf("the body of %s is written again", w.Path)
				}
				run[i] = e
			} else {
				run = append(run, e)
			}
			names = append(names, sdk.SchemeOf(w.Path))
		}
		return names
	}
	for i, c := range []struct {
		system, skills string
		want           []string
	}{
		{"one", "", []string{"system", "tools"}},
		{"one", "one", nil}, // the system text has it
		{"two", "a skill", []string{"system", "system"}},
		{"one", "a skill", []string{"system"}},
		{"one", "", nil},
		{"", "", nil},
	} {
		if got := take(i+1, c.system, c.skills); !slices.Equal(got, c.want) {
			t.Errorf("turn %d writes %v, want %v", i+1, got, c.want)
		}
	}
	var none *Request
	if notes, writes := none.Take(run, sdk.SystemText{}, 1, 9); notes != nil || writes != nil {
		t.Error("a turn in which nobody was asked tells something")
	}
}

func TestRenderedPaths(t *testing.T) {
	for path, want := range map[string]int{
		"system://3": 3, "user://12": 12, "reasoning://1": 1, "model://7": 7, "content://2": 2,
		"system://0": 0, "system://03": 0, "user://-1": 0, "assistant://3": 0, "user://x": 0, "system://3/x": 0, "known://3": 0, "3": 0,
		"system://" + digest("x"): 0,
	} {
		if _, turn, is := Rendered(path); is != (want > 0) || is && turn != want {
			t.Errorf("%s: %d %v", path, turn, is)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	messages := []sdk.Message{{Role: sdk.RoleUser, Text: string(make([]byte, 4<<20))}}
	b.SetBytes(4 << 20)
	for b.Loop() {
		Hash("", messages)
	}
}
