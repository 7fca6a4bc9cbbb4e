package audit

import (
	"bytes"
	"encoding/json"
)

// deepest is the depth from which a value with a secret is hidden as a whole, so
// that a nest of brackets costs no more than a flat text.
const deepest = 64

// JSON takes secrets out of all texts of a JSON value, names of members and
// numbers included. What it returns is JSON, and the same bytes where there was
// nothing to hide. A secret that reaches over several texts, such as one that is
// JSON itself, hides the smallest value around it.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage { return r.inJSON(raw, 0) }

// Text is Redact for a text that may be JSON and is to stay so.
func (r *Redactor) Text(text string) string { return r.text(text, 0) }

func (r *Redactor) text(text string, depth int) string {
	clean := r.Redact(text)
	if clean == text || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return clean
	}
	return string(r.inJSON(json.RawMessage(text), depth+1))
}

func (r *Redactor) isClean(raw []byte) bool { return len(r.spans(string(raw))) == 0 }

func (r *Redactor) inJSON(raw json.RawMessage, depth int) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if r.isClean(raw) {
		return raw
	}
	kind := byte(0)
	if depth < deepest && len(raw) > 0 {
		kind = raw[0]
	}
	var out json.RawMessage
	switch kind {
	case '{':
		out = r.object(raw, depth)
	case '[':
		out = r.array(raw, depth)
	case '"':
		var text string
		if json.Unmarshal(raw, &text) == nil {
			out = encodeJSON(r.text(text, depth))
		}
	}
	if out == nil || bytes.Equal(out, raw) {
		return encodeJSON(Hidden)
	}
	return out
}

// object redacts each member by itself; nil is that no member has the secret.
func (r *Redactor) object(raw json.RawMessage, depth int) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	hit := false
	out := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		clean, hidden := r.Redact(name), r.inJSON(value, depth+1)
		hit = hit || clean != name || !bytes.Equal(hidden, value)
		out[clean] = hidden
	}
	if !hit {
		return nil
	}
	return encodeJSON(out)
}

// array is object for the elements of an array.
func (r *Redactor) array(raw json.RawMessage, depth int) json.RawMessage {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	hit := false
	for i, value := range elements {
		elements[i] = r.inJSON(value, depth+1)
		hit = hit || !bytes.Equal(elements[i], value)
	}
	if !hit {
		return nil
	}
	return encodeJSON(elements)
}

// encodeJSON encodes a text, or what was decoded before.
func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // it was JSON before
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
