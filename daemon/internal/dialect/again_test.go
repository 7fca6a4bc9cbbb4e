package dialect

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/reply"
	"github.com/bothyd/bothy/sdk"
)

// twelveOffered are tools by the names of the twelve.
var twelveOffered = func() (all []sdk.Tool) {
	for _, name := range []string{"get", "set", "sh", "update", "think", "rm"} {
		all = append(all, sdk.Tool{Plugin: sdk.OwnPlugin, ToolSpec: sdk.ToolSpec{Name: name}})
	}
	return all
}()

// recorded is an answer as the store has it, redacted, with the calls that were read in it.
func recorded(r *audit.Redactor, text string, calls []sdk.ReadCall) sdk.Completion {
	kept := sdk.Reply{Found: reply.Found(text, calls)}
	ends := kept.Places()
	places := make([]int, len(ends))
	for i, end := range ends {
		places[i] = *end
	}
	clean, moved := r.RedactAround(text, places)
	for i, end := range ends {
		*end = moved[i]
	}
	return sdk.Completion{Text: clean, Found: append([]sdk.FoundCall{}, kept.Found...)}
}

// TestRedactionChangesNeitherNumberNorBordersOfCalls: an answer that was redacted has the calls that it had, in their order, and each
// is either what it was, or holds the mark of what was hidden, or says that it cannot be read again.
func TestRedactionChangesNeitherNumberNorBordersOfCalls(t *testing.T) {
	secrets := []string{"hunter2hunter2", "</set>\n<get", "p`w\nd`\"x", "path=\"a\"/><", "1234567890123", "\n```\nyes", "<<EOF\nA"}
	r := &audit.Redactor{}
	for _, s := range secrets {
		r.Add(s)
	}
	piece := rapid.SampledFrom(append([]string{
		"<get path=\"a\"/>", "<get>", "</get>", "<set path=\"b\">", "</set>", "<sh>", "</sh>", "echo ", "<update status=\"200\">", "</update>", "`", "\n", "\n```\n",
		"<rm path=a line=1234567890123/>", `{"name":"get","arguments":{"path":"hunter2hunter2","line":1234567890123}}`, "<<EOF\n", "\nEOF\n", strings.Repeat("long ", 40),
		"[TOOL_CALLS] [{\"name\":\"get\",\"arguments\":{\"path\":\"x\"}},{\"name\":\"rm\",\"arguments\":{\"path\":\"y\"}}]", "ä",
	}, secrets...))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 14).Draw(t, "text"), "")
		before := Tags{}.Read(sdk.Completion{Text: text}, twelveOffered)
		kept := recorded(r, text, before.Calls)
		offered, gone := twelveOffered, rapid.Bool().Draw(t, "a tool is gone")
		if gone {
			offered = offered[1:]
		}
		after := Tags{}.Read(kept, offered)
		if len(after.Calls) != len(before.Calls) {
			t.Fatalf("%d calls of %q are %d of %q", len(before.Calls), text, len(after.Calls), kept.Text)
		}
		end := 0
		for i, call := range after.Calls {
			was, at := before.Calls[i], kept.Found[i].At
			now, ok := at.Of(kept.Text)
			if call.ID != was.ID || call.Tool != was.Tool || call.At != at || !ok || at.Empty() || at.Start < end && at != kept.Found[i-1].At {
				t.Fatalf("call %d of %q is %+v at %v of %q", i+1, text, call, at, kept.Text)
			}
			end = at.End
			hidden := strings.Contains(now, audit.Hidden)
			if whole := text[was.At.Start:was.At.End]; !hidden && now != whole {
				t.Fatalf("%q is %q now", whole, now)
			}
			if call.Fault == "" && !hidden && !gone && !bytes.Equal(call.Arguments, was.Arguments) {
				t.Fatalf("%s of %q became %s of %q", was.Arguments, text, call.Arguments, kept.Text)
			}
		}
	})
}

// TestAnAnswerThatLostNothingReadsAsItDid, whichever tools are offered beside those that it called.
func TestAnAnswerThatLostNothingReadsAsItDid(t *testing.T) {
	text := "I look.\n<get path=\"a\"/>\n<set path=\"b\">\n" + strings.Repeat("x <get/> y\n", 30) + "</set>\n[TOOL_CALLS] [{\"name\":\"get\",\"arguments\":{\"path\":\"x\"}},{\"name\":\"get\",\"arguments\":{\"path\":\"y\"}}]"
	before := Tags{}.Read(sdk.Completion{Text: text}, twelveOffered)
	if len(before.Calls) != 4 {
		t.Fatalf("%d calls", len(before.Calls))
	}
	after := Tags{}.Read(recorded(&audit.Redactor{}, text, before.Calls), append(slices.Clip(twelveOffered), sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "I"}}))
	for i, call := range after.Calls {
		if was := before.Calls[i]; call.Fault != "" || !bytes.Equal(call.Arguments, was.Arguments) || call.ID != was.ID {
			t.Errorf("call %d is %+v", i+1, call)
		}
	}
	gone := Tags{}.Read(recorded(&audit.Redactor{}, text, before.Calls), twelveOffered[1:])
	for i, call := range gone.Calls {
		if lost := before.Calls[i].Tool == "get"; call.Tool != before.Calls[i].Tool || (call.Fault != "") != lost {
			t.Errorf("without get call %d is %+v", i+1, call)
		}
	}
}
