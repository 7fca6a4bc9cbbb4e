package sdk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	if !json.Valid(arguments) {
		return nil, Errorf(Validation, "the arguments are not valid JSON")
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	first, err := d.Token()
	if err != nil || first != json.Delim('{') {
		return nil, Errorf(Validation, "the arguments are not a JSON object")
	}
	var out bytes.Buffer
	if err := canonicalObject(d, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// canonicalValue writes the next value of d, which holds valid JSON.
func canonicalValue(d *json.Decoder, out *bytes.Buffer) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("read a value of the arguments: %w", err)
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return canonicalObject(d, out)
		}
		return canonicalArray(d, out)
	case string:
		canonicalString(v, out)
	case json.Number:
		out.WriteString(v.String())
	case bool:
		fmt.Fprint(out, v)
	default:
		out.WriteString("null")
	}
	return nil
}

type member struct {
	name  string
	value []byte
}

// canonicalObject writes the object whose opening brace was read.
func canonicalObject(d *json.Decoder, out *bytes.Buffer) error {
	var members []member
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("read the name of an argument: %w", err)
		}
		name, _ := token.(string)
		if seen[name] {
			return Errorf(Validation, "the arguments have two members called %q, so it cannot be said what they ask for; write each name once", name)
		}
		seen[name] = true
		var value bytes.Buffer
		if err := canonicalValue(d, &value); err != nil {
			return err
		}
		members = append(members, member{name, value.Bytes()})
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return fmt.Errorf("read the end of an object: %w", err)
	}
	slices.SortFunc(members, func(a, b member) int {
		return slices.Compare(utf16.Encode([]rune(a.name)), utf16.Encode([]rune(b.name)))
	})
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		canonicalString(m.name, out)
		out.WriteByte(':')
		out.Write(m.value)
	}
	out.WriteByte('}')
	return nil
}

// canonicalArray writes the array whose opening bracket was read.
func canonicalArray(d *json.Decoder, out *bytes.Buffer) error {
	out.WriteByte('[')
	for i := 0; d.More(); i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := canonicalValue(d, out); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return fmt.Errorf("read the end of an array: %w", err)
	}
	out.WriteByte(']')
	return nil
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
