package tags

import (
	"encoding/json"
	"strings"
	"testing"
)

// What older programs that read such answers got wrong. None of it happens here.

// TestBodiesStay: a body is the bytes of the answer, whatever they would be in HTML, and a tag of the tool in a here document
// ends nothing.
// spec: wrong_body_changed xml_parser
func TestBodiesStay(t *testing.T) {
	for _, tool := range []string{"set path=\"a\"", "think", "sh", "env", "update"} {
		for _, body := range []string{
			"&lt;b&gt; &amp;&copy; &#65; &nbsp;", "<!-- a --> <!DOCTYPE html> <![CDATA[x]]> <?xml?>", "<MyComp :Foo=\"1\" BAR/>", "<p>one<p>two<br><table><td>", "<svg viewBox='0 0'/>",
			"a\r\nb\rc\td\x00e\u00a0\ufeff", "if a<b && c>d { m[k<<2] }", "\\\"x\\n", "vec<Map<string,number>>", "<textarea><title></script>", "\xff\xfe broken",
		} {
			name, _, _ := strings.Cut(tool, " ")
			got := Read(offered, "<"+tool+">"+body+"</"+name+">")
			if len(got.Calls) != 1 || got.Calls[0].Body != body || len(got.Warnings) > 0 {
				t.Errorf("%s: the body %q became %+v", name, body, got)
			}
		}
	}
	const script = "cat > a <<'END'\n</sh>\n<get path=\"b\"/>\nEND\nls"
	if got := Read(offered, "<sh>"+script+"</sh>"); len(got.Calls) != 1 || got.Calls[0].Body != script {
		t.Errorf("a script became %+v", got)
	}
}

// TestArgumentsArrive: what a tool's documentation teaches reaches the tool.
// spec: wrong_arguments_lost
func TestArgumentsArrive(t *testing.T) {
	run(t, []row{
		{"a part of a file", `<get path="a" line="-20" limit="5"/>`, []string{"get path=a line=-20 limit=5"}, "", nil},
		{"a level of get", `<get path="known://*" visibility="summarized"/>`, []string{"get path=known://* visibility=summarized"}, "", nil},
		{"a level of mv", `<mv path="known://a" to="known://b" visibility="archived"/>`, []string{"mv path=known://a to=known://b visibility=archived"}, "", nil},
		{"a level of cp", `<cp path="known://a" visibility="visible">known://b</cp>`, []string{"cp path=known://a visibility=visible to=known://b"}, "", nil},
		{"a filter", `<get path="src/**">TODO|FIXME</get>`, []string{"get path=src/** > TODO|FIXME"}, "", nil},
		{"a filter of rm", `<rm path="known://*">old</rm>`, []string{"rm path=known://* > old"}, "", nil},
		{"a list only", `<get path="**" preview/>`, []string{"get path=** preview=true"}, "", nil},
	})
}

// TestNoPhantomCalls: what cannot be read becomes a warning, and nothing of that a call; one in another program's form keeps
// all of its arguments.
// spec: wrong_phantom_call
func TestNoPhantomCalls(t *testing.T) {
	const last = `<update status="102">x</update>`
	for _, answer := range []string{
		`<|tool_call>get a</get>`, `<|tool_call>call:nosuch{a:"b"}<tool_call|>`, `[TOOL_CALLS] [{"name":"get"`, `<tool_use><name>get</name><input>{</input></tool_use>`, "```\n<get path=\"a\"/>\n```",
	} {
		got := Read(offered, answer+"\n"+last)
		if len(got.Calls) != 1 || got.Calls[0].Tool != "update" || len(got.Warnings) == 0 {
			t.Errorf("%q: %+v", answer, got)
		}
	}
	got := Read(offered, `{"name":"get","arguments":{"path":"a","line":3,"limit":4,"visibility":"visible"}}`)
	if len(got.Calls) != 1 || len(got.Calls[0].Arguments) != 4 {
		t.Errorf("of four arguments: %+v", got)
	}
}

// TestNoCallIsLost: a quote that is missing, or one too many, costs no call without a warning, nor does a backquote.
// spec: wrong_call_lost
func TestNoCallIsLost(t *testing.T) {
	const last = `<update status="102">x</update>`
	for _, broken := range []string{
		`<get path="a.go/>`, `<get path="a.go></get>`, `<get path='a.go/>`, `<get path=a.go"/>`, `<get path="a.go""/>`, `<get path="a" line="3/>`, `<set path="a.md>body</set>`, `<get path=“a.go”/>`,
		"It`s <get path=\"a\"/> isn`t", "Use ` here. <get path=\"a\"/>",
	} {
		got := Read(offered, broken+"\n"+last)
		var tools []string
		for _, c := range got.Calls {
			tools = append(tools, c.Tool)
		}
		if len(tools) != 2 && (len(tools) != 1 || len(got.Warnings) == 0) || tools[len(tools)-1] != "update" {
			text, _ := json.Marshal(got)
			t.Errorf("%q: %s", broken, text)
		}
	}
}
