package tags

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// growing are texts of which an answer may be made without end.
var growing = []string{
	`<get path="a"/>`, `<get path="a">`, "<get", "<get ", "<get a", "<get a=", `<get a="`, `<get a='`, `<get a="<get b='`, `<get path="a.go `, `a="b "c" `, `x="a"b="`, `" `, `<set path="a">b</set>`, `<set path="a">b `, `<set path="a">x<set path="b">y</set>`,
	"<sh>", "</sh>", "<sh>x</", "</", "<", "<<", "<<A ", "<set>", "<set>x<<A </set>", "<set><<NEW x</set>NEW ", "<sh>cat <<EOF\n</sh>EOF\n", "<set>x<<NEW </set> NEW x ", "<set>x <<:::a </set>", "<set>x <get <<NEW x NEW ", `<get a=" <<NEW x NEW `, "<set><<NEW x NEW and </set>", "<<NEW \n", "<<NEW x NEW\n", "NEW \n", "`", "`` ", "` <get/>", "x`x<get/>", "```", "```\n", "```x\n", "```xml\n", "```json\n{", "~~~~\n", "   ", "\n", "x",
	"{", "[", `{"name"`, `{"name":`, `{"name":"get",`, `{"name":{`, `[{"name":[`, `{"name":"get","arguments":{}}`, "[TOOL_CALLS]", "[TOOL_CALLS] [", `[TOOL_CALLS] ["`, "[TOOL_CALLS]get[ARGS]{", "[{get a}", "c", "call:get{", `call:get{a:"`, "call:get{a:[", "call:get{a:<|\"|>", "call:get{a:'",
	"<|tool_call>", "<tool_call>", "<tool_call>{", "<tool_use>", "<tool_use><name>", "<tool_use><name>x</name><input>", "<function=get>", "<function=get><parameter=a>", "<function=get><parameter=a></parameter>", `<invoke name="get"><parameter name="a">`, "<|channel|>", "<|channel|>a<|message|>", "<|start|>", "<|", "|>",
	"<tool_call>get<arg_key>", "<tool_call>get<arg_key>a</arg_key><arg_value>", "<tool_call>get<arg_key>a</arg_key><arg_value>b</arg_value>", deepCall, deepCall + "get" + deepArgs + "{", deepToken, "</get a", "<sh>a</get>", "<sh></get><env></get>", "<function=get>{", "<|python_tag|>{", "{\"name\":\"a\n", "{\"name\":\"\n\"}", "{\"name\":{\"\n\":[", "<get a=`", "```\n{\"name\":",
	`<get path="a">x `, `<get path="a">x<set>y</set>`, `<get a=<|"|>`, "```xml a```", "```xml `", "<known>", "<foo ", `<foo a="`, `<foo a="b" `, "</foo", "&amp;", "&", `<get a="&`, "<get a=\"`", "<GET>", "<get a=\u201c", "<get a=\\\"", "<get a=\u201cx", "a=\u201c ", "<set><<NEW x\v",
}

// steps is how many bytes were looked at to read an answer that comes in pieces; in one for size 0.
func steps(answer string, size int) int {
	r := NewReader(offered)
	if size == 0 {
		r.text.s = answer
	} else {
		for i := 0; i < len(answer); i += size {
			r.Write(answer[i:min(i+size, len(answer))])
		}
	}
	r.End()
	return r.text.steps
}

// What an answer costs grows with it, whatever is repeated in it, and whether it comes whole or in pieces.
func TestStepsGrow(t *testing.T) {
	const base = 4 << 10
	words := strings.Builder{}
	for i := range 4 * base / 8 {
		fmt.Fprintf(&words, "<<W%d ", i)
	}
	closers := strings.ReplaceAll(words.String(), "<<", "")
	growing := append(slices.Clone(growing), "<set>"+words.String()+"</set>"+closers, "<set>"+strings.ReplaceAll(words.String(), "<<", "x <<NEW y NEW <<:::")+closers, "<set>x "+strings.ReplaceAll(words.String(), "<<", "<<:::")+"</set>"+strings.ReplaceAll(closers, "W", ":::W"), "<set>"+words.String()+"</set>", "<get "+strings.ReplaceAll(words.String(), "<<", "a")+">", "<sh>"+strings.Repeat("</get>", base))
	worst, at := 0, ""
	for _, tail := range []string{"", `"`, "'", "</set>", "</parameter>", "\n```\n", "NEW</set>", `"}`, "\nNEW </set>", "`", "</name>", "</arg_key>", "</arg_value>", "</sh>"} {
		for _, piece := range growing {
			for _, size := range []int{0, 16} {
				var before int
				for _, n := range []int{base, 4 * base} {
					answer := strings.Repeat(piece, n/len(piece)+1)[:n] + tail
					now := steps(answer, size)
					if per := now / len(answer); per > worst {
						worst, at = per, piece+tail
					}
					// Linear is 4, and square 16. What counts nearly nothing may grow as it likes.
					if before > 0 && now > 6*before && now > 64*len(answer) {
						t.Errorf("%q and %q in pieces of %d: %d steps, and %d on a quarter of it", piece, tail, size, now, before)
					}
					before = now
				}
			}
		}
	}
	t.Logf("at most %d steps for a byte, of %.40q", worst, at)
}
