package tape

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestAPacketIsOneMessage, whose sections come one by one; another conversation keeps its messages.
func TestAPacketIsOneMessage(t *testing.T) {
	user := func(text string) sdk.Message { return sdk.Message{Role: sdk.RoleUser, Text: text} }
	picture := sdk.Message{Role: sdk.RoleUser, Media: []sdk.Medium{{MIMEType: "image/png", Data: "AA=="}}}
	for _, c := range []struct {
		name          string
		messages      []sdk.Message
		first, packet bool
		want          string
		results       int
	}{
		{"a packet", []sdk.Message{{Role: sdk.RoleUser}, user("<prompt>key</prompt>"), user("<log>\n</log>"), user("<budget/>")}, true, true, "<prompt>***</prompt>\n<log>\n</log>\n<budget/>", 1},
		{"a later one", []sdk.Message{{Role: sdk.RoleUser}, user("<prompt>go</prompt>")}, false, true, "<prompt>go</prompt>", 1},
		{"one with a picture", []sdk.Message{picture, user("<prompt>go</prompt>"), user("<budget/>")}, true, true, "<prompt>go</prompt>\n<budget/>\n[image", 1},
		{"a conversation", []sdk.Message{user("older"), {Role: sdk.RoleAssistant}, user("one key"), user("two")}, false, false, "one ***|two", 0},
	} {
		var texts []string
		for _, m := range Fresh(c.messages, c.first, c.packet, func(s string) string { return strings.ReplaceAll(s, "key", "***") }) {
			if texts = append(texts, m.Text); m.Role != sdk.RoleUser || m.Results != c.results {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		if got := strings.Join(texts, "|"); !strings.HasPrefix(got, c.want) || strings.Count(got, "|") != strings.Count(c.want, "|") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
