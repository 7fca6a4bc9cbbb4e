package tags

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hears checks that no opener of a tool is passed over in silence: each stands in a call, or in a span of code, or there is a warning.
func hears(t failer, answer string, got Reading) {
	t.Helper()
	if len(got.Warnings) > 0 {
		return
	}
	call := 0
	for i := 0; i < len(answer); i++ {
		for call < len(got.Calls) && got.Calls[call].At.End <= i {
			call++
		}
		if call < len(got.Calls) && i >= got.Calls[call].At.Start {
			i = got.Calls[call].At.End - 1
			continue
		}
		if answer[i] != '<' {
			continue
		}
		name := answer[i+1:]
		name = name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"))]
		behind := answer[i+1+len(name):]
		if offered.byName[name] == nil || behind != "" && !strings.ContainsRune(" \t\r\n\f/>", rune(behind[0])) {
			continue
		}
		line := answer[strings.LastIndexByte(answer[:i], '\n')+1 : i]
		if !strings.Contains(line, "`") || !strings.Contains(strings.SplitN(behind, "\n", 2)[0], "`") {
			t.Errorf("%q: of %.40q there is no call and no warning", answer, answer[i:])
		}
	}
}

// scraps are what hostile answers are made of.
var scraps = []string{
	`<get path="a"/>`, `<get path="a">`, `</get>`, `<set path="b">`, `</set>`, `<set`, `<sh>`, `</sh>`, `<update status="200">`, `</update>`, `<get path="a`, `<get path='`, `line="3`, `="`, `"`, `'`, `>`, `/>`, `<`, `</`, `</s`, `<s`,
	"`", "``", "```", "```xml\n", "```go\n", "```json\n", "~~~\n", "\n", " ", "x", "a ", "<<NEW ", "NEW", "\nNEW\n", "<<EOF\n", "EOF", "<<", "<<:::a", ":::a ", "SEARCH", "<p>", "</p>", `<foo a="`, "<known>",
	`{"name":"get","arguments":{"path":"a"}}`, `{"name":`, `{"name":"get"`, `"arguments":{`, "{", "}", "[", "]", "[TOOL_CALLS]", "[ARGS]", "[{get a}", "call:get{", `path:"a"`, `<|"|>`, "<|tool_call>", "<tool_call|>", "<tool_call>", "</tool_call>",
	"<tool_use>", "<name>get</name>", `<input>{"path":"a"}</input>`, "<function=get>", "<parameter=path>", "</parameter>", "</function>", `<invoke name="get">`, `<parameter name="path">`, "</invoke>", "<|channel|>", "to=functions.get", "<|message|>", "<|channel>", "<|end|>", "é", "\x00", "\xff", "&amp;", "\u201c", "\u201d", "\\\"", "&quot;", "\v",
}

// TestAnyAnswer: whatever a model writes, each opener of a tool is a call or a warning.
// spec: xml_parser
func TestAnyAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 40).Draw(t, "answer"), "")
		got := Read(offered, answer)
		holds(t, answer, got)
		hears(t, answer, got)
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
		hears(t, answer, got)
		for _, c := range got.Calls {
			c.JSON()
		}
	})
}
