package audit

import (
	"bytes"
	"encoding/json"
	"strings"
)

// deepest is the depth from which a value with a secret is hidden as a whole, so
// that a nest of brackets costs no more than a flat text.
const deepest = 64

// JSON takes secrets out of all texts of a JSON value, names of members and
// numbers included. What it returns is JSON, and the same bytes where there was
// nothing to hide. A secret that reaches over several texts, such as one that is
// JSON itself, hides the smallest value around it.
//
// Bytes that stand in JSON as base64 (sdk.Splice, and the data of pieces of files in
// package rpc) are read for what they are, and left out whole when a secret is in
// them: a mark in their middle would be no base64, and a splice with a mark in it would
// be put into a file. The change then says that it is lost.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage { return r.inJSON(raw, 0) }

// Text is Redact for a text that may be JSON and is to stay so.
func (r *Redactor) Text(text string) string { return r.text(text, 0) }

func (r *Redactor) text(text string, depth int) string {
	clean := r.Redact(text)
	if clean == text && (!strings.Contains(text, "removed") || !mayHoldSplice([]byte(text))) || text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return clean
	}
	return string(r.inJSON(json.RawMessage(text), depth+1))
}

func (r *Redactor) isClean(raw []byte) bool { return len(r.spans(string(raw))) == 0 }

func (r *Redactor) inJSON(raw json.RawMessage, depth int) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	hit := !r.isClean(raw)
	if !hit && !mayHoldSplice(raw) && !bytes.Contains(raw, dataMember) {
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
		if json.Unmarshal(raw, &text) != nil {
			break
		}
		if clean := r.text(text, depth); clean != text {
			out = encodeJSON(clean)
		}
	}
	switch {
	case out != nil && !bytes.Equal(out, raw):
		return out
	case hit || kind == 0 && depth >= deepest:
		return encodeJSON(Hidden)
	}
	return raw
}

// dataMember is the name of a piece of a file.
var dataMember = []byte(`"data"`)

// hidesData reports whether a member is a piece of a file with a secret in it.
func (r *Redactor) hidesData(name string, value json.RawMessage) bool {
	var data []byte
	return name == "data" && json.Unmarshal(value, &data) == nil && (!r.isClean(data) || !r.isClean(value))
}

// mayHoldSplice reports whether a splice may be in JSON, or in JSON in a text of it.
func mayHoldSplice(raw []byte) bool {
	return bytes.Contains(raw, []byte("removed")) && bytes.Contains(raw, []byte("inserted"))
}

// lostSecret is why a change cannot be taken back whose splice is left out.
const lostSecret = "its contents held a secret, which is not kept"

// holdsSecret reports whether the members of an object are a splice with a secret
// in what it removed.
func (r *Redactor) holdsSecret(members map[string]json.RawMessage) bool {
	var removed []byte
	if len(members) != 3 || members["offset"] == nil || members["inserted"] == nil || json.Unmarshal(members["removed"], &removed) != nil {
		return false
	}
	return !r.isClean(removed) || !r.isClean(members["removed"])
}

// none stands for a splice that is left out.
var none = json.RawMessage("null")

// object redacts each member by itself; nil is that no member has the secret.
func (r *Redactor) object(raw json.RawMessage, depth int) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	if r.holdsSecret(members) {
		return none
	}
	hit := false
	out := make(map[string]json.RawMessage, len(members)+1)
	for name, value := range members {
		if r.hidesData(name, value) {
			out[name], hit = encodeJSON(Hidden), true
			continue
		}
		clean, hidden := r.Redact(name), r.inJSON(value, depth+1)
		if bytes.Equal(hidden, none) && !bytes.Equal(value, none) {
			out["lost"], hit = encodeJSON(lostSecret), true
			continue
		}
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
