package verbs

// WebJudge says what becomes of an address of the web.
type WebJudge struct {
	Mode    string `placeholder:"MODE" enum:"${modes}," default:"" help:"${mode_words}; policy.mode of the configuration when absent."`
	Address string `arg:"" name:"url" help:"The address."`
}

// Help adds to the help of the verb.
func (WebJudge) Help() string {
	return `Nobody is asked: neither a server nor a name server, and no daemon. First comes what the web guard says of the address as it is written, with what the block of the plugin web opens; which addresses the host has only a fetch knows. Then what policy would do with it, should a model come up with it by itself, as 'bothy policy test --address' says it.

With --json it is one object: verdict (allow, deny or error), kind and reason of the guard, asked (the address as it would be asked for), host, and decision, rule, source and why of policy. The exit code is 0 whatever is said.

Examples:

    bothy web judge https://docs.example.org/a
    bothy web judge --json 'http://2130706433/' | jq -r .kind
`
}
