package server

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// People tells of those whose prompts channels may bring, and writes their blocks.
type People interface {
	// Person tells of somebody by their sdk.PersonID; false is a stranger.
	Person(id string) (sdk.Person, bool)
	// List are those of a channel, by ID, or of all where none is named.
	List(channel string) []rpc.ListedPerson
	// Add writes a person block into the user's configuration, and Remove takes one out; they return when that is in force.
	Add(ctx context.Context, p rpc.PersonAdd) (rpc.PersonAdded, error)
	Remove(ctx context.Context, p rpc.PersonRef) (rpc.PersonRemoved, error)
	// Learning says in the user's configuration of whom and where the memory learns; it returns when that is in force.
	Learning(ctx context.Context, p rpc.Learning) (rpc.LearningSet, error)
}

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
	person, known := c.s.cfg.People.Person(sdk.PersonID(c.grant.instance, from.Person))
	if !known {
		c.s.alarm.raise(EventRefusedChannel, "the channel %s asked for %s for a person whom no person block names", c.grant.instance, method)
		return sdk.Origin{}, sdk.Person{}, rpc.Errorf(rpc.CodeRole, sdk.Permission,
			fmt.Sprintf("no person block names %q, so that nothing is done for them", sdk.PersonID(c.grant.instance, from.Person)))
	}
	return sdk.Origin{Owner: sdk.OwnerOf(c.grant.instance, *from, person), Channel: c.grant.instance}, person, nil
}

// conversation is the one that a channel names by whom it has a prompt from; nil is none.
func (c *conn) conversation(method string, from *sdk.From) (*sdk.Conversation, error) {
	if from == nil {
		return nil, nil //nolint:nilnil // none is asked for
	}
	origin, _, err := c.origin(method, from)
	return &sdk.Conversation{Origin: origin, Name: from.Name()}, err
}

// checkFrom refuses names that no service gives.
func checkFrom(from sdk.From) error {
	if from.Person == "" {
		return wrongParams("from names no person")
	}
	return checkNames(from.Person, from.Conversation, from.Thread, from.Message)
}

// checkNames refuses what a channel says that a service calls somebody or something.
func checkNames(names ...string) error {
	for _, name := range names {
		hidden := func(r rune) bool { return !unicode.IsPrint(r) }
		if len(name) > longestName || !utf8.ValidString(name) || strings.ContainsFunc(name, hidden) {
			return wrongParams("a name that the service gives is %.40q; one has at most %d bytes, all of them of signs that can be seen", name, longestName)
		}
	}
	return nil
}
