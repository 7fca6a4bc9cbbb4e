// Package actionpath says at which path a call is recorded.
package actionpath

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Of is the path of the action of a call, unique in its turn, of which taken has the paths that are; its own is added. Only letters,
// digits and a few signs are in it, whatever the model wrote, and no secret.
func Of(turn int, call sdk.ReadCall, taken map[string]bool, redact func(string) string) string {
	tool := safe(redact(call.Tool), 64)
	if tool == "" || redact(tool) != tool || tool == sdk.ErrorTool {
		tool = "unknown"
	}
	base := slug(call.Arguments, redact)
	path := sdk.ActionPath{Turn: turn, Tool: tool, Slug: base}
	for n := 2; taken[path.String()]; n++ {
		path.Slug = fmt.Sprintf("%s_%d", base, n)
	}
	taken[path.String()] = true
	return path.String()
}

// telling are arguments that say in a word what a call is about. A command is
// none of them, nor other free text or an address: each may hold a secret, which
// nobody would know again, to redact it, once it is cut and made fit for a path.
var telling = []string{"path", "source", "name"}

func slug(arguments json.RawMessage, redact func(string) string) string {
	var object map[string]any
	if json.Unmarshal(arguments, &object) == nil {
		for _, key := range telling {
			if s, ok := object[key].(string); ok {
				if s = strings.Trim(safe(redact(s), 40), "._-"); s != "" && redact(s) == s {
					return s
				}
			}
		}
	}
	return "call"
}

// safe keeps what may stand in a path as it is; anything else becomes one "_".
func safe(text string, most int) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= most {
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			b.WriteRune(r)
		default:
			if s := b.String(); s != "" && !strings.HasSuffix(s, "_") {
				b.WriteByte('_')
			}
		}
	}
	return strings.TrimRight(b.String(), "_")
}
