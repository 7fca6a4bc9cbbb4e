package view

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestReasoningThatIsNotSent: it is counted with the calls that it came with, and nowhere else.
func TestReasoningThatIsNotSent(t *testing.T) {
	thought := strings.Repeat("hmm ", 1000)
	plain := sdk.Message{Role: sdk.RoleAssistant, Text: "yes"}
	said := plain
	said.Reasoning = thought
	if messageTokens(&said) != messageTokens(&plain) {
		t.Error("an answer without calls counts what was thought before it")
	}
	calls := []sdk.Call{{ID: "c", Tool: "read_file", Arguments: "{}"}}
	plain.Calls, said.Calls = calls, calls
	if messageTokens(&said) != messageTokens(&plain)+Tokens(thought) {
		t.Error("an answer with calls does not")
	}
}
