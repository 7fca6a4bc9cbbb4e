package verbs

// PolicyTest says what policy would do with a command, or with an address.
type PolicyTest struct {
	Mode    string   `placeholder:"MODE" enum:"${modes}," default:"" help:"${mode_words}; policy.mode of the configuration when absent."`
	Shell   string   `placeholder:"FORM" enum:"bash,argv," default:"" help:"bash, or argv: one program and its words without a shell; sandbox.shell of the configuration when absent."`
	Address string   `placeholder:"URL" help:"An address that a model wrote and wants to fetch, in the place of a command."`
	Command []string `arg:"" optional:"" name:"command" help:"The command line; - reads it from standard input, byte for byte."`
}

// Help adds to the help of the verb.
func (PolicyTest) Help() string {
	return `Prints allow, propose or deny, the rule that decided with the place it comes from, and every command that was seen in the line. The rules of the configuration and of the project's .bothy/config.hcl count; what answers left does not, and nobody is there to be asked: what restricted mode would propose it denies. The exit code is 0 for each verdict, and 2 when there was nothing to judge.

Put the line into quotes, so that your own shell leaves it as it is; words after -- are joined by blanks.

Of an address it is said what becomes of one that the model itself wrote. One that stands in your prompt, or in what a search of the run found, is asked unless a rule or the mode interactive keeps it.

Examples:

    bothy policy test 'git log --oneline | head'
    bothy policy test --mode full -- 'find . -name "*.o" -delete'
    bothy policy test --json - < build.sh | jq -r .decision
    bothy policy test --mode restricted --address https://docs.example.org/x
`
}
