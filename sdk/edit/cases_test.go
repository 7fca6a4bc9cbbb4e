package edit

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// row is a body of `set`, what there was before, and what becomes of it.
type row struct {
	name, text, body string
	want             string      // the new body
	outcome          sdk.Outcome // instead, why there is none
	says             string      // a part of the message, or of the warnings
	warns            []Kind
}

func (r row) run(t *testing.T) {
	t.Helper()
	e, err := Parse(r.text)
	var got Result
	if err == nil {
		got, err = e.Apply(r.body)
	}
	if r.outcome != "" {
		if sdk.OutcomeOf(err) != r.outcome || !strings.Contains(err.Error(), r.says) {
			t.Fatalf("got %q and the error %v, want %s with %q", got.Body, err, r.outcome, r.says)
		}
		if got.Body != "" || got.Warnings != nil {
			t.Fatalf("beside the error it has %+v", got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var said strings.Builder
	for _, w := range got.Warnings {
		kinds = append(kinds, string(w.Kind))
		said.WriteString(w.Message + "\n")
	}
	var want []string
	for _, k := range r.warns {
		want = append(want, string(k))
	}
	if got.Body != r.want || strings.Join(kinds, " ") != strings.Join(want, " ") || !strings.Contains(said.String(), r.says) {
		t.Fatalf("got %q and the warnings %v\n%s\nwant %q and %v with %q", got.Body, kinds, said.String(), r.want, want, r.says)
	}
}

const (
	conflict = sdk.Conflict
	invalid  = sdk.Validation
)

// TestEditRows are the rows about editing that the contract lists, by their numbers.
func TestEditRows(t *testing.T) {
	for _, r := range []row{
		{name: "E1", text: "<<NEW\nhi\nNEW", want: "hi"},
		{name: "E7", text: "<<REPLACE\nz\nREPLACE", body: "a", want: "z"},
		{name: "E9", text: "<<SEARCH\na\nSEARCH\n<<REPLACE\nz\nREPLACE", body: "q", outcome: conflict, says: "not found"},
		{name: "E10", text: "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE\n<<SEARCH\nb\nSEARCH\n<<REPLACE\nc\nREPLACE", body: "a", want: "c"},
		{name: "E11", text: "<<SEARCH a SEARCH", body: "a", outcome: invalid, says: "<<SEARCH on line 1 has no <<REPLACE"},
		{name: "E16", text: "<<NEW hi", outcome: invalid, says: "<<NEW on line 1 is not closed"},
		{name: "E17", text: "<<EOF\ntext\nEOF", body: "old", want: "text"},
		{name: "E19", text: "<<SEARCH1\nSEARCH\nSEARCH1 <<REPLACE1\nx\nREPLACE1", body: "SEARCH", want: "x"},
		{name: "E20", text: "<<SEARCH1 a SEARCH", body: "a", outcome: invalid, says: "end it with SEARCH1"},
		{name: "E21", text: "vec<<SEARCH", body: "old", want: "vec<<SEARCH"},
		{name: "E22", text: "<<new x new", body: "old", want: "<<new x new", warns: []Kind{NoMarker}},
		{name: "E23", text: "<b><<NEW x NEW", body: "old", want: "x", warns: []Kind{Outside}},
		{name: "E27", text: "<<NEWS x NEWS", body: "old", want: "x"},
		{name: "E29", text: "<<NEW\nNEWER\nNEW", want: "NEWER"},
		{name: "E31", text: "<<SEARCH\nfoo()\nSEARCH\n<<REPLACE\nbar()\nREPLACE", body: "\tfoo()", want: "\tbar()"},
		{name: "E31 with more lines", text: "<<SEARCH\nfoo()\nSEARCH\n<<REPLACE\nif x {\n\tbar()\n\n}\nREPLACE", body: "a\n\tfoo()\nb\n", want: "a\n\tif x {\n\t\tbar()\n\n\t}\nb\n", warns: []Kind{Reindented}},
		{name: "E31 over lines", text: "<<SEARCH\nif x {\n  foo()\n}\nSEARCH\n<<REPLACE\nif x {\n  bar()\n}\nREPLACE",
			body: "\tif x {\n\t  foo()\n\t}\n", want: "\tif x {\n\t  bar()\n\t}\n", warns: []Kind{Reindented}},
		{name: "E32", text: "<<SEARCH SEARCH <<REPLACE x REPLACE", body: "a", outcome: invalid, says: "nothing to search for"},
		{name: "95 on a text", text: "s/x/y/g", body: "x", outcome: invalid, says: "<<SEARCH\n"},
		{name: "95 on none", text: "s/x/y/g", want: "s/x/y/g"},
		{name: "96 on a text", text: `{"search":"x","replace":"y"}`, body: "x", outcome: invalid, says: "<<SEARCH\n"},
		{name: "96 on none", text: `{"search":"x","replace":"y"}`, want: `{"search":"x","replace":"y"}`},
		{name: "97", text: "<<NEW\nhi\nNEW", body: "old", want: "hi"},
		{name: "34", text: "", body: "old", outcome: invalid, says: "nothing to write"},

		{name: "R2", text: "<<SEARCH\na\nSEARCH\n<<REPLACE\nz\nREPLACE", body: "a\na\na\n", outcome: conflict, says: "lines 1, 2 and 3"},
		{name: "R2 of DELETE", text: "<<DELETE\na\nDELETE", body: "a\na\na\n", outcome: conflict, says: "lines 1, 2 and 3"},
		{name: "R8", text: "<<SEARCH x SEARCH <<REPLACE z REPLACE", body: "y", outcome: conflict, says: "<<SEARCH on line 1"},
		{name: "R9", text: "<<SEARCH\n   \nSEARCH\n<<REPLACE\nline2\nREPLACE", body: "line1", outcome: invalid, says: "nothing to search for"},
		{name: "R10", text: "<<SEARCH\nSEARCH\n<<REPLACE\ntail\nREPLACE", body: "line1\n", outcome: invalid, says: "nothing to search for"},
		{name: "R12", text: "<<SEARCH\nfoo bar\nSEARCH\n<<REPLACE\nx\nREPLACE", body: "foo  bar", outcome: conflict, says: "closest place is line 1"},
		{name: "R14", text: "<<SEARCH\n a\n b\nSEARCH\n<<REPLACE\nZ\nREPLACE", body: "a\nb\na\nb\n", outcome: conflict, says: "lines 1 and 3"},
		{name: "R15", text: "<<SEARCH two SEARCH <<REPLACE 2 REPLACE", body: "one two three", want: "one 2 three"},
		{name: "DELETE of nothing", text: "<<DELETE DELETE", body: "a", outcome: invalid, says: "nothing to search for"},
	} {
		t.Run(r.name, r.run)
	}
}

// TestOneEditOfMany is the row E33: what a pattern finds gets the same edit, and what
// one of them comes to does not depend on the others.
func TestOneEditOfMany(t *testing.T) {
	e, err := Parse("<<SEARCH a SEARCH <<REPLACE b REPLACE")
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{"x a": "x b", "a": "b", "a a": "", "c": ""} {
		got, err := e.Apply(body)
		if got.Body != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q, %v", body, got.Body, err)
		}
	}
}

func TestMarkers(t *testing.T) {
	for _, r := range []row{
		{name: "APPEND in a line", text: "<<APPEND b APPEND", body: "a\n", want: "a\nb\n"},
		{name: "APPEND without a last line ending", text: "<<APPEND\nb\nAPPEND", body: "a", want: "a\nb"},
		{name: "APPEND makes", text: "<<APPEND\nb\nAPPEND", want: "b"},
		{name: "APPEND of lines that end", text: "<<APPEND\nb\n\nAPPEND", body: "a\n", want: "a\nb\n"},
		{name: "APPEND of nothing", text: "<<APPEND\nAPPEND", body: "a", want: "a", warns: []Kind{Unchanged}},
		{name: "APPEND to CRLF", text: "<<APPEND\nb\nc\nAPPEND", body: "a\r\n", want: "a\r\nb\r\nc\r\n"},
		{name: "APPEND of CRLF to CRLF", text: "<<APPEND\r\nb\r\nc\r\nAPPEND", body: "x\na\r\n", want: "x\na\r\nb\r\nc\r\n"},
		{name: "PREPEND", text: "<<PREPEND\nh\nPREPEND", body: "a\n", want: "h\na\n"},
		{name: "PREPEND to one line", text: "<<PREPEND h PREPEND", body: "a", want: "h\na"},
		{name: "PREPEND makes", text: "<<PREPEND h PREPEND", want: "h"},
		{name: "PREPEND to CRLF", text: "<<PREPEND\nh\nPREPEND", body: "a\r\nb\n", want: "h\r\na\r\nb\n"},
		{name: "PREPEND behind a byte order mark", text: "<<PREPEND\nh\nPREPEND", body: "\ufeffa\r\n", want: "\ufeffh\r\na\r\n"},
		{name: "PREPEND to a byte order mark alone", text: "<<PREPEND\n\ufeffh\nPREPEND", body: "\ufeff", want: "\ufeffh"},
		{name: "SEARCH by lines behind a byte order mark", text: "<<SEARCH\nif x {\n  foo()\nSEARCH\n<<REPLACE\nif y {\n  foo()\nREPLACE", body: "\ufeff\tif x {\n\t  foo()\n", want: "\ufeff\tif y {\n\t  foo()\n", warns: []Kind{Reindented}},
		{name: "SEARCH with the byte order mark", text: "<<SEARCH\n\ufeffa\nSEARCH\n<<REPLACE\n\ufeffb\nREPLACE", body: "\ufeffa\n", want: "\ufeffb\n"},
		{name: "DELETE of the line behind a byte order mark", text: "<<DELETE\na\nDELETE", body: "\ufeffa\nb\n", want: "\ufeffb\n"},
		{name: "NEW over a byte order mark", text: "<<NEW\nb\nNEW", body: "\ufeffa\n", want: "b"},
		{name: "APPEND and PREPEND glued", text: "<<APPEND t APPEND<<PREPEND h PREPEND", body: "a\n", want: "h\na\nt\n"},
		{name: "REPLACE empties", text: "<<REPLACE\nREPLACE", body: "a", want: ""},
		{name: "NEW empties", text: "<<NEW NEW", body: "a", want: ""},
		{name: "all of a text is as written", text: "<<REPLACE\nx\r\ny\nREPLACE", body: "a\r\nb\r\n", want: "x\r\ny"},
		{name: "one line ending each side", text: "<<NEW\n\n  hi  \n\nNEW", want: "\n  hi  \n"},
		{name: "blanks behind the opener", text: "<<NEW \t\nhi\nNEW", want: "hi"},
		{name: "an indented closer", text: "<<NEW\n\thi\n\tNEW", want: "\thi"},
		{name: "an indented closer of nothing", text: "<<NEW\n\tNEW", want: ""},
		{name: "one blank each side", text: "<<NEW  a  NEW", want: " a "},
		{name: "CRLF markers", text: "<<NEW\r\nhi\r\nNEW\r\n", want: "hi"},
		{name: "a tab each side", text: "<<NEW\thi\tNEW", want: "hi"},
		{name: "text as it stands", text: " x\n", body: "old", want: " x\n"},
		{name: "white space blanks nothing", text: " \n\t", body: "old", outcome: invalid, says: "nothing to write"},

		{name: "SEARCH glued to REPLACE", text: "<<SEARCH\na\nSEARCH<<REPLACE\nb\nREPLACE", body: "a\n", want: "b\n"},
		{name: "SEARCH with another word behind it", text: "<<SEARCH\na\nSEARCH\n<<EOF\nb\nEOF", body: "a", want: "b"},
		{name: "SEARCH and an empty REPLACE", text: "<<SEARCH\nb\nSEARCH\n<<REPLACE\nREPLACE", body: "a\nb\nc\n", want: "a\nc\n"},
		{name: "SEARCH before another operation", text: "<<SEARCH\na\nSEARCH\n<<APPEND\nb\nAPPEND", body: "a", outcome: invalid, says: "has no <<REPLACE"},
		{name: "two SEARCH", text: "<<SEARCH a SEARCH\n<<SEARCH b SEARCH\n<<REPLACE c REPLACE", body: "a b", outcome: invalid, says: "<<SEARCH on line 1 has no"},
		{name: "REPLACE behind a pair is of all", text: "<<SEARCH a SEARCH <<REPLACE b REPLACE <<REPLACE c REPLACE", body: "a a2", outcome: conflict, says: "2 times on line 1"},
		{name: "a pair on what REPLACE wrote", text: "<<REPLACE a REPLACE <<SEARCH a SEARCH <<REPLACE b REPLACE", body: "x", want: "b"},
		{name: "SEARCH in a new entry", text: "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE", outcome: conflict, says: "<<NEW writes one"},
		{name: "the second pair fails", text: "<<SEARCH a SEARCH <<REPLACE b REPLACE <<SEARCH a SEARCH <<REPLACE c REPLACE", body: "a", outcome: conflict, says: "as the operations before it leave it"},
		{name: "a dollar and a backslash", text: `<<SEARCH x SEARCH <<REPLACE $& \1 REPLACE`, body: "x", want: `$& \1`},
		{name: "CRLF bodies stay", text: "<<SEARCH\na\nb\nSEARCH\n<<REPLACE\nA\nB\nC\nREPLACE", body: "x\r\na\r\nb\r\n", want: "x\r\nA\r\nB\r\nC\r\n"},
		{name: "Unicode", text: "<<SEARCH\n漢字 é 🎈\nSEARCH\n<<REPLACE\nß\u2028\nREPLACE", body: "\ufeff漢字 é 🎈\n", want: "\ufeffß\u2028\n"},
		{name: "no UTF-8", text: "<<SEARCH\n\xff\nSEARCH\n<<REPLACE\n\xfe\x00\nREPLACE", body: "a\xffb", want: "a\xfe\x00b"},

		{name: "lines with their indentation but the first", text: "<<SEARCH\nfoo()\nSEARCH\n<<REPLACE\nif x {\n\t\tbar()\n\t}\nREPLACE", body: "\tfoo()\n", want: "\tif x {\n\t\tbar()\n\t}\n"},
		{name: "lines without indentation, CRLF", text: "<<SEARCH\nfoo\nSEARCH\n<<REPLACE\na\nb\nREPLACE", body: "  foo \r\nx\r\n", want: "  a\r\n  b \r\nx\r\n", warns: []Kind{Reindented}},
		{name: "lines within a line", text: "<<SEARCH\nfoo\nSEARCH\n<<REPLACE\na\nb\nREPLACE", body: "  x(foo)\n", want: "  x(a\nb)\n"},
		{name: "lines with an indented search", text: "<<SEARCH\n  foo\nSEARCH\n<<REPLACE\n  a\nb\nREPLACE", body: "  foo\n", want: "  a\nb\n"},
		{name: "a pair of the same", text: "<<SEARCH\na\nSEARCH\n<<REPLACE\na\nREPLACE", body: "a\n", want: "a\n", warns: []Kind{Unchanged}},

		{name: "DELETE in a line", text: "<<DELETE b DELETE", body: "abc", want: "ac"},
		{name: "DELETE of a line", text: "<<DELETE\nb\nDELETE", body: "a\nb\nc\n", want: "a\nc\n"},
		{name: "DELETE of an indented line", text: "<<DELETE\nb\nDELETE", body: "a\n  b \nc\n", want: "a\nc\n"},
		{name: "DELETE of the last line", text: "<<DELETE\nb\nDELETE", body: "a\nb", want: "a"},
		{name: "DELETE of CRLF", text: "<<DELETE\nb\nDELETE", body: "a\r\nb\r\nc", want: "a\r\nc"},
		{name: "DELETE by lines", text: "<<DELETE\nb\nc\nDELETE", body: "a\n\tb\n\tc\nd\n", want: "a\nd\n", warns: []Kind{Reindented}},
		{name: "DELETE of what is not there", text: "<<DELETE\nb\nDELETE", body: "a", outcome: conflict, says: "<<DELETE on line 1"},
		{name: "DELETE of SQL", text: "<<DELETE\nDELETE FROM a;\nDELETE", body: "x;\nDELETE FROM a;\n", want: "x;\n"},

		{name: "text before", text: "I change it:\n\n<<APPEND\nb\nAPPEND", body: "a\n", want: "a\nb\n", warns: []Kind{Outside}, says: "left out, the first on line 1:"},
		{name: "text between and behind", text: "<<APPEND\nb\nAPPEND\nand\n\n<<APPEND\nc\nAPPEND\ndone\n", body: "a", want: "a\nb\nc", warns: []Kind{Outside}, says: "left out, the first on line 4:"},
		{name: "text between a pair", text: "<<SEARCH\na\nSEARCH\nbecomes\n<<REPLACE\nb\nREPLACE", body: "a", want: "b", warns: []Kind{Outside}},
		{name: "tags around", text: "<body><<NEW\nx\nNEW</body>", want: "x", warns: []Kind{Outside}},
	} {
		t.Run(r.name, r.run)
	}
}
