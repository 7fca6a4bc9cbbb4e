package rpc

import (
	"time"

	"github.com/bothyd/bothy/sdk"
)

// MessageRoom is how long a message may be where a channel does not say, in UTF-16 code units.
const MessageRoom = 4096

// TicketParams is the parameters of channel/ticket.
type TicketParams struct {
	ID   string `json:"id" access:"proposal" jsonschema:"the proposal's id"`
	Room int    `json:"room,omitempty" access:"free" jsonschema:"how many UTF-16 code units one message has, 4096 when absent: what does not stand in one whole is not accepted by the channel"`

	// The daemon says the rest: what it found, what people may accept beyond the workspace, and why they may nothing.
	Hash  string   `json:"-"`
	Tools []string `json:"-"`
	Why   string   `json:"-"`
}

// Ticket answers channel/ticket: what a channel sends to people of what a run proposes, and by what they answer it.
type Ticket struct {
	ID string `json:"id"` // of the proposal
	// Text is the message, in plain text: it is sent as it is, for what would run stands in it whole.
	Text string `json:"text"`
	// Ticket is for one channel/answer to the proposal as Text has it. The next ticket of the same proposal ends it,
	// and so does the end of Serve. Empty is that nobody answers it by this channel.
	Ticket string `json:"ticket,omitempty"`
	// Accept says that the ticket accepts too; else it only rejects, and the message has no button that accepts.
	Accept bool `json:"accept"`
	// Asks says that an answer that accepts has a text: what is proposed is a question.
	Asks    bool      `json:"asks,omitempty"`
	Why     string    `json:"why,omitempty"` // why it is not accepted, or not answered, by the channel; it stands in Text too
	Expires time.Time `json:"expires"`       // of the proposal
}

// ChannelAnswer is the parameters of channel/answer: what a person answered by a channel. It is one answer to one
// proposal, as it was when its ticket was given out.
type ChannelAnswer struct {
	Ticket string     `json:"ticket" access:"free" jsonschema:"what channel/ticket gave out"`
	Answer sdk.Answer `json:"answer" access:"free" jsonschema:"accept or reject"`
	Text   string     `json:"text,omitempty" access:"free" jsonschema:"with accept of a question: the answer"`
	From   *sdk.From  `json:"from,omitempty" access:"free" jsonschema:"who answered, where, and below which message: in a group the one who did, whoever asked"`

	// The daemon says the rest: what the ticket is of, by which channel, who that is, and what they may accept beyond the workspace.
	ID, Hash string     `json:"-"`
	Channel  string     `json:"-"`
	Person   sdk.Person `json:"-"`
	Tools    []string   `json:"-"`
}
