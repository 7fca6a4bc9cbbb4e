package verbs

// Match says how a pattern is read and whether it fits a text.
type Match struct {
	Search  bool   `help:"Ask whether a part of the text fits, as a filter on bodies does, instead of all of it, as a path must."`
	Pattern string `arg:"" help:"The pattern; its shape says what it is."`
	Text    string `arg:"" name:"string" help:"A path, or a text; - reads it from standard input."`
}

// Help adds to the help of the verb.
func (Match) Help() string {
	return `Patterns are what models and clients name entries by, and search bodies with. The first shape that fits decides how one is read:

    regex     /body/flags, of RE2, found anywhere; flags i, m, s (g, u and y mean nothing here)
    jsonpath  $.name or $[0], of RFC 9535, asked of a text that is JSON
    xpath     //name, /a/b[2], an axis, of XPath 1.0, asked of a text that is XML or HTML
    glob      * and ? within a name, ** over folders, {a,b}, !(a|b) for all else, ! in front for the contrary
    literal   everything else

Paths are data: a bracket is a class only beside * or ? in the same name, parentheses are letters, and what is written like the pattern itself always fits. A search takes a literal anywhere, and a glob within a line.

The exit code is 0 whether it fits or not, and 2 when the pattern cannot be used.

Examples:

    bothy match 'src/[id]/*' 'src/[id]/page.tsx'
    bothy match '!(*_test).go' main.go
    bothy match --search '/todo/i' - < main.go
    bothy match --json '$.dependencies.react' - < package.json | jq .match
    bothy match '//item[2]/title' "$(curl -s https://go.dev/blog/feed.atom)"
`
}
