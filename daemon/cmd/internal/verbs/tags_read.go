package verbs

// TagsRead says which calls an answer of a model has.
type TagsRead struct{}

// Help adds to the help of the verb.
func (TagsRead) Help() string {
	return `Reads a model's answer from standard input and prints the calls that it writes as tags, with the tools get, search, skill, think, set, rm, mv, cp, env, sh, ask_user and update. What is written wrongly is put right where it is plain what was meant, and told as a warning; so are calls in the forms of other programs. Nothing is run.

With --json it is one object: calls (tool, attributes and body), warnings (kind and message), and narration, which is the text outside of calls. Without it a line for each call, and warnings on standard error. The exit code is 0 whatever the answer is.

Examples:

    echo '<get path="main.go"/>' | bothy tags read
    bothy tags read --json < answer.txt | jq -r '.calls[] | select(.tool == "set") | .body'
`
}
