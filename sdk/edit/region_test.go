package edit

import "testing"

// Where a region begins and ends, when its text has words like its own.
func TestRegionEnds(t *testing.T) {
	for _, r := range []row{
		{name: "the word in prose", text: "<<NEW\nA NEW day.\nNEW", want: "A NEW day."},
		{name: "the word in prose, in a line", text: "<<NEW A NEW day NEW", want: "A NEW day"},
		{name: "the word at the end of a sentence", text: "<<NEW\nthis is NEW\nand that\nNEW", want: "this is NEW\nand that"},
		{name: "SQL", text: "<<SEARCH\na\nSEARCH\n<<REPLACE\nCREATE OR REPLACE VIEW v;\nREPLACE", body: "a", want: "CREATE OR REPLACE VIEW v;"},
		{name: "behind its closer, in prose", text: "<<NEW\nx\nNEW\nThe NEW file is done.", want: "x", warns: []Kind{Outside}},
		{name: "only in prose", text: "<<NEW x NEW and so on", want: "x", warns: []Kind{Outside}},
		{name: "twice alone on a line", text: "<<NEW\na\nNEW\nb\nNEW", body: "old", outcome: invalid, says: "or on line 5"},
		{name: "twice alone on a line, with a suffix", text: "<<NEW1\na\nNEW\nb\nNEW1", want: "a\nNEW\nb"},
		{name: "a suffix of letters", text: "<<SEARCH_OUTER\n<<SEARCH\na\nSEARCH\nSEARCH_OUTER\n<<REPLACE_OUTER\nb\nREPLACE_OUTER", body: "<<SEARCH\na\nSEARCH\n", want: "b\n"},
		{name: "a longer word", text: "<<NEW\nNEW_LINE NEW1 xNEW NEW. NEW, (NEW)\nNEW", want: "NEW_LINE NEW1 xNEW NEW. NEW, (NEW)"},
		{name: "small letters", text: "<<NEW\nnew\nNEW", want: "new"},
		{name: "the marker in a line", text: "<<NEW\nsay <<NEW to make\nNEW", want: "say <<NEW to make"},
		{name: "the marker on a line", text: "<<APPEND\na\n<<APPEND\nb\nAPPEND", body: "x", outcome: invalid, says: "<<APPEND on line 1 is not closed"},
		{name: "the marker on an indented line", text: "<<APPEND\na\n\t<<APPEND b APPEND", body: "x", outcome: invalid, says: "<<APPEND on line 1 is not closed"},
		{name: "another marker in it", text: "<<NEW\n<<SEARCH\nx\n</set>\nNEW", want: "<<SEARCH\nx\n</set>"},
		{name: "not closed before another", text: "<<APPEND a\n<<NEW b NEW", body: "x", outcome: invalid, says: "<<APPEND on line 1 is not closed"},
		{name: "the second is not closed", text: "<<NEW\na\nNEW\n\n<<APPEND\nb", outcome: invalid, says: "<<APPEND on line 5 is not closed"},
		{name: "two of a kind in a line", text: "<<DELETE a DELETE or so <<DELETE b DELETE", body: "a b c", want: "  c", warns: []Kind{Outside}},
		{name: "closed glued to its text", text: "<<NEW\nxNEW", outcome: invalid, says: "not closed"},
		{name: "a line number is no suffix", text: "<<SEARCH[5]\na\nSEARCH[5]<<REPLACE\nb\nREPLACE", body: "a", outcome: invalid, says: "<<SEARCH on line 1 is not closed"},
		{name: "only a marker", text: "<<NEW", outcome: invalid, says: "not closed"},

		{name: "another word opens all", text: "\n\t<<DOC1\n<<SEARCH and SEARCH\nDOC1\n", body: "old", want: "<<SEARCH and SEARCH"},
		{name: "another word not closed", text: "<<EOF\ntext", body: "old", outcome: invalid, says: "<<EOF on line 1 is not closed"},
		{name: "another word behind a region", text: "<<NEW\na\nNEW\n<<EOF\nb\nEOF", want: "b"},
		{name: "a here-document of a script", text: "#!/bin/sh\ncat <<EOF\nhi\nEOF\necho done\n", body: "old", want: "#!/bin/sh\ncat <<EOF\nhi\nEOF\necho done\n"},
		{name: "a here-document in a region", text: "<<NEW\ncat <<EOF\nhi\nEOF\nNEW", want: "cat <<EOF\nhi\nEOF"},
		{name: "shifts and templates", text: "x <<MASK; std::cout <<A << B;", body: "old", want: "x <<MASK; std::cout <<A << B;"},
		{name: "an operator before a keyword", text: "x = 1 <<NEW_BIT;", body: "old", outcome: invalid, says: "<<NEW_BIT on line 1 is not closed"},

		{name: "the packet's form", text: "<<:::a.md\n<<NEW x NEW\n:::a.md", body: "old", want: "<<:::a.md\n<<NEW x NEW\n:::a.md", warns: []Kind{NoMarker}},
		{name: "the packet's form before a marker", text: "<<:::a.md\n<<NEW x NEW\n:::a.md\n<<NEW y NEW", want: "y", warns: []Kind{Outside}},
		{name: "the packet's form not closed", text: "<<:::a.md\n<<NEW x NEW", want: "x", warns: []Kind{Outside}},
		{name: "quotes are no marker", text: "<<'NEW'\nx\nNEW", want: "<<'NEW'\nx\nNEW", warns: []Kind{NoMarker}},
		{name: "a dash is no marker", text: "<<-NEW\nx\nNEW", want: "<<-NEW\nx\nNEW", warns: []Kind{NoMarker}},
		{name: "a blank is no marker", text: "<< NEW\nx\nNEW", want: "<< NEW\nx\nNEW", warns: []Kind{NoMarker}},
		{name: "three brackets are no marker", text: "<<<NEW\nx\nNEW", want: "<<<NEW\nx\nNEW", warns: []Kind{NoMarker}},
		{name: "a shift at the begin", text: "<< new_x;", want: "<< new_x;"},
	} {
		t.Run(r.name, r.run)
	}
}
