package packet

import "github.com/bothyd/bothy/sdk"

// reminders are the same in every turn. They stand near the end, since a model loses a rule that it read long before it acts.
const reminders = `Work on the prompt above. What you need to see whole must be visible: promote it with get, and demote what you need no more with set, whose attribute visibility takes visible, summarized and archived. The attribute tokens of an entry is what promoting it costs and demoting it frees. What is archived is found by patterns, and comes back with get.
What you wrote before is not shown to you again: keep what you find out as known:// entries and what is open as unknown:// entries, one matter each.`

// instructionsPart is what a model is to do, whatever it works on, and what the turn adds to it.
var instructionsPart = part{name: "instructions", priority: 165, text: func(p *sdk.Prompt, _ *figures) string {
	text := reminders
	if p.Instructions != "" {
		text += "\n\n" + p.Instructions
	}
	return "<instructions>\n" + text + "\n</instructions>"
}}
