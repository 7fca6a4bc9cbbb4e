package main

import (
	"github.com/bothyd/bothy/sdk"
)

type hooksCmd struct{}

// Help adds to the verb's help.
func (hooksCmd) Help() string {
	return `A plugin of the kind hook subscribes to these names: an event tells it something, a filter gives it a value that it may change. No daemon is needed: the catalogue is that of this version.

What comes of a subscriber that fails, does not answer in time or is not there stands under FAILURE: 'ignored' means that the work goes on and a filter's value stays as it was; 'denied' means that what was asked does not happen. A filter whose subscription says failure closed denies, too: that of a proposal vetoes it, any other ends the loop. 'told again' means that the event comes again, each time later, until the subscriber has heard it.

The types of the payloads stand below, with the names of their JSON; ? marks a member that may be missing.

Example:

    bothy hooks --json | jq -r '.hooks[] | select(.kind == "filter") | .name'
`
}

// hookInfo is one name of the catalogue as it is printed.
type hookInfo struct {
	Name    string       `json:"name"`
	Kind    sdk.HookKind `json:"kind"`
	Payload string       `json:"payload"`
	Failure string       `json:"failure"`
	Limit   sdk.Duration `json:"limit"`
	When    string       `json:"when"`
}

// Run prints the catalogue of hooks, and the types of what they carry.
func (hooksCmd) Run(c *console) error {
	var found struct {
		Hooks []hookInfo    `json:"hooks"`
		Types []payloadType `json:"types"`
	}
	var types payloadTypes
	for _, p := range sdk.Hooks() {
		found.Hooks = append(found.Hooks, hookInfo{
			Name: p.Name, Kind: p.Kind, Payload: types.word(p.Payload), Failure: failureWord(p),
			Limit: sdk.Duration(p.Limit), When: p.Doc,
		})
	}
	if found.Types = types.found; c.json {
		return c.printJSON(found)
	}
	err := tableOf(c, found.Hooks, "", []string{"NAME", "KIND", "PAYLOAD", "FAILURE", "WHEN"}, func(h hookInfo) []string {
		return []string{h.Name, string(h.Kind), h.Payload, h.Failure, h.When}
	})
	if err != nil {
		return err
	}
	for _, t := range found.Types {
		if err := c.lines("", t.String()); err != nil {
			return err
		}
	}
	return nil
}

// failureWord says what the failure of a subscriber means.
func failureWord(p sdk.HookPoint) string {
	switch {
	case p.Guard:
		return "denied"
	case p.Kind == sdk.HookFilter:
		return "ignored, or denied when closed"
	case p.Durable:
		return "told again"
	default:
		return "ignored"
	}
}
