package verbs

// TagsEdit makes the edits that a model wrote, on a text.
type TagsEdit struct {
	Body string `required:"" placeholder:"FILE" complete:"file" help:"The text that is edited, which stays as it is; an empty file where there is none yet."`
}

// Help adds to the help of the verb.
func (TagsEdit) Help() string {
	return `Reads from standard input what a model writes into the body of 'set', and prints what becomes of the text. It is edited by regions between markers, or replaced by what has none:

    <<SEARCH ... SEARCH <<REPLACE ... REPLACE   the one place that it names
    <<DELETE ... DELETE                         the one place that it names, with the lines that it was all of
    <<APPEND ... APPEND, <<PREPEND ... PREPEND  lines behind the text, or before it
    <<NEW ... NEW, <<REPLACE ... REPLACE        all of the text

All of them hold or none. With --json it is one object: body, warnings (kind and message), and error (code and message), which is null or says why the body is as it was. The exit code is 0 then. Without --json warnings go to standard error, and it is 1 when the text is not as the edit expects (conflict), 2 when the edit cannot be read.

Examples:

    bothy tags edit --body main.go < edit.txt
    printf '<<SEARCH\nport = 80\nSEARCH\n<<REPLACE\nport = 8080\nREPLACE' | bothy tags edit --body site.conf --json
`
}
