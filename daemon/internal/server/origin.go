package server

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// People are those who are configured, by their sdk.PersonID; whoever is not among them is a stranger.
type People func() map[string]sdk.Person

// longestName is how long a name may be that a channel gives a person, a group, a topic or a message, in bytes.
const longestName = 128

// origin is whose a run is that a call begins or goes on with: of whoever works at this machine, or of the person whom a
// channel names, who has to be one of those that are configured. A stranger is refused here whatever the channel did.
func (c *conn) origin(method string, from *sdk.From) (sdk.Origin, sdk.Person, error) {
	if c.grant == nil {
		if from != nil {
			return sdk.Origin{}, sdk.Person{}, wrongParams("from is what a channel says of whom it has a prompt from; leave it out of %s", method)
		}
		return sdk.Origin{Owner: sdk.LocalOwner}, sdk.Person{}, nil
	}
	if from == nil {
		return sdk.Origin{}, sdk.Person{}, wrongParams("a channel says whom it has a prompt from: %s needs from, with the person and, in a group, the conversation", method)
	}
	if err := checkFrom(*from); err != nil {
		return sdk.Origin{}, sdk.Person{}, err
	}
	person, known := c.s.persons()[sdk.PersonID(c.grant.instance, from.Person)]
	if !known {
		c.s.alarm.raise(EventRefusedChannel, "the channel %s asked for %s for a person whom no person block names", c.grant.instance, method)
		return sdk.Origin{}, sdk.Person{}, rpc.Errorf(rpc.CodeRole, sdk.Permission,
			fmt.Sprintf("no person block names %q, so that nothing is done for them", sdk.PersonID(c.grant.instance, from.Person)))
	}
	return sdk.Origin{Owner: sdk.OwnerOf(c.grant.instance, *from, person), Channel: c.grant.instance}, person, nil
}

// checkFrom refuses names that no service gives.
func checkFrom(from sdk.From) error {
	if from.Person == "" {
		return wrongParams("from names no person")
	}
	for _, name := range []string{from.Person, from.Conversation, from.Thread, from.Message} {
		hidden := func(r rune) bool { return !unicode.IsPrint(r) }
		if len(name) > longestName || !utf8.ValidString(name) || strings.ContainsFunc(name, hidden) {
			return wrongParams("from has the name %.40q; one has at most %d bytes, all of them of signs that can be seen", name, longestName)
		}
	}
	return nil
}
