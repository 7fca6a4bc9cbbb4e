package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestReadArguments(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	}
	for _, c := range []struct {
		name, text string
		want       string // the arguments; empty when there is a fault
		fault      string // a part of it
	}{
		{"empty", "", "{}", ""},
		{"space", " \n\t", "{}", ""},
		{"object", `{"a":1}`, `{"a":1}`, ""},
		{"space around", "\n {\"a\":1} ", `{"a":1}`, ""},
		{"same key in two objects", `{"a":{"k":1},"b":{"k":2},"k":[{"k":1},{"k":2}]}`, `{"a":{"k":1},"b":{"k":2},"k":[{"k":1},{"k":2}]}`, ""},
		{"a value that equals a key", `{"a":"a","b":"a"}`, `{"a":"a","b":"a"}`, ""},
		{"depth 64", deep(64), deep(64), ""},
		{"depth 65", deep(65), "", "nested too deeply"},
		{"depth 10k of arrays", `{"a":` + strings.Repeat("[", 10_000), "", "nested too deeply"},
		{"array", `[1]`, "", "not an array"},
		{"string", `"x"`, "", "not a string"},
		{"number", `5`, "", "not a number"},
		{"bool", `true`, "", "not a boolean"},
		{"null", `null`, "", "not null"},
		{"cut", `{"command":"ls`, "", "ends too early"},
		{"cut after a comma", `{"a":1,`, "", "arguments are not"},
		{"trailing comma", `{"a":1,}`, "", "not valid JSON"},
		{"two objects", `{"a":1}{"b":2}`, "", "not valid JSON"},
		{"prose", `I will call it now`, "", "not valid JSON"},
		{"single quotes", `{'a':1}`, "", "not valid JSON"},
		{"duplicate key", `{"a":1,"a":2}`, "", `name "a" twice`},
		{"duplicate key, escaped", `{"a":1,"\u0061":2}`, "", `name "a" twice`},
		{"duplicate key inside", `{"x":[{"a":1,"a":2}]}`, "", `name "a" twice`},
		{"not UTF-8", "{\"a\":\"\xff\"}", "", "UTF-8"},
		{"10 MB", `{"a":"` + strings.Repeat("x", 10<<20) + `"}`, "", "too long"},
		{"1 MiB and no more", `{"a":"` + strings.Repeat("x", 1<<20-8) + `"}`, `{"a":"` + strings.Repeat("x", 1<<20-8) + `"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault := readArguments(c.text)
			if string(got) != c.want || (c.fault == "") != (fault == "") || !strings.Contains(fault, c.fault) {
				t.Fatalf("got %.80q, fault %.200q; want %.80q, fault %q", got, fault, c.want, c.fault)
			}
		})
	}
}

func TestReadMakesIDsUnique(t *testing.T) {
	var c sdk.Completion
	for _, id := range []string{"", "a", "a", "a_2", "", " ", "call_5", strings.Repeat("x", 300)} {
		c.Calls = append(c.Calls, sdk.Call{ID: id, Tool: "t"})
	}
	r := Tools{}.Read(c, nil)
	seen := map[string]bool{}
	for i, call := range r.Calls {
		if call.ID == "" || len(call.ID) > maxID+10 || seen[call.ID] {
			t.Errorf("call %d has id %q", i, call.ID)
		}
		seen[call.ID] = true
	}
	if r.Calls[1].ID != "a" {
		t.Errorf("a good id was changed to %q", r.Calls[1].ID)
	}
}

func TestReadCapsCalls(t *testing.T) {
	c := sdk.Completion{Calls: make([]sdk.Call, 500)}
	for i := range c.Calls {
		c.Calls[i] = sdk.Call{ID: "same", Tool: fmt.Sprint(i)}
	}
	r := Tools{}.Read(c, nil)
	if len(r.Calls) != MaxCalls || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "401 calls") {
		t.Fatalf("%d calls, warnings %q", len(r.Calls), r.Warnings)
	}
	if r.Calls[98].Tool != "98" {
		t.Fatalf("the order is not the model's: %q", r.Calls[98].Tool)
	}
}

func TestFaultKeepsTheModelsTextShort(t *testing.T) {
	r := Tools{}.Read(sdk.Completion{Calls: []sdk.Call{{Tool: "t", Arguments: strings.Repeat("é", 1<<20)}}}, nil)
	if got := r.Calls[0]; got.Fault == "" || len(got.Raw) > kept+100 || got.Arguments != nil {
		t.Fatalf("fault %.80q, %d bytes kept", got.Fault, len(got.Raw))
	}
}

// holds checks what must be true of every reading.
func holds(t interface {
	Helper()
	Fatalf(string, ...any)
}, c sdk.Completion, r sdk.Reading) {
	t.Helper()
	if len(r.Calls) != min(len(c.Calls), MaxCalls) {
		t.Fatalf("%d calls became %d", len(c.Calls), len(r.Calls))
	}
	if len(r.Calls) < len(c.Calls) && len(r.Warnings) == 0 {
		t.Fatalf("calls went without a warning")
	}
	ids := map[string]bool{}
	for i, call := range r.Calls {
		if call.ID == "" || ids[call.ID] {
			t.Fatalf("id %q is empty or not unique", call.ID)
		}
		ids[call.ID] = true
		if call.Tool != c.Calls[i].Tool {
			t.Fatalf("call %d is of %q, want %q", i, call.Tool, c.Calls[i].Tool)
		}
		var object map[string]any
		usable := json.Unmarshal(call.Arguments, &object) == nil && object != nil
		if usable != (call.Fault == "") {
			t.Fatalf("arguments %.80q with fault %q", call.Arguments, call.Fault)
		}
	}
}

func TestReadHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sdk.Completion{Calls: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sdk.Call {
			return sdk.Call{
				ID:        rapid.SampledFrom([]string{"", "a", "b", "call_1", "call_2", "a_2", "\x00"}).Draw(t, "id"),
				Tool:      rapid.String().Draw(t, "tool"),
				Arguments: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"{}", `{"a":1}`, `{"a":1,"a":1}`, "null", "["})).Draw(t, "arguments"),
			}
		}), 0, 120).Draw(t, "calls")}
		holds(t, c, Tools{}.Read(c, nil))
	})
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1}`, `{"a":1,"a":2}`, "[", `{"a":{"b":[1,2,{"c":null}]}}`, `"x"`, "{\"\xff\":1}", `{"a":1}{`} {
		f.Add("id", "bash", s, "id")
	}
	f.Fuzz(func(t *testing.T, id, tool, arguments, other string) {
		c := sdk.Completion{Calls: []sdk.Call{{ID: id, Tool: tool, Arguments: arguments}, {ID: other, Tool: tool, Arguments: other}}}
		r := Tools{}.Read(c, nil)
		holds(t, c, r)
		if r.Calls[0].Fault == "" && !bytes.Equal(bytes.TrimSpace([]byte(arguments)), r.Calls[0].Arguments) && strings.TrimSpace(arguments) != "" {
			t.Fatalf("usable arguments were changed: %q to %q", arguments, r.Calls[0].Arguments)
		}
	})
}

// BenchmarkRead shows that the cost is linear: the time for a byte must not grow.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 15, 1 << 20} {
		arguments := `{"list":[` + strings.TrimSuffix(strings.Repeat(`{"a":"b"},`, size/10-2), ",") + `]}`
		c := sdk.Completion{Calls: []sdk.Call{{ID: "a", Tool: "t", Arguments: arguments}}}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(arguments)))
			for b.Loop() {
				Tools{}.Read(c, nil)
			}
		})
	}
}
