package tags

import (
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"
)

// typed is a value as the schema wants it; false when it cannot be that, and then it is the value as it was.
func (p property) typed(value any) (any, bool) {
	if text, is := value.(string); is {
		read, ok := p.read(text)
		if !ok {
			return value, false
		}
		value = read
	}
	if len(p.enum) == 0 {
		return value, true
	}
	encoded, err := json.Marshal(value)
	return value, err == nil && slices.ContainsFunc(p.enum, func(one json.RawMessage) bool { return string(one) == string(encoded) })
}

// read is a text as a value of the type.
func (p property) read(text string) (any, bool) {
	switch trim := strings.TrimSpace(text); p.kind {
	case "integer":
		n, err := strconv.ParseInt(trim, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(trim, 64)
		return n, err == nil && n-n == 0 // JSON has no form for others
	case "boolean":
		switch strings.ToLower(trim) {
		case "true", "yes", "1", "":
			return true, true
		case "false", "no", "0":
			return false, true
		}
		return nil, false
	case "object", "array":
		raw := json.RawMessage(trim)
		first := byte('{')
		if p.kind == "array" {
			first = '['
		}
		return raw, trim != "" && trim[0] == first && json.Valid(raw)
	}
	return text, true
}

// fromJSON is a JSON value as an argument has it.
func fromJSON(raw json.RawMessage) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	switch v := v.(type) {
	case string, bool:
		return v
	case float64:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n
		}
		return raw
	}
	return raw
}

// asText is a value as the text that an attribute would have.
func asText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.RawMessage:
		return string(v)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(encoded)
}

// longestEntity is more than any has.
const longestEntity = 40

// decoded is the value of an attribute with its entities read. One without its semicolon is none: in an address
// `&copy=1` is the name of a parameter.
func decoded(value string) string {
	i := strings.IndexByte(value, '&')
	if i < 0 {
		return value
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(value[:i])
		value = value[i:]
		end := strings.IndexByte(value[:min(len(value), longestEntity)], ';')
		if end < 0 {
			end = 0
		}
		one := value[:end+1]
		if read := html.UnescapeString(one); end > 0 && !strings.HasSuffix(read, ";") || one == "&semi;" {
			one = read
		}
		b.WriteString(one)
		value = value[end+1:]
		i = strings.IndexByte(value, '&')
	}
	b.WriteString(value)
	return b.String()
}
