package tags

import (
	"strings"
	"testing"
)

// TestRepairs has openers and bodies that models write wrongly, beside the agreed cases.
func TestRepairs(t *testing.T) {
	one := func(calls ...string) []string { return calls }
	run(t, []row{
		{"quote before the next attribute", `<get path="a.go visibility="visible"/>`, one("get path=a.go visibility=visible"), "", kinds(Quote)},
		{"quote before a closing bracket and text", `<update status="200>He said "hi" to me</update>`, one(`update status=200 > He said "hi" to me`), "", kinds(Quote)},
		{"quote missing in each of two", "<get path=\"a></get>\n<get path=\"b></get>", one("get path=a", "get path=b"), "", kinds(Quote)},
		{"single quote missing", `<get path='a.go/><get path="b"/>`, one("get path=a.go", "get path=b"), "", kinds(Quote)},
		{"no quote to the end", `<get path="a.go/>`, one("get path=a.go"), "", kinds(Quote)},
		{"quotes in a value", `<update status="200" body="fixed the "foo" bug"/>`, one(`update status=200 > fixed the "foo" bug`), "", kinds(Quote)},
		{"quote only behind a value", `<get path=a.go"/>`, one("get path=a.go"), "", kinds(Quote)},
		{"two quotes behind a value", `<get path="a.go""/>`, one("get path=a.go"), "", kinds(Quote)},
		{"quotes of a book", `<get path=“a b.go” line=‘3’/>`, one("get path=a b.go line=3"), "", kinds(Quote)},
		{"quotes as in JSON", `<set path=\"a.go\" summary=\'x > y\'>b</set>`, one("set path=a.go summary=x > y > b"), "", kinds(Quote)},
		{"quotes as of code", "<get path=`a b.go`/>", one("get path=a b.go"), "", kinds(Quote)},
		{"quotes as entities", `<get path=&quot;a.go&quot;/>`, one("get path=a.go"), "", kinds(Quote)},
		{"quotes of a book without an end", "<get path=“a.go/>\n”", one("get path=“a.go"), "\n”", nil},
		{"no blank between attributes", `<get path="a"line="3"/>`, one("get path=a line=3"), "", nil},
		{"tags in a value", `<update status="200" body="use <get path='a'/> and </set>"/>`, one("update status=200 > use <get path='a'/> and </set>"), "", nil},
		{"bracket and tags in a value", `<sh command="echo '<set path=x>'; cat a > b"/>`, one("sh > echo '<set path=x>'; cat a > b"), "", nil},
		{"value over lines", "<sh command=\"a\nb\"/>", one("sh > a\nb"), "", nil},
		{"entity without its semicolon", `<get path="https://x.y/?a=1&copy=2&lt=3;"/>`, one("get path=https://x.y/?a=1&copy=2&lt=3;"), "", nil},
		{"entities", `<get path="&quot;&#65;&#x42;&eacute;&nosuch;&;"/>`, one(`get path="ABé&nosuch;&;`), "", nil},
		{"decoded once", `<get path="&amp;amp;"/>`, one("get path=&amp;"), "", nil},
		{"no bracket before the next tag", `<get path="a"` + "\n" + `<get path="b"/>`, one("get path=a", "get path=b"), "", kinds(Emptied)},
		{"no slash, then text", "<get path=\"a\">\nI read it now.", one("get path=a > I read it now."), "", kinds(Unclosed)},
		{"answer ends in a tag", `ok <rm path="src/`, nil, `ok <rm path="src/`, kinds(Opener)},
		{"answer ends in a name", `ok <rm`, nil, "ok <rm", kinds(Opener)},
		{"words in a tag", "a <set of rules> is what I get", nil, "a <set of rules> is what I get", kinds(Opener)},
		{"attribute twice", `<get path="a" path="b"/>`, one("get path=a"), "", kinds(Twice)},
		{"tokens in the place of quotes", `<get path=<|"|>a b.go<|"|> line="3"/>`, one("get path=a b.go line=3"), "", nil},
		{"unknown attributes stay", `<get path="a" data-x="1" deep/>`, one("get path=a data-x=1 deep=true"), "", nil},
		{"attribute in capitals", `<get Path="a" LINE="-20"/>`, one("get path=a line=-20"), "", nil},
		{"name in capitals", `<GET path="a"/>`, nil, "", kinds(Unknown)},
		{"name that goes on", `<getter path="a"/><set-x/><sets>a</sets>`, nil, "<set-x/>a", nil},
		{"status that is none", `<update status="300">x</update>`, one("update status=102 > x"), "", kinds(Value)},
		{"number that is none stays", `<get path="a" line="first"/>`, one("get path=a line=first"), "", nil},
		{"booleans", `<set path="a" append="true" pattern="no">x</set>`, one("set path=a append=true pattern=false > x"), "", nil},
		{"object", `<set path="a" attributes='{"n":1}'/>`, one(`set path=a attributes={"n":1}`), "", nil},
		{"two places for a destination", `<mv path="a" to="b">moves it</mv>`, one("mv path=a to=b"), "", kinds(Misplaced)},
		{"destination as body", "<cp path=\"a\">\nknown://b\n</cp>", one("cp path=a to=known://b"), "", nil},
		{"question and options", `<ask_user question="Which?">a; b</ask_user>`, one("ask_user question=Which? > a; b"), "", nil},
		{"question as body", `<ask_user>Which one?</ask_user>`, one("ask_user question=Which one?"), "", nil},
		{"skill", `<skill path="pdf"/><skill name="x"/><skill>y</skill>`, one("skill path=pdf", "skill path=x", "skill path=y"), "", nil},
		{"think", "<think>\nFirst <b>this</b>.\n</think>", one("think > First <b>this</b>."), "", nil},
		{"blank filter", "<get path=\"a\">\n</get>", one("get path=a"), "", nil},
		{"empty body", `<set path="a"></set>`, one("set path=a > "), "", nil},
		{"one line break only", "<set path=\"a\">\n\n  x  \n\n</set>", one("set path=a > \n  x  \n"), "", nil},
		{"line breaks of Windows", "<set path=\"a\">\r\nx\r\ny\r\n</set>", one("set path=a > x\r\ny"), "", nil},
		{"no UTF-8", "<set path=\"a\">\xff\xfe\x00</set>", one("set path=a > \xff\xfe\x00"), "", nil},
		{"emptied, with more to say", `<set path="a" visibility="archived"><get path="b"/>`, one("set path=a visibility=archived", "get path=b"), "", kinds(Emptied)},
		{"emptied by its own name", `<set path="a"><set path="b">in</set></set>`, one("set path=a FAULT", "set path=b > in"), "", kinds(Emptied)},
		{"emptied three times", "<get path=\"a\">\n<get path=\"b\">\n<get path=\"c\"></get>", one("get path=a", "get path=b", "get path=c"), "", kinds(Emptied, Emptied)},
		{"nested twice", `<set path="a">1<set path="b">2<set path="c">3</set>4</set>5</set>!`, one(`set path=a > 1<set path="b">2<set path="c">3</set>4</set>5`), "!", nil},
		{"nested and closed in itself", `<set path="a">1<set path="b"/>2</set>`, one(`set path=a > 1<set path="b"/>2`), "", nil},
		{"another one nested", `<set path="a">use <get>x</get> here</set>`, one("set path=a > use <get>x</get> here"), "", nil},
		{"another name closes what is open in it", `<set path="a">x <get> y</update> z</set>`, one("set path=a > x <get> y</update> z"), "", nil},
		{"opened more often than closed", `<set path="a">say <set path="x"> in text</set><update status="200">d</update>`, one(`set path=a > say <set path="x"> in text`, "update status=200 > d"), "", kinds(Unclosed)},
		{"not closed before other calls", `<think>I will read` + "\n" + `<get path="a"/>` + "\n" + `<update status="102">x</update>`, one("think > I will read\n<get path=\"a\"/>\n<update status=\"102\">x</update> FAULT"), "", kinds(Unclosed)},
		{"an update not closed before other calls", "<update status=\"200\">done\n<set path=\"a\">x</set>", one("update status=200 > done\n<set path=\"a\">x</set> FAULT"), "", kinds(Unclosed)},
		{"an update not closed before other calls and another one", "<update>I go on\n<get path=\"a\"/>\n<update status=\"200\">done</update>", one("update status=102 > I go on\n<get path=\"a\"/>\n<update status=\"200\">done FAULT"), "", kinds(Unclosed)},
		{"an update not closed before one in which the answer ends", "<update status=\"200\">done <get path=\"a", one("update status=200 > done <get path=\"a FAULT"), "", kinds(Unclosed)},
		{"an update not closed behind code", "<update status=\"200\">done with `<get path=\"a\"/>`", one("update status=200 > done with `<get path=\"a\"/>`"), "", kinds(Unclosed)},
		{"a thought not closed behind words", "<think>the <set of rules> is empty", one("think > the <set of rules> is empty"), "", kinds(Unclosed)},
		{"a text with names in brackets, and its own", "<set path=\"a\">Map<get> x; List<set> y;</set>", one("set path=a > Map<get> x; List<set> y;"), "", kinds(Unclosed)},
		{"a text not closed before a command and another one", "<set path=\"a\">x\n<sh>ls</sh>\n<set path=\"b\">y</set>", one("set path=a > x\n<sh>ls</sh>\n<set path=\"b\">y FAULT"), "", kinds(Unclosed)},
		{"a text not closed before other calls", "<set path=\"a\">x\n<update status=\"200\">ok</update>", one("set path=a > x\n<update status=\"200\">ok</update> FAULT"), "", kinds(Unclosed)},
		{"a command not closed before other calls", "<sh>ls\n<get path=\"a\"/>", one("sh > ls\n<get path=\"a\"/> FAULT"), "", kinds(Unclosed)},
		{"closed in capitals", "<set path=\"a\">x</SET>\n<get path=\"b\"/>", one("set path=a > x</SET>\n<get path=\"b\"/> FAULT"), "", kinds(Unclosed)},
		{"words before other calls", "<get path=\"a\">I read it.\n<get path=\"b\">And this.\n<update>x</update>", one("get path=a > I read it.", "get path=b > And this.", "update status=102 > x"), "", kinds(Unclosed, Unclosed)},
		{"closing tag in backquotes", "<set path=\"a.md\">x `<set path=\"b\">` and `</set>` y</set>", one("set path=a.md > x `<set path=\"b\">` and `</set>` y"), "", nil},
		{"closing tag with blanks", "<set path=\"a\">x</set \n >y", one("set path=a > x"), "y", nil},
		{"another closing tag in a command", "<sh>rm -rf build </get>x</sh><sh>a</get><sh>b</sh>", one("sh > rm -rf build </get>x", "sh > a", "sh > b"), "", kinds(Mismatched)},
		{"closing tag with attributes", "<set path=\"a\">x</set path=\"a\"><get>b</get path>", one("set path=a > x", "get path=b"), "", nil},
		{"closing tag that is words", "<set path=\"a\">a </set of\nwords> b</set>", one("set path=a > a </set of\nwords> b"), "", nil},
		{"answer ends in a closing tag", "<set path=\"a\">x\n</se", one("set path=a > x"), "", kinds(Unclosed)},
		{"answer ends in another tag", "<set path=\"a\">x</p", one("set path=a > x</p"), "", kinds(Unclosed)},
	})
}

// TestRegions has bodies in which markers keep a part from being looked at.
func TestRegions(t *testing.T) {
	one := func(calls ...string) []string { return calls }
	run(t, []row{
		{"closing tag between markers", "<set path=\"a\"><<NEW\n</set>\nNEW</set>!", one("set path=a > <<NEW\n</set>\nNEW"), "!", nil},
		{"opening tag between markers", "<set path=\"a\">\n<<NEW\n<set path=\"b\">\nNEW\n</set>!", one("set path=a > <<NEW\n<set path=\"b\">\nNEW"), "!", nil},
		{"other closing tag between markers", "<set path=\"a\"><<NEW\n</update>\nNEW</set>", one("set path=a > <<NEW\n</update>\nNEW"), "", nil},
		{"two regions", "<set path=\"a\"><<SEARCH\n</set>\nSEARCH\n<<REPLACE\n</set><get/>\nREPLACE</set>", one("set path=a > <<SEARCH\n</set>\nSEARCH\n<<REPLACE\n</set><get/>\nREPLACE"), "", nil},
		{"a word that goes on", "<set path=\"a\"><<NEW\nNEWER</set>\nNEW</set>", one("set path=a > <<NEW\nNEWER</set>\nNEW"), "", nil},
		{"not closed", `<set path="a"><<NEW hi</set><get path="b"/>`, one("set path=a > <<NEW hi", "get path=b"), "", nil},
		{"not closed before one that is", `<set path="a"><<NEW hi</set><set path="b"><<NEW x NEW</set>`, one("set path=a > <<NEW hi", "set path=b > <<NEW x NEW"), "", nil},
		{"the word in text behind it", `<set path="a"><<NEW hi</set> a NEW day`, one("set path=a > <<NEW hi"), " a NEW day", nil},
		{"no marker within a word", `<set path="a">vec<<SEARCH</set> SEARCH </set>`, one("set path=a > vec<<SEARCH"), " SEARCH ", nil},
		{"lower case is none", `<set path="a"><<new </set> new</set>`, one("set path=a > <<new "), " new", nil},
		{"as entries are shown", "<set path=\"a\"><<:::b\n</set>\n:::b</set>!", one("set path=a > <<:::b\n</set>\n:::b"), "!", nil},
		{"here document", "<sh>cat <<EOF > a\n</sh> EOF\n<get/>\nEOF\nls</sh>!", one("sh > cat <<EOF > a\n</sh> EOF\n<get/>\nEOF\nls"), "!", nil},
		{"here document in quotes", "<sh>cat <<-'END' > a\n</sh>\n\tEND\n</sh>!", one("sh > cat <<-'END' > a\n</sh>\n\tEND"), "!", nil},
		{"here document at the end", "<env>cat <<\"EOF\"\n</env>\nEOF</env>", one("env > cat <<\"EOF\"\n</env>\nEOF"), "", nil},
		{"here document not closed", "<sh>cat <<EOF\na</sh><get path=\"b\"/>", one("sh > cat <<EOF\na", "get path=b"), "", nil},
		{"shift is none", "<sh>echo $((1<<N))</sh>\nN\n<get path=\"b\"/>", one("sh > echo $((1<<N))", "get path=b"), "\nN\n", nil},
		{"a line with the word of a shift", "<sh>a << N</sh>\nN\n<get path=\"b\"/>", one("sh > a << N", "get path=b"), "\nN\n", nil},
		{"a sentence that goes on", "<set path=\"a\"><<NEW\nA NEW day </set>\nNEW</set>!", one("set path=a > <<NEW\nA NEW day </set>\nNEW"), "!", nil},
		{"a sentence behind it", "<set path=\"a\"><<NEW x NEW and so on</set> A\nNEW\nday", one("set path=a > <<NEW x NEW and so on"), " A\nNEW\nday", nil},
		{"not closed, and the word ends the answer", "<set path=\"a\"><<NEW x</set>\n<set path=\"b\">y</set>\nNEW", one("set path=a > <<NEW x", "set path=b > y"), "\n\nNEW", nil},
		{"a region that touches the next", "<set path=\"a\"><<SEARCH\n</set>\nSEARCH<<REPLACE\n</set>\nREPLACE</set>!", one("set path=a > <<SEARCH\n</set>\nSEARCH<<REPLACE\n</set>\nREPLACE"), "!", nil},
		{"in a tag that does not end", "<set path=\"a\">x <get path=\" <<NEW </set> NEW</set>!", one("set path=a > x <get path=\" <<NEW </set> NEW"), "!", nil},
		{"brackets before a closing tag", `<set path="a">a <</set><sh>b <<</sh>!`, one("set path=a > a <", "sh > b <<"), "!", nil},
		{"here document in set", "<set path=\"a.sh\">cat <<EOF\n</set>\nEOF\necho\n</set>!", one("set path=a.sh > cat <<EOF\n</set>\nEOF\necho"), "!", nil},
		{"here document that has a marker", "<set path=\"a.sh\">cat <<EOF\n<<NEW\nEOF\n</set>\nNEW</set>!", one("set path=a.sh > cat <<EOF\n<<NEW\nEOF\n</set>\nNEW"), "!", nil},
		{"text behind a here document", "<sh>cat <<<EOF</sh>\nEOF\n<sh>b</sh>", one("sh > cat <<<EOF", "sh > b"), "\nEOF\n", nil},
		{"none in other bodies", "<think><<NEW</think> NEW", one("think > <<NEW"), " NEW", nil},
	})
}

// TestText has what is no call, and what becomes of it.
func TestText(t *testing.T) {
	one := func(calls ...string) []string { return calls }
	run(t, []row{
		{"plain", "It is 5 < 6 and a <b>.", nil, "It is 5 < 6 and a .", nil},
		{"types", "a Map<string, number> or Vec<T> <i>x</i>", nil, "a Map<string, number> or Vec<T> x", nil},
		{"span", "Write `<get path=\"a\"/>` then.", nil, "Write `<get path=\"a\"/>` then.", nil},
		{"longer span", "Write ``a ` <get path=\"a\"/>`` then.", nil, "Write ``a ` <get path=\"a\"/>`` then.", nil},
		{"backquote without another", "A ` and\n<get path=\"a\"/> ` b", one("get path=a"), "A ` and\n ` b", nil},
		{"apostrophe alone", "It`s\n<get path=\"a\"/>", one("get path=a"), "It`s\n", nil},
		{"apostrophes of two lines", "It`s\n<get path=\"a\"/>\nisn`t", one("get path=a"), "It`s\n\nisn`t", nil},
		{"block", "```go\nx := \"<get>\"\n```\n", nil, "```go\nx := \"<get>\"\n```\n", kinds(Quoted)},
		{"block that says nothing", "```\n<get path=\"a\"/>\n```", nil, "```\n<get path=\"a\"/>\n```", kinds(Quoted)},
		{"block of tildes", "~~~\n<get path=\"a\"/>\n~~~\n<get path=\"b\"/>", one("get path=b"), "~~~\n<get path=\"a\"/>\n~~~\n", kinds(Quoted)},
		{"block that does not end", "```html\n<get path=\"a\"/>", nil, "```html\n<get path=\"a\"/>", kinds(Quoted)},
		{"block without calls", "```html\n<p>x</p>\n```", nil, "```html\n<p>x</p>\n```", nil},
		{"longer block", "````md\n```xml\n<get path=\"a\"/>\n```\n````\n", nil, "````md\n```xml\n<get path=\"a\"/>\n```\n````\n", kinds(Quoted)},
		{"block of xml with something else", "```xml\n<p>x</p>\n```", nil, "x\n", nil},
		{"block of calls without any", "```tool_code\nprint(get('a'))\n```", nil, "print(get('a'))\n", kinds(Foreign)},
		{"block that ends behind a tag", "```xml\n<get path=\"a\"/>```\nok", one("get path=a"), "\nok", nil},
		{"block on one line", "```xml <get path=\"a\"/>```", one("get path=a"), "", nil},
		{"span of three on one line", "```<get path=\"a\"/>```", nil, "```<get path=\"a\"/>```", nil},
		{"block behind text", "Sure: ```xml\n<get path=\"a\"/>\n```\n<get path=\"b\"/>", one("get path=a", "get path=b"), "Sure: \n", nil},
		{"block of code behind text", "So: ```go\nx\n```\n<get path=\"b\"/>", one("get path=b"), "So: ```go\nx\n```\n", nil},
		{"block in a body", "<set path=\"a.md\">\n```xml\n<b/>\n```\n</set>", one("set path=a.md > ```xml\n<b/>\n```"), "", nil},
		{"block of json with a call", "```json\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n```\nok", one("get path=a"), "\nok", nil},
		{"block of json with data", "```json\n{\"name\":\"get\"}\n```", nil, "```json\n{\"name\":\"get\"}\n```", nil},
		{"text between tags of thought", "<think_more>a</think_more>", nil, "a", nil},
		{"comment", "<!-- <get path=\"a\"/> -->", one("get path=a"), "<!--  -->", nil},
		{"closing tags only", "</set></update></get>", nil, "", nil},
		{"bracket at the end", "a <", nil, "a <", nil},
		{"brackets", "<<<<get path=\"a\"/>>>", one("get path=a"), "<<<>>", nil},
	})
}

// TestForeign has the forms of other programs.
// spec: response_healing
func TestForeign(t *testing.T) {
	one := func(calls ...string) []string { return calls }
	run(t, []row{
		{"Hermes", "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"path\": \"a.go\"}}\n</tool_call>", one("get path=a.go"), "", nil},
		{"Hermes twice", "<tool_call>{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n<tool_call>{\"name\":\"get\",\"arguments\":{\"path\":\"b\"}}</tool_call>", one("get path=a", "get path=b"), "", nil},
		{"Hermes around tags", "<tool_call>\n<get path=\"a\"/>\n</tool_call>", one("get path=a"), "", nil},
		{"Hermes with nothing", "<tool_call>garbage</tool_call>", nil, "garbage", kinds(Foreign)},
		{"Qwen coder", "<tool_call>\n<function=set>\n<parameter=path>\na.go\n</parameter>\n<parameter=body>\nx := \"<b>\"\ny\n</parameter>\n</function>\n</tool_call>", one("set path=a.go > x := \"<b>\"\ny"), "", nil},
		{"Qwen coder, types", "<function=get><parameter=path>a</parameter><parameter=line>3</parameter></function>", one("get path=a line=3"), "", nil},
		{"Qwen coder, not closed", "<function=get><parameter=path>a</parameter>", one("get path=a"), "", kinds(Unclosed)},
		{"Qwen coder, cut off", "<function=get><parameter=path>a", nil, "<parameter=path>a", kinds(Foreign)},
		{"Claude", "<function_calls>\n<invoke name=\"get\">\n<parameter name=\"path\">a.go</parameter>\n</invoke>\n</function_calls>", one("get path=a.go"), "", nil},
		{"tool_use in JSON", `<tool_use>{"name":"get","input":{"path":"a"}}</tool_use>`, one("get path=a"), "", nil},
		{"tool_use, arguments", "<tool_use>\n<tool_name>get</tool_name>\n<arguments>{\"path\":\"a\"}</arguments>\n</tool_use>", one("get path=a"), "", nil},
		{"tool_use that is broken", `<tool_use><name>get</name><input>{"path":</input></tool_use>`, nil, "get{\"path\":", kinds(Foreign)},
		{"arguments in a text", `{"name":"get","arguments":"{\"path\":\"a\"}"}`, one("get path=a"), "", nil},
		{"parameters", `{"name": "get", "parameters": {"path": "a"}}`, one("get path=a"), "", nil},
		{"function", `{"id":"call_1","type":"function","function":{"name":"get","arguments":"{\"path\":\"a\"}"}}`, one("get path=a"), "", nil},
		{"tool_calls", `{"tool_calls":[{"function":{"name":"get","arguments":{"path":"a"}}},{"function":{"name":"get","arguments":{"path":"b"}}}]}`, one("get path=a", "get path=b"), "", nil},
		{"list", "[\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n]", one("get path=a"), "", nil},
		{"types in JSON", `{"name":"get","arguments":{"path":"a","line":"3","limit":5,"preview":true}}`, one("get path=a line=3 limit=5 preview=true"), "", nil},
		{"body that is an object", `{"name":"set","arguments":{"path":"a","body":{"x":1}}}`, one(`set path=a > {"x":1}`), "", nil},
		{"escapes", `{"name":"set","arguments":{"path":"a","body":"\u00e9\n<\/set>"}}`, one("set path=a > é\n</set>"), "", nil},
		{"no tool", `{"name":"nosuch","arguments":{}}`, nil, "", kinds(Unknown)},
		{"data", `see {"name":"get","size":3} there`, nil, `see {"name":"get","size":3} there`, nil},
		{"broken, then whole", "{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}\n{\"name\":\"get\",\"arguments\":{\"path\":\"b\"}}", one("get path=b"), "{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}\n", kinds(Foreign)},
		{"cut off", `{"name":"get","arguments":{"pa`, nil, `{"name":"get","arguments":{"pa`, kinds(Foreign)},
		{"brackets of all kinds", "if x { y[0] = {1: [2]} }", nil, "if x { y[0] = {1: [2]} }", nil},
		{"Mistral with ARGS", `[TOOL_CALLS]get[ARGS]{"path":"a"}`, one("get path=a"), "", nil},
		{"Mistral without", `[TOOL_CALLS]get{"path":"a"}`, one("get path=a"), "", nil},
		{"Mistral with nothing", `[TOOL_CALLS] none`, nil, " none", kinds(Foreign)},
		{"Gemma with values", `<|tool_call>call:get{path:<|"|>a "b"<|"|>,line:3,preview:true}<tool_call|>`, one(`get path=a "b" line=3 preview=true`), "", nil},
		{"Gemma nested", `<|tool_call>call:set{path:a.json,attributes:{tags:[x,"y"],n:{}}}<tool_call|>`, one(`set path=a.json attributes={"tags":["x","y"],"n":{}}`), "", nil},
		{"Gemma that is broken", `<|tool_call>call:get{path:"a<tool_call|><get path="b"/>`, one("get path=b"), `{path:"a`, kinds(Foreign)},
		{"Gemma without arguments", `call:get{}`, one("get"), "", nil},
		{"harmony", `<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.get <|constrain|>json<|message|>{"path":"a.go"}<|call|>`, one("get path=a.go"), "I look.", nil},
		{"harmony, no tool", `<|channel|>commentary to=functions.nosuch<|message|>{}<|call|>`, nil, "", kinds(Unknown)},
		{"harmony with tags", `<|channel|>final<|message|><get path="a"/><|return|>`, one("get path=a"), "", nil},
		{"channel", "<|channel>thought\nhm<channel|><get path=\"a\"/>", one("get path=a"), "\nhm", nil},
		{"Llama", `<function=get>{"path":"a"}</function><|python_tag|>{"name":"get","parameters":{"path":"b"}}`, one("get path=a", "get path=b"), "", nil},
		{"Llama in Python", `<|python_tag|>get.call(path="a")`, nil, `get.call(path="a")`, kinds(Foreign)},
		{"GLM", "<tool_call>set\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>body</arg_key>\n<arg_value>\n  <b>\n</arg_value>\n</tool_call>!", one("set path=a >   <b>"), "!", nil},
		{"GLM, not closed", "<tool_call>get\n<arg_key>path</arg_key>\n<arg_value>a", nil, "get\npath\na", kinds(Foreign)},
		{"DeepSeek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>", one("get path=a"), "", nil},
		{"DeepSeek, the newer", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get<｜tool▁sep｜>{"path":"a"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get<｜tool▁sep｜>{"path":"b"}<｜tool▁call▁end｜>`, one("get path=a", "get path=b"), "", nil},
		{"DeepSeek that is broken", `<｜tool▁call▁begin｜>get<｜tool▁sep｜>{"path":<｜tool▁call▁end｜>`, nil, `get{"path":`, kinds(Foreign)},
		{"Cohere", `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"get","parameters":{"path":"a"}}]<|END_ACTION|>`, one("get path=a"), "", nil},
		{"Liquid", `<|tool_call_start|>[get(path="a")]<|tool_call_end|>`, nil, `[get(path="a")]`, kinds(Foreign)},
		{"Cline", "<get>\n<path>a.go</path>\n<line>3</line>\n</get><set><path>b</path><body>\n <c>\n</body></set><sh><command>ls</command></sh><search><query>x</query></search>", one("get path=a.go line=3", "set path=b >  <c>", "sh > ls", "search path=x"), "", nil},
		{"no Cline", "<set path=\"a\"><path>b</path></set><set><body>x</body></set><get><path>a</path> b</get><think><body>x</body></think>", one("set path=a > <path>b</path>", "set > <body>x</body>", "get path=<path>a</path> b", "think > <body>x</body>"), "", nil},
		{"LangChain", `{"action":"get","action_input":{"path":"a"}}`, one("get path=a"), "", nil},
		{"a file in JSON with its line breaks", "<tool_call>{\"name\":\"set\",\"arguments\":{\"path\":\"a\",\"body\":\"x {\n\t\\\"y\\\"\n\"}}</tool_call>!", one("set path=a > x {\n\t\"y\"\n"), "!", nil},
		{"line breaks, and no JSON", "{\"name\":\"get\",\"arguments\":{\"path\":\"a\nb\",}}", nil, "{\"name\":\"get\",\"arguments\":{\"path\":\"a\nb\",}}", kinds(Foreign)},
		{"arguments that are none", `{"name":"get","arguments":["a"]}`, nil, `{"name":"get","arguments":["a"]}`, kinds(Foreign)},
		{"announced, and no JSON", `<tool_call>{"name":"get",}</tool_call>`, nil, `{"name":"get",}`, kinds(Foreign)},
		{"a name alone", `{"name":"get"}`, nil, `{"name":"get"}`, nil},
		{"Mistral with an id", `[TOOL_CALLS]get[CALL_ID]a1B2[ARGS]{"path":"a"}`, one("get path=a"), "", nil},
		{"with a thought", `{"thought":"hm","action":"get","args":{"path":"a"}}`, one("get path=a"), "", nil},
		{"Cline's own tools", "<write_to_file><path>a</path></write_to_file>", nil, "a", kinds(Unknown)},
		{"args", `{"tool":"get","args":{"path":"a"}}`, one("get path=a"), "", nil},
		{"in a block of code", "```\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n```", nil, "```\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n```", kinds(Quoted)},
		{"of no tool in a block of code", "```\n{\"name\":\"x\",\"arguments\":{}}\n```", nil, "```\n{\"name\":\"x\",\"arguments\":{}}\n```", nil},
		{"Kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.get:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>`, one("get path=a"), "", nil},
		{"Phi", `<|tool_call|>[{"name":"get","arguments":{"path":"a"}}]<|/tool_call|>`, one("get path=a"), "", nil},
		{"a pipe", "a <| b |> c", nil, "a <| b |> c", nil},
	})
}

// TestPluginTools has tools that say no more of their bodies than a schema does.
func TestPluginTools(t *testing.T) {
	set := NewSet([]Tool{
		{Name: "bash", Parameters: []byte(`{"properties":{"command":{"type":"string"},"timeout":{"type":["integer","null"]}},"required":["command"]}`)},
		{Name: "write_file", Parameters: []byte(`{"properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
		{Name: "edit", Body: "content", Parameters: []byte(`{"properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
		{Name: "odd", Parameters: []byte(`[`)}, {Name: ""}, {Name: "bash"},
	})
	for answer, want := range map[string]string{
		"<bash timeout=\"3\">\nls <x>\n</bash>":                      "bash timeout=3 > ls <x>",
		`<write_file>{"path":"a","content":"b\n"}</write_file>`:      "write_file path=a content=b\n",
		`<write_file path="a" content="b"/>`:                         "write_file path=a content=b",
		`<write_file path="a">{"path":"b","content":1}</write_file>`: "write_file path=a content=1",
		`<write_file>path: a</write_file>`:                           "write_file FAULT",
		`<write_file></write_file>`:                                  "write_file",
		`<bash>{"command":"ls","timeout":3}</bash>`:                  "bash timeout=3 > ls",
		`<bash timeout="3">{"command":"ls","timeout":4}</bash>`:      `bash timeout=3 > {"command":"ls","timeout":4}`,
		`<bash command="ls">{"command":"cat"}</bash>`:                `bash > {"command":"cat"}`,
		`<bash>{"timeout":3}</bash>`:                                 `bash > {"timeout":3}`,
		`<bash>{"command":"ls","user":"x"}</bash>`:                   `bash > {"command":"ls","user":"x"}`,
		`<bash>{"command":["ls"]}</bash>`:                            `bash > {"command":["ls"]}`,
		`<bash>{ ls; cat a; }</bash>`:                                "bash > { ls; cat a; }",
		`<edit path="a">{"x":1}</edit>`:                              `edit path=a > {"x":1}`,
		`<odd x="1">{"y":[2]}</odd>`:                                 "odd x=1 y=[2]",
	} {
		got := Read(set, answer)
		if len(got.Calls) != 1 || shown(got.Calls[0]) != want {
			t.Errorf("%q is read as %+v, want %q", answer, got, want)
		}
	}
}

// TestQualifiedNames has a tool that is called by its plugin's name too, since another one has the bare one.
func TestQualifiedNames(t *testing.T) {
	long := strings.Repeat("a", 64) + "__" + strings.Repeat("b", 64)
	set := NewSet([]Tool{{Name: "find", Target: "path"}, {Name: "my-notes.2__find", Target: "path"}, {Name: "9x__find", Target: "path"}, {Name: long, Target: "path"}})
	for answer, want := range map[string]string{
		"<my-notes.2__find path=\"a\"/>": "my-notes.2__find path=a", "<my-notes.2__find>a</my-notes.2__find>": "my-notes.2__find path=a", "<9x__find>a</9x__find>": "9x__find path=a",
		"<" + long + ">a</" + long + ">": long + " path=a", "<find>a <find-it> b</find>": "find path=a <find-it> b", "<function=my-notes.2__find><parameter=path>a</parameter></function>": "my-notes.2__find path=a",
		`<invoke name="9x__find"><parameter name="path">a</parameter></invoke>`: "9x__find path=a", `call:my-notes.2__find{path:a}`: "my-notes.2__find path=a", `[TOOL_CALLS]my-notes.2__find{"path":"a"}`: "my-notes.2__find path=a",
	} {
		got := Read(set, answer)
		if len(got.Calls) != 1 || shown(got.Calls[0]) != want || got.Narration != "" || len(got.Warnings) > 0 {
			t.Errorf("%q is read as %+v, want %q", answer, got, want)
		}
	}
	if got := Read(set, "<my-notes.2 path=\"a\"/>"); len(got.Calls) > 0 {
		t.Errorf("half a name is read as %+v", got)
	}
}

// A call is shown while its body comes, and is one of the calls when it has ended.
func TestForming(t *testing.T) {
	r := NewReader(offered)
	steps := []struct{ piece, forming, calls string }{
		{"I write <se", "", ""},
		{"t path=\"a.m", "", ""},
		{"d\">\n# Ti", "set path=a.md > # Ti", ""},
		{"tle\n", "set path=a.md > # Title", ""},
		{"</set", "", ""},
		{">", "", "set path=a.md > # Title"},
		{" then <get path=\"b\"/>", "", "set path=a.md > # Title; get path=b"},
	}
	for _, s := range steps {
		r.Write(s.piece)
		var all []string
		for _, c := range r.Reading().Calls {
			all = append(all, shown(c))
		}
		if got := strings.Join(all, "; "); got != s.calls {
			t.Errorf("behind %q there are the calls %q", s.piece, got)
		}
		c, ok := r.Forming()
		if ok && shown(c) != s.forming && s.forming != "" || ok != (s.forming != "") && s.piece != "</set" {
			t.Errorf("behind %q %q is forming, %v", s.piece, shown(c), ok)
		}
	}
}
