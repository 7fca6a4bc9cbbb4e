package sdk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// Canonical writes the JSON object of a call's arguments in the one way of RFC
// 8785: members sorted, no space, escapes only where they must be. Numbers stay
// as they were written, for a tool may read more digits than a float has. An
// object that has two members of one name is refused with Validation: readers
// disagree about which of them counts. No arguments at all are an empty object.
func Canonical(arguments json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return json.RawMessage("{}"), nil
	}
	if fault := CheckJSON(arguments, deepestArguments); fault != nil {
		switch fault.Kind {
		case JSONTwice:
			return nil, Errorf(Validation, "the arguments have two members called %q, so it cannot be said what they ask for; write each name once", fault.Name)
		case JSONDeep:
			return nil, Errorf(Validation, "the arguments are nested deeper than %d levels", deepestArguments)
		}
		return nil, Errorf(Validation, "the arguments are not valid JSON")
	}
	value, err := AnyJSON(arguments)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, Errorf(Validation, "the arguments are not a JSON object")
	}
	var out bytes.Buffer
	canonicalValue(object, &out)
	return out.Bytes(), nil
}

// WithoutNulls leaves out of a decoded object, and of those in it, the members that are null: what is
// recorded of arguments has none (RFC 7386). It changes the object.
func WithoutNulls(value any) any {
	if object, is := value.(map[string]any); is {
		for name, member := range object {
			if member == nil {
				delete(object, name)
			} else {
				object[name] = WithoutNulls(member)
			}
		}
	}
	return value
}

// deepestArguments is how deep encoding/json reads.
const deepestArguments = 10_000

// canonicalValue writes what a decoder has read.
func canonicalValue(value any, out *bytes.Buffer) {
	switch v := value.(type) {
	case map[string]any:
		out.WriteByte('{')
		names := slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		for i, name := range names {
			if i > 0 {
				out.WriteByte(',')
			}
			canonicalString(name, out)
			out.WriteByte(':')
			canonicalValue(v[name], out)
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			canonicalValue(element, out)
		}
		out.WriteByte(']')
	case string:
		canonicalString(v, out)
	case nil:
		out.WriteString("null")
	default: // a number as it was written, or a boolean
		fmt.Fprint(out, v)
	}
}

var shortEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func canonicalString(s string, out *bytes.Buffer) {
	out.WriteByte('"')
	for _, r := range shortEscapes.Replace(s) {
		if r < ' ' {
			fmt.Fprintf(out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	out.WriteByte('"')
}

// Hash is the hex SHA-256 over what this very call is, in whichever run it is
// made: tool, plugin, arguments and project (PolicyRule.Exact). The error is one
// of the arguments.
func (a PolicyRequest) Hash() (string, error) {
	arguments, err := Canonical(a.Arguments)
	if err != nil {
		return "", err
	}
	return HashOf(map[string]any{"tool": a.Tool.Name, "plugin": a.Tool.Plugin, "arguments": arguments, "project": a.Project})
}

// HashOf is the hex SHA-256 over the canonical JSON of a value that encodes as
// an object.
func HashOf(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode what is hashed: %w", err)
	}
	if b, err = Canonical(b); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
