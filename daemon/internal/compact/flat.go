package compact

import (
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// attributes are those of a summary's entry.
func attributes(s sdk.Summary) json.RawMessage {
	text, _ := json.Marshal(s) // of numbers and texts
	return text
}

// Flat is a conversation without calls: who is asked for a summary is offered no tool, and servers refuse calls of tools
// that are not there, or a model goes on with them. What was called, and what came of it, is told as text.
func Flat(messages []sdk.Message) []sdk.Message {
	flat := make([]sdk.Message, 0, len(messages))
	for i := range messages {
		m := messages[i]
		switch {
		case m.Role == sdk.RoleTool:
			m = sdk.Message{Role: sdk.RoleUser, Text: fmt.Sprintf("[%s came to this]\n%s", m.Tool, m.Text), Skill: m.Skill}
		case m.Role == sdk.RoleAssistant:
			text := m.Text
			for _, c := range m.Calls {
				if text != "" {
					text += "\n\n"
				}
				text += fmt.Sprintf("[called %s %s]", c.Tool, c.Arguments)
			}
			m = sdk.Message{Role: sdk.RoleAssistant, Text: text}
		}
		if n := len(flat) - 1; n >= 0 && m.Role == sdk.RoleUser && flat[n].Role == sdk.RoleUser && i < len(messages)-1 {
			flat[n].Text += "\n\n" + m.Text
			flat[n].Media = append(flat[n].Media[:len(flat[n].Media):len(flat[n].Media)], m.Media...)
			continue
		}
		flat = append(flat, m)
	}
	return flat
}
