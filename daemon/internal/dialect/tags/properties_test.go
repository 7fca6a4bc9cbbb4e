package tags

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hears checks that no opener of a tool is passed over in silence: whatever a step of the reading takes is a call, or is warned of, or is
// code, or has no opener in it; and of what is warned of no second one is lost beside the first.
func hears(t failer, answer string) {
	t.Helper()
	r := NewReader(offered)
	r.text.s, r.text.whole = answer, true
	for r.pos < len(answer) {
		from, calls, warned := r.pos, len(r.calls)+r.dropped, len(r.warnings)+r.untold
		r.step()
		taken := answer[from:r.pos]
		calls, warned = len(r.calls)+r.dropped-calls, len(r.warnings)+r.untold-warned
		openers := openersIn(answer, from, r.pos)
		switch {
		case calls > 0 && r.dropped == 0:
			if made := r.calls[len(r.calls)-1]; made.Fault == "" && r.swallows(made) {
				t.Errorf("%q: %q has taken other calls along", answer, taken)
			}
		case calls > 0, openers == 0:
		case strings.ContainsAny(taken[:1], "`~"):
			run := taken[:len(taken)-len(strings.TrimLeft(taken, taken[:1]))]
			if warned == 0 && !strings.HasSuffix(taken, run) {
				t.Errorf("%q: %q is no code, and of it there is no call and no warning", answer, taken)
			}
		case openers > warned && (warned == 0 || r.pos < len(answer)): // in a tag in which the answer ends, values may have others
			t.Errorf("%q: of %q there is no call, and %d warnings", answer, taken, warned)
		}
	}
}

// openersIn counts the openers of tools in a part of an answer.
func openersIn(answer string, from, end int) (n int) {
	r := NewReader(offered)
	r.text.s, r.text.whole = answer, true
	for i := from; i < end; i++ {
		if answer[i] == '<' {
			if t, _ := r.opens(i); t != nil {
				n++
			}
		}
	}
	return n
}

// swallows reports whether the body of a call that nothing closes has tags of tools that are no words between brackets, and no code.
func (r *Reader) swallows(c Call) bool {
	if !c.Open || c.BodyAt.End == 0 || strings.Contains(r.text.s[c.BodyAt.End:c.At.End], ">") || strings.Contains(c.Body, "`") || strings.Contains(c.Body, "<<") {
		return false
	}
	for i := c.BodyAt.Start; i < c.BodyAt.End; i++ {
		if t, behind := r.opens(i); r.text.s[i] == '<' && t != nil && !r.opener(i, t, behind, false).odd {
			return true
		}
	}
	return false
}

// scraps are what hostile answers are made of.
var scraps = []string{
	`<get path="a"/>`, `<get path="a">`, `</get>`, `<set path="b">`, `</set>`, `<set`, `<sh>`, `</sh>`, `<update status="200">`, `</update>`, `<get path="a`, `<get path='`, `line="3`, `="`, `"`, `'`, `>`, `/>`, `<`, `</`, `</s`, `<s`,
	"`", "``", "```", "```xml\n", "```go\n", "```json\n", "~~~\n", "\n", " ", "x", "a ", "<<NEW ", "NEW", "\nNEW\n", "<<EOF\n", "EOF", "<<", "<<:::a", ":::a ", "SEARCH", "<p>", "</p>", `<foo a="`, "<known>",
	`{"name":"get","arguments":{"path":"a"}}`, `{"name":`, `{"name":"get"`, `"arguments":{`, "{", "}", "[", "]", "[TOOL_CALLS]", "[ARGS]", "[{get a}", "call:get{", `path:"a"`, `<|"|>`, "<|tool_call>", "<tool_call|>", "<tool_call>", "</tool_call>",
	"<tool_use>", "<name>get</name>", `<input>{"path":"a"}</input>`, "<function=get>", "<parameter=path>", "</parameter>", "</function>", `<invoke name="get">`, `<parameter name="path">`, "</invoke>", "<path>a</path>", "<body>", "</body>", "<function=get>{", "<arg_key>path</arg_key>", "<arg_value>", "</arg_value>", "<tool_call>get\n", deepCall, deepArgs, "get", "function", deepToken + "x" + deepEnd, "<|tool_call_start|>", "<|python_tag|>", `"args":{`, "</get path>", "<|channel|>", "to=functions.get", "<|message|>", "<|channel>", "<|end|>", "é", "\x00", "\xff", "&amp;", "\u201c", "\u201d", "\\\"", "&quot;", "\v",
}

// TestAnyAnswer: whatever a model writes, each opener of a tool is a call or a warning.
// spec: xml_parser
func TestAnyAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 40).Draw(t, "answer"), "")
		got := Read(offered, answer)
		holds(t, answer, got)
		hears(t, answer)
		r := NewReader(offered)
		for rest := answer; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 30)).Draw(t, "bytes")
			r.Write(rest[:n])
			rest = rest[n:]
		}
		if whole := r.End(); !reflect.DeepEqual(whole, got) {
			t.Errorf("%q in pieces of any length is read as\n%+v\nand as a whole as\n%+v", answer, whole, got)
		}
	})
}

// content is what bodies of well-formed calls are made of: no tag of a tool that is not closed, and nothing that opens a marker.
var content = []string{
	"x", " ", "\n", "\r\n", "\t", "func f() {", "}", "<p>", "</p>", "<br/>", "&lt;", "&amp;", "\"", "'", "`", "``", "```xml\n", "a < b && c > d", "<!-- -->", "<![CDATA[", "é", "\x00", "\xff", "{\"name\":\"get\"}", "[TOOL_CALLS]", "<|tool_call>", "call:get{",
	"y <get/> z", "y <get path=\"a\">b</get> z", "y <set path='c'>n</set> z", "</getter>", "<sets>", "</div>", "NEW", "EOF",
}

// Bodies of well-formed calls are what stands in the answer, and nothing beside the calls is lost.
func TestWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var answer, narration strings.Builder
		var want []string
		for i := range rapid.IntRange(0, 8).Draw(t, "calls") {
			text := rapid.SampledFrom([]string{"", "\n", "I do it. ", "5 < 6\n", "and `code` "}).Draw(t, "text")
			answer.WriteString(text)
			narration.WriteString(text)
			tool := rapid.SampledFrom([]string{"set", "think", "update", "sh"}).Draw(t, "tool")
			body := "." + strings.Join(rapid.SliceOf(rapid.SampledFrom(content)).Draw(t, "body"), "")
			if tool == "set" && rapid.Bool().Draw(t, "marked") {
				word := fmt.Sprint("NEW", i)
				body = "<<" + word + "\n" + strings.ReplaceAll(body, "</p>", "</set><get path=\"") + "\n" + word
			}
			lead := rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "lead")
			trail := rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "trail")
			if trail == "" && strings.HasSuffix(body, "\n") || trail == "\n" && strings.HasSuffix(body, "\r") {
				trail = "\r\n"
			}
			fmt.Fprintf(&answer, `<%s path="%d">%s%s%s</%s>`, tool, i, lead, body, trail, tool)
			want = append(want, body)
		}
		got := Read(offered, answer.String())
		if len(got.Calls) != len(want) || len(got.Warnings) > 0 {
			t.Fatalf("%q: %d calls, want %d, with %v", answer.String(), len(got.Calls), len(want), got.Warnings)
		}
		for i, c := range got.Calls {
			if c.Body != want[i] || c.Get("path") != fmt.Sprint(i) {
				t.Fatalf("%q: call %d of %v has the body %q, want %q", answer.String(), i, c.Get("path"), c.Body, want[i])
			}
		}
		if all := narration.String(); got.Narration != all && !blank(all) {
			t.Fatalf("%q: narration %q, want %q", answer.String(), got.Narration, all)
		}
		holds(t, answer.String(), got)
	})
}

func FuzzRead(f *testing.F) {
	for i := range scraps {
		f.Add(scraps[i] + scraps[(i*7+3)%len(scraps)] + scraps[(i*11+5)%len(scraps)])
	}
	for _, answer := range []string{
		`<set path="a">n <set path="b">in</set> out</set>`, "<set path=\"a\"><<NEW\n</set>\nNEW</set>", "<sh>cat <<EOF\n</sh>\nEOF\n</sh>", "It`s <get path=\"a\"/> isn`t", `<get path="a" line="3/><get path="b"/>`,
		`[TOOL_CALLS] [{"name":"get","arguments":{"path":"a"}}]`, `<|tool_call>call:set{path:<|"|>a<|"|>,n:[1,{x:y}]}<tool_call|>`,
	} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		if len(answer) > 4<<10 {
			return // the pieces of a longer one take long, and say nothing else
		}
		got := Read(offered, answer)
		holds(t, answer, got)
		hears(t, answer)
		for _, c := range got.Calls {
			c.JSON()
		}
	})
}
