package daemon

import (
	"regexp"
	"strings"
)

// loggedCall is the element of a call in the log of a packet, with what came of it.
var loggedCall = regexp.MustCompile(`(?s)<log path="log://turn_\d+/[^"]*"[^>]* tool="[^>]*>(.*?)</log>`)

// unpacked are the messages of a request as a conversation has them: of a packet the prompt, and what came of the calls behind the
// prompts before it.
func unpacked(messages []chatMessage) []chatMessage {
	last := messages[len(messages)-1]
	begin, packet, is := strings.Cut(last.Content, "</prompt>")
	if !is || !strings.HasPrefix(begin, "<prompt tokenUsage=") {
		return messages
	}
	_, prompt, _ := strings.Cut(begin, ">")
	out := append([]chatMessage{}, messages[:len(messages)-1]...)
	out = append(out, chatMessage{Role: "user", Content: prompt, Images: last.Images})
	_, log, _ := strings.Cut(packet, "\n<log>\n")
	if i := strings.LastIndex(log, "\n<prompt path="); i >= 0 {
		log = log[i:]
	}
	for _, found := range loggedCall.FindAllStringSubmatch(log, -1) {
		_, result, _ := strings.Cut(found[1], "\n\n")
		out = append(out, chatMessage{Role: "tool", Content: result})
	}
	return out
}
