package tags

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// row is a case: an answer, its calls as shown writes them, what stands outside of them, and the kinds of warnings.
type row struct {
	name, answer string
	calls        []string
	narration    string
	kinds        []Kind
}

// shown is a call in one line: the tool, its arguments in order, its body behind an angle bracket.
func shown(c Call) string {
	var b strings.Builder
	b.WriteString(c.Tool)
	for _, a := range c.Arguments {
		fmt.Fprintf(&b, " %s=%v", a.Name, asText(a.Value))
	}
	if c.Into != "" {
		b.WriteString(" > " + c.Body)
	}
	if c.Fault != "" {
		b.WriteString(" FAULT")
	}
	return b.String()
}

var offered = NewSet(Twelve())

func run(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			got := Read(offered, tt.answer)
			var calls []string
			for _, c := range got.Calls {
				calls = append(calls, shown(c))
			}
			if !slices.Equal(calls, tt.calls) {
				t.Errorf("calls\n%q\nwant\n%q", calls, tt.calls)
			}
			if got.Narration != tt.narration {
				t.Errorf("narration %q, want %q", got.Narration, tt.narration)
			}
			var kinds []Kind
			for _, w := range got.Warnings {
				kinds = append(kinds, w.Kind)
			}
			if !slices.Equal(kinds, tt.kinds) {
				t.Errorf("warnings %v, want %v", got.Warnings, tt.kinds)
			}
			holds(t, tt.answer, got)
		})
	}
}

func kinds(all ...Kind) []Kind { return all }

// TestCases has the cases of which reading was agreed on, by their numbers.
// spec: response_healing xml_parser
func TestCases(t *testing.T) {
	const goesOn = `<update status="102">x</update>`
	going := "update status=102 > x"
	one := func(calls ...string) []string { return calls }
	run(t, []row{
		{"1", `<get path="a.go"/>`, one("get path=a.go"), "", nil},
		{"3", `<get>a.go</get>`, one("get path=a.go"), "", nil},
		{"4", "<get>\n  a.go \n</get>", one("get path=a.go"), "", nil},
		{"6", `<get path=a.go/>`, one("get path=a.go"), "", nil},
		{"8", `<get path='a.go'/>`, one("get path=a.go"), "", nil},
		{"11", `<get path="known://*">cache</get>`, one("get path=known://* > cache"), "", nil},
		{"15", `<get path="a"><get path="b">`, one("get path=a", "get path=b"), "", kinds(Emptied, Unclosed)},
		{"17", `<get path="a"></set>` + "\n" + goesOn, one("get path=a", going), "", kinds(Mismatched)},
		{"18", `<set path="known://k">fact</get>` + "\n" + `<update status="200">ok</update>`, one("set path=known://k > fact", "update status=200 > ok"), "", kinds(Mismatched)},
		{"20", `<set path="known://k">fact</set`, one("set path=known://k > fact"), "", kinds(Unclosed)},
		{"22", `<update status="200">done`, one("update status=200 > done"), "", kinds(Unclosed)},
		{"23", `<update>going</update>`, one("update status=102 > going"), "", nil},
		{"24", `<update status="abc">x</update>`, one(going), "", kinds(Value)},
		{"25", `<update status="200"/>`, one("update status=200"), "", nil},
		{"26", `<update status="200" body="hi"/>`, one("update status=200 > hi"), "", nil},
		{"28", `</get>` + goesOn, one(going), "", nil},
		{"29", `</foo>text<get path="a"/>`, one("get path=a"), "text", nil},
		{"30", `<foo>bar</foo><get path="a"/>`, one("get path=a"), "bar", nil},
		{"32 blank", " \n\t ", nil, "", nil},
		{"32 empty", "", nil, "", nil},
		{"34", `<set path="k.md"><get path="x"/> first</set>`, one("set path=k.md FAULT", "get path=x"), " first", kinds(Emptied)},
		{"36", `<set path="p.html"><p>one<p>two</set>`, one("set path=p.html > <p>one<p>two"), "", nil},
		{"40", `<set path="a.ts">let m: Map<string, number> = x</set>`, one("set path=a.ts > let m: Map<string, number> = x"), "", nil},
		{"41", `<set path="a.html">&lt;b&gt; &amp; &copy;</set>`, one("set path=a.html > &lt;b&gt; &amp; &copy;"), "", nil},
		{"42", `<set path="A.vue"><MyComp :Foo="1"/></set>`, one(`set path=A.vue > <MyComp :Foo="1"/>`), "", nil},
		{"43", `<set path="x.xml"><![CDATA[raw]]></set>`, one("set path=x.xml > <![CDATA[raw]]>"), "", nil},
		{"46", `<set path="a">see </update> here</set>`, one("set path=a > see "), " here", kinds(Mismatched)},
		{"47", `<set path="a">n <set path="b">in</set> out</set>`, one(`set path=a > n <set path="b">in</set> out`), "", nil},
		{"48", `<set path="a">a <get> b</set><update status="102">u</update>`, one("set path=a > a <get> b", "update status=102 > u"), "", nil},
		{"49", `<get path="a.go</get>` + "\n" + goesOn, one("get path=a.go", going), "", kinds(Quote)},
		{"50", `<set path="a.md>body</set><get path="b"/>`, one("set path=a.md > body", "get path=b"), "", kinds(Quote)},
		{"51", `<get path="a" line="3/><get path="b"/>`, one("get path=a line=3", "get path=b"), "", kinds(Quote)},
		{"54 xml", "```xml\n<get path=\"x\"/>\n```", one("get path=x"), "", nil},
		{"54 tool_code", "```tool_code\n<get path=\"x\"/>\n```", one("get path=x"), "", nil},
		{"54 tool_command", "```tool_command\n<get path=\"x\"/>\n```", one("get path=x"), "", nil},
		{"56", "It`s <get path=\"a\"/> isn`t", one("get path=a"), "It`s  isn`t", kinds(Backquote)},
		{"57", "<set path=\"a.md\">use `<get/>` now</set>", one("set path=a.md > use `<get/>` now"), "", nil},
		{"58", `<|tool_call>call:get{path:"a.go"}<tool_call|>`, one("get path=a.go"), "", nil},
		{"60", `<|tool_call>call:get{path:<|"|>a.go<|"|>}<tool_call|>`, one("get path=a.go"), "", nil},
		{"61", `<|tool_call>call:nosuch{a:"b"}<tool_call|>`, nil, "", kinds(Unknown)},
		{"61 bare", `call:nosuch{a:"b"}`, nil, "", kinds(Unknown)},
		{"63", `<|tool_call>garbage`, nil, "garbage", kinds(Foreign)},
		{"64", `<|tool_call>get a</get>` + goesOn, one(going), "get a", kinds(Foreign)},
		{"65", `<|tool_call>call:set{path:"known://a",body:"two"}<tool_call|>`, one("set path=known://a > two"), "", nil},
		{"65 bare", `call:set{path:"known://a",body:"two"}`, one("set path=known://a > two"), "", nil},
		{"66", `{"name":"get","arguments":{"path":"a.go"}}`, one("get path=a.go"), "", nil},
		{"67", `{"name":"set","arguments":{"path":"a","body":"b"}}`, one("set path=a > b"), "", nil},
		{"68", `{ "name": "get", "arguments": {"path":"a"} }`, one("get path=a"), "", nil},
		{"69", `{"name":"set","arguments":{"path":"a","body":"say \"hi\""}}`, one(`set path=a > say "hi"`), "", nil},
		{"71", `<tool_use><name>get</name><input>{"path":"a.go"}</input></tool_use>`, one("get path=a.go"), "", nil},
		{"72", `[TOOL_CALLS] [{"name":"get","arguments":{"path":"a"}}]`, one("get path=a"), "", nil},
		{"72 short", `[TOOL_CALLS] [{get a}]`, one("get path=a"), "", nil},
		{"73", `[TOOL_CALLS] [{"name":"get","arguments":{"path":"a"}}, {"name":"get","arguments":{"path":"b"}}]`, one("get path=a", "get path=b"), "", nil},
		{"73 short", `[TOOL_CALLS] [{get a},{get b}]`, one("get path=a", "get path=b"), "", nil},
		{"78", `<sh>a && b > c.txt</sh>`, one("sh > a && b > c.txt"), "", nil},
		{"79", `<sh>echo "<x>" | grep y</sh>`, one(`sh > echo "<x>" | grep y`), "", nil},
		{"81", `<mv path="a"/>`, one("mv path=a"), "", nil},
		{"81 look", `<mv path="a" visibility="archived"/>`, one("mv path=a visibility=archived"), "", nil},
		{"85", `<search>go xml</search>`, one("search path=go xml"), "", nil},
		{"85 results", `<search results="5">go xml</search>`, one("search results=5 path=go xml"), "", nil},
		{"86", `<search query="go"/>`, one("search path=go"), "", nil},
		{"88", `<thinking>x</thinking><update status="200">d</update>`, one("update status=200 > d"), "x", nil},
		{"89 preview", `<rm path="known://t_*" preview/>`, one("rm path=known://t_* preview=true"), "", nil},
		{"89 filter", `<rm path="a" body="f"/>`, one("rm path=a > f"), "", nil},
		{"90 known", `<known path="k">y</known>`, nil, "y", kinds(Unknown)},
		{"90 unknown", `<unknown>q</unknown>`, nil, "q", kinds(Unknown)},
		{"90 summarize", `<summarize>d</summarize>`, nil, "d", kinds(Unknown)},
		{"91", `<set>no path</set>`, one("set > no path"), "", nil},
		{"92", `<set path="a" visibility="archived"/>`, one("set path=a visibility=archived"), "", nil},
		{"93", `<set path="a" body="txt"/>`, one("set path=a > txt"), "", nil},
		{"94", `<set path="a" body="old">new</set>`, one("set path=a > new"), "", kinds(Twice)},
		{"95", `<set path="a">s/x/y/g</set>`, one("set path=a > s/x/y/g"), "", nil},
		{"96", `<set path="a">{"search":"x","replace":"y"}</set>`, one(`set path=a > {"search":"x","replace":"y"}`), "", nil},
		{"97", "<set path=\"a\"><<NEW\nhi\nNEW</set>", one("set path=a > <<NEW\nhi\nNEW"), "", nil},
		{"98", `< get path="a"/>`, nil, `< get path="a"/>`, nil},
		{"99 lines", "<get\npath = \"a\"\n/>", one("get path=a"), "", nil},
		{"99 blank", `<get path="a"/ >`, one("get path=a"), "", nil},
		{"100", `<get path="a">b</get>`, one("get path=a > b"), "", nil},
		{"101", `<get path="a&amp;b"/>`, one("get path=a&b"), "", nil},
		{"102", `<get path="a>b"/>`, one("get path=a>b"), "", nil},
		{"104", "<get path=\"a\ab\"/>", one("get path=a\ab"), "", nil},
		{"108", `one <get path="a"/> two <get path="b"/> three`, one("get path=a", "get path=b"), "one  two  three", nil},
		{"111", "\x00<get path=\"a\"/>", one("get path=a"), "\x00", nil},
	})
}

// TestArgumentsOfCases: what some of the cases give a tool, with the types of its schema and each text under its own argument.
func TestArgumentsOfCases(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"11", `<get path="known://*">cache</get>`, `{"filter":"cache","path":"known://*"}`},
		{"23", `<update>going</update>`, `{"body":"going","status":102}`},
		{"24", `<update status="abc">x</update>`, `{"body":"x","status":102}`},
		{"51", `<get path="a" line="3/>`, `{"line":3,"path":"a"}`},
		{"78", `<sh>a && b > c.txt</sh>`, `{"command":"a && b > c.txt"}`},
		{"85", `<search results="5">go xml</search>`, `{"path":"go xml","results":5}`},
		{"89 preview", `<rm path="known://t_*" preview/>`, `{"path":"known://t_*","preview":true}`},
		{"89 filter", `<rm path="a" body="f"/>`, `{"filter":"f","path":"a"}`},
		{"92", `<set path="a" visibility="archived"/>`, `{"path":"a","visibility":"archived"}`},
		{"93", `<set path="a" body="txt"/>`, `{"body":"txt","path":"a"}`},
		{"100", `<get path="a">b</get>`, `{"filter":"b","path":"a"}`},
	} {
		got := Read(offered, c.answer)
		if len(got.Calls) != 1 {
			t.Fatalf("%s: %+v", c.name, got)
		}
		var is, want any
		if err := errors.Join(json.Unmarshal(got.Calls[0].JSON(), &is), json.Unmarshal([]byte(c.want), &want)); err != nil || !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %s, want %s (%v)", c.name, got.Calls[0].JSON(), c.want, err)
		}
	}
}
