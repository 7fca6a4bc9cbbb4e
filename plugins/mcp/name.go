package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longest is how long the name of a tool may be: providers refuse a whole request for
// a name of 65 characters.
const longest = 64

// toolNames gives each of a server's tools a name of its own, mcp__SERVER__TOOL. What a name
// may not hold becomes _. A name that would be too long, or that two tools would have,
// ends with a digest of the server's and the tool's own names instead, which is the same
// in whatever order the server lists them.
func toolNames(server string, tools []string) map[string]string {
	count := map[string]int{}
	for _, t := range tools {
		count[plain(server, t)]++
	}
	names := make(map[string]string, len(tools))
	for _, t := range tools {
		name := plain(server, t)
		if len(name) > longest || count[name] > 1 {
			sum := sha256.Sum256([]byte(server + "\x00" + t))
			end := "_" + hex.EncodeToString(sum[:4])
			name = name[:min(len(name), longest-len(end))] + end
		}
		names[t] = name
	}
	return names
}

func plain(server, tool string) string { return "mcp__" + clean(server) + "__" + clean(tool) }

// clean is the text in the characters that a tool's name may have.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, s)
}
