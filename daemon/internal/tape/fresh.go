package tape

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// Fresh is what is new in the request of a turn, without secrets. Packet says that its messages are the sections of a packet,
// which is sent as one message: in that stands all that there is, also results, so it is compared by rules (Loosen).
func Fresh(messages []sdk.Message, first, packet bool, clean func(string) string) []sdk.Message {
	if packet {
		messages = []sdk.Message{joined(messages)}
	}
	fresh := cassette.Fresh(messages, first)
	for i := range fresh {
		fresh[i].Text = clean(fresh[i].Text)
	}
	return fresh
}

// joined is a packet as it is sent.
func joined(sections []sdk.Message) sdk.Message {
	m := sdk.Message{Role: sdk.RoleUser, Results: 1}
	var texts []string
	for _, s := range sections {
		if m.Media = append(m.Media, s.Media...); s.Text != "" {
			texts = append(texts, s.Text)
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m
}
