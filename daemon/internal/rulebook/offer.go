package rulebook

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Offers are the rules that an answer to the call could leave, as they would be written.
func (c Call) Offers(now time.Time) []sdk.Offer {
	var all []sdk.Offer
	for _, what := range []sdk.Remember{sdk.RememberCall, sdk.RememberCommand, sdk.RememberHost, sdk.RememberTool} {
		if rule, err := c.Rule(what, now); err == nil {
			all = append(all, sdk.Offer{Remember: what, Text: offerText(*rule, c.Tool), Rule: rule.PolicyRule})
		}
	}
	return all
}

// offerText says what a rule allows, for a person.
func offerText(r sdk.RememberedRule, tool sdk.Tool) string {
	switch {
	case len(r.Whole) > 0:
		var commands []string
		for _, w := range r.Whole {
			text := "`" + words(w.Argv) + "`"
			if len(w.Plain) > 0 {
				text += " (with or without " + strings.Join(w.Plain, ", ") + ")"
			}
			if w.Dir != commandsRoot {
				text += " in " + w.Dir
			}
			commands = append(commands, text)
		}
		return "always allow " + strings.Join(commands, " and ")
	case len(r.Hosts) > 0:
		return fmt.Sprintf("always allow %s to ask %s, whatever stands in the address", tool.Name, strings.Join(r.Hosts, " and "))
	case r.Exact != "":
		return fmt.Sprintf("always allow this call of %s, with exactly these arguments", tool.Name)
	default:
		return fmt.Sprintf("always allow %s, whatever it is called with", tool.Name)
	}
}

// words are those of a command in a line, each so that it is seen where it ends.
func words(argv []string) string {
	shown := make([]string, len(argv))
	for i, word := range argv {
		if shown[i] = word; word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"'\\`", r) }) {
			shown[i] = strconv.Quote(word)
		}
	}
	return strings.Join(shown, " ")
}

// commandsRoot is where commands have the project.
const commandsRoot = "/workspace"
