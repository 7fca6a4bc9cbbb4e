package sdk

import "strings"

// What the daemon adds to the attributes of a prompt:// entry which a plugin reads.
const (
	// AttributeSaid is how many bytes at the beginning of its body a person said. What follows was given along, such as a text
	// that was piped in; where it is 0 no person gave the prompt in this run, but a plugin, an agent or a plan.
	AttributeSaid = "said"
	// AttributeAgent is the agent that it was for: a run has prompts for any. Empty where it was given in another run.
	AttributeAgent = "agent"
)

// StandsIn reports whether a text stands in what somebody said, whatever white space is between its words. Nothing stands
// nowhere.
func StandsIn(said, text string) bool {
	words := strings.Join(strings.Fields(text), " ")
	return words != "" && strings.Contains(" "+strings.Join(strings.Fields(said), " ")+" ", words)
}
