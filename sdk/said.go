package sdk

import "strings"

// AttributeSaid is the attribute that the daemon adds to a prompt:// entry which a plugin reads: how many bytes at the
// beginning of its body a person said. What follows was given along, such as a text that was piped in; where it is 0 no
// person gave the prompt in this run, but a plugin, an agent or a plan.
const AttributeSaid = "said"

// StandsIn reports whether a text stands in what somebody said, whatever white space is between its words. Nothing stands
// nowhere.
func StandsIn(said, text string) bool {
	words := strings.Join(strings.Fields(text), " ")
	return words != "" && strings.Contains(" "+strings.Join(strings.Fields(said), " ")+" ", words)
}
