package rpc

import (
	"time"

	"github.com/bothyd/bothy/sdk"
)

// PeopleParams is the parameters of people/list.
type PeopleParams struct {
	Channel string `json:"channel,omitempty" access:"free" jsonschema:"label of a channel's plugin block; of all when absent. A channel is told its own, whatever it names"`
}

// People answers people/list, by ID.
type People struct {
	People []ListedPerson `json:"people"`
	// Pairing says that somebody waits for a code of the channel that was named: a text of a stranger that is one
	// (sdk.PairingCode) is passed on by channels/claim, and no other.
	Pairing bool `json:"pairing"`
}

// ListedPerson is somebody of whom a person block tells.
type ListedPerson struct {
	sdk.Person
	Channel string `json:"channel"` // label of its plugin block
	Called  string `json:"person"`  // what the service calls them, as From.Person
}

// PersonAdd is the parameters of people/add, which writes a person block into the user's configuration.
type PersonAdd struct {
	Channel string `json:"channel" access:"free" jsonschema:"label of the channel's plugin block"`
	Person  string `json:"person" access:"free" jsonschema:"what the service behind the channel calls them"`
	Name    string `json:"name,omitempty" access:"free" jsonschema:"what they are called here"`
	Agent   string `json:"agent,omitempty" access:"free" jsonschema:"of the runs that they begin and for which they name none"`
	Owner   string `json:"owner,omitempty" access:"free" jsonschema:"local: what they begin alone with the channel is as if begun at this machine"`
}

// PersonAdded answers people/add: their prompts are taken.
type PersonAdded struct {
	ID      string `json:"id"`
	File    string `json:"file"`
	Changed bool   `json:"changed"` // false: a block said all of that already
}

// PersonRef is the parameters of people/remove, which takes a person block out of the user's configuration.
type PersonRef struct {
	Channel string `json:"channel" access:"free" jsonschema:"label of the channel's plugin block"`
	Person  string `json:"person" access:"free" jsonschema:"what the service behind the channel calls them"`
}

// PersonRemoved answers people/remove: their prompts are refused from now on.
type PersonRemoved struct {
	ID   string `json:"id"`
	File string `json:"file"`
}

// PairParams is the parameters of channels/pair, which waits until somebody sends a code to a channel.
type PairParams struct {
	Channel string `json:"channel" access:"free" jsonschema:"label of the channel's plugin block"`
}

// PairCode is sent by channels/pair before it waits.
type PairCode struct {
	Code  string    `json:"code"`
	Until time.Time `json:"until"`
}

// Paired answers channels/pair: who sent the code. Nothing is written of them yet; people/add does that, when a person
// at this machine has said that it is whom they know.
type Paired struct {
	Channel string `json:"channel"`
	Person  string `json:"person"`
	Name    string `json:"name,omitempty"` // as the service calls them for people; they may have chosen it themselves
}

// Claim is the parameters of channels/claim, by which a channel passes a code on.
type Claim struct {
	Code string    `json:"code" access:"free" jsonschema:"the text that was sent"`
	From *sdk.From `json:"from" access:"free" jsonschema:"who sent it, alone with the channel"`
	Name string    `json:"name,omitempty" access:"free" jsonschema:"what the service calls them for people"`
}
