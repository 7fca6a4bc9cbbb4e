package daemon

import (
	"regexp"
	"strings"
)

// loggedCall is the element of a call in the log of a packet, with what came of it.
var loggedCall = regexp.MustCompile(`(?s)<log path="log://turn_\d+/[^"]*"[^>]* tool="[^>]*>(.*?)</log>`)

// unpacked are the messages of a request as a conversation has them: of a packet the prompt, and what came of all calls in its
// log, also those of prompts before it.
func unpacked(messages []chatMessage) []chatMessage {
	last := messages[len(messages)-1]
	if !strings.HasPrefix(last.Content, "<prompt tokenUsage=") {
		return messages
	}
	_, packet, _ := strings.Cut(last.Content, ">")
	end := "</prompt>"
	if rest, opaque := strings.CutPrefix(packet, "<<:::"); opaque {
		var mark string
		mark, packet, _ = strings.Cut(rest, "\n")
		end = "\n:::" + mark + end
	}
	prompt, packet, _ := strings.Cut(packet, end)
	out := append([]chatMessage{}, messages[:len(messages)-1]...)
	out = append(out, chatMessage{Role: "user", Content: prompt, Images: last.Images})
	_, log, _ := strings.Cut(packet, "\n<log>\n")
	for _, found := range loggedCall.FindAllStringSubmatch(log, -1) {
		_, result, _ := strings.Cut(found[1], "\n\n")
		out = append(out, chatMessage{Role: "tool", Content: result})
	}
	return out
}
