package sdk

import (
	"net/url"
	"strings"
)

// LocalOwner owns the runs of whoever works at this machine.
const LocalOwner = "local"

// Origin says whose a run is, and who began it. Forks have that of their parent, and so have children and what a plugin
// begins for a run. It never changes.
type Origin struct {
	Owner   string `json:"owner"`             // LocalOwner, or a person or a group of a channel; see OwnerOf
	Channel string `json:"channel,omitempty"` // the plugin's block, where a channel began it
}

// Keeper reports whether a run is where a channel keeps entries of its own. It is nobody's, and no prompt goes there.
func (o Origin) Keeper() bool { return o.Channel != "" && o.Owner == o.Channel }

// From says whom a channel has a prompt from, by the names that the service behind it gives. The daemon makes the
// owner of the run from it, so that a channel never says one.
type From struct {
	Person       string `json:"person" jsonschema:"who wrote it"`
	Conversation string `json:"conversation,omitempty" jsonschema:"the group in which it was written; absent where the person is alone with the channel"`
	Thread       string `json:"thread,omitempty" jsonschema:"the topic there"`
	Message      string `json:"message,omitempty" jsonschema:"the message that it was, by a name that no other one of the person, the group or the topic has: it is taken once"`
}

// Name names the conversation in which it was written, among those of one owner: a person's own, or a group, and a topic there.
func (f From) Name() string {
	name := "person/" + url.PathEscape(f.Person)
	if f.Conversation != "" {
		name = "group/" + url.PathEscape(f.Conversation)
	}
	if f.Thread != "" {
		name += "/" + url.PathEscape(f.Thread)
	}
	return name
}

// Conversation is what is said at one place of a channel: in one run after another, each until it rests.
type Conversation struct {
	Origin
	Name string // as From.Name makes it
}

// Person is somebody whose prompts a channel may bring: a person block.
type Person struct {
	ID    string `json:"id"` // as PersonID makes it
	Name  string `json:"name,omitempty" hcl:"name,optional"`
	Agent string `json:"agent,omitempty" hcl:"agent,optional"` // of runs that they begin and for which they name none
	Owner string `json:"owner,omitempty" hcl:"owner,optional"` // LocalOwner: their runs are those of whoever works at this machine; empty are their own
	// Answers says that they may answer by the channel what its runs propose, where the channel has GrantAnswers.
	Answers bool `json:"answers,omitempty" hcl:"answers,optional"`
}

// PersonID names a person of a channel: the same name at another service is somebody else.
func PersonID(channel, person string) string { return channel + "/" + url.PathEscape(person) }

// groupOwners is what the owners of a channel's groups begin with.
func groupOwners(channel string) string { return channel + "/group/" }

// OwnedByGroup reports whether an owner is a group of a channel.
func OwnedByGroup(channel, owner string) bool { return strings.HasPrefix(owner, groupOwners(channel)) }

// OwnerOf is the owner of what a person begins by a channel. What is said in a group belongs to the group, whoever says
// it, so that nothing of a person's own is told there.
func OwnerOf(channel string, from From, p Person) string {
	switch {
	case from.Conversation != "":
		return groupOwners(channel) + url.PathEscape(from.Conversation)
	case p.Owner != "":
		return p.Owner
	}
	return PersonID(channel, from.Person)
}
