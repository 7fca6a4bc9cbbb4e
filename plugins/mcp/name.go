package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// longest is how long the name of a tool may be: providers refuse a whole request for
// a name of 65 characters.
const longest = 64

// toolNames gives each of a server's tools a name of its own, mcp__SERVER__TOOL. What a name
// may not hold becomes _. A name that would be too long, or that two tools would have,
// ends with a digest of the server's and the tool's own names instead, which is the same
// in whatever order the server lists them; it is longer where the name is taken even so.
// None is one of those that are taken.
func toolNames(server string, tools []string, others ...string) map[string]string {
	count := map[string]int{}
	for _, name := range others {
		count[name]++
	}
	for _, t := range tools {
		count[plain(server, t)]++
	}
	names := make(map[string]string, len(tools))
	taken := map[string]bool{}
	for _, name := range others {
		taken[name] = true
	}
	var rest []string
	for _, t := range tools {
		if name := plain(server, t); len(name) <= longest && count[name] == 1 {
			names[t], taken[name] = name, true
		} else {
			rest = append(rest, t)
		}
	}
	slices.Sort(rest)
	for _, t := range rest {
		for n := 0; ; n++ {
			what := server + "\x00" + t
			if n > 0 { // a server may name its tools after any digest: each try is another
				what += fmt.Sprintf("\x00%d", n)
			}
			sum := sha256.Sum256([]byte(what))
			name, end := plain(server, t), "_"+hex.EncodeToString(sum[:min(4+n, 16)])
			if name = name[:min(len(name), longest-len(end))] + end; !taken[name] {
				names[t], taken[name] = name, true
				break
			}
		}
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
