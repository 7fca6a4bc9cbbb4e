package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Version is the format's: a change that an old reader would misread gives a
// new one. New kinds and new members do not.
const Version = 1

// line is one object of a runlog.
type line struct {
	V       int         `json:"v"`
	Seq     int64       `json:"seq"` // of the row it comes from; several lines may share one
	TS      json.Number `json:"ts"`
	Kind    string      `json:"kind"`
	Step    string      `json:"step,omitempty"`
	Loop    int64       `json:"loop,omitempty"`
	Payload payload     `json:"payload"`
}

func (l line) appendTo(text []byte) ([]byte, error) {
	b := bytes.NewBuffer(text)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return text, fmt.Errorf("encode a line of kind %s: %w", l.Kind, err)
	}
	return b.Bytes(), nil
}

// timestamp is a time as seconds since 1970, to the microsecond.
func timestamp(t time.Time) string {
	micro := t.UnixMicro()
	return fmt.Sprintf("%d.%06d", micro/1e6, micro%1e6)
}

// payload is what a line says: texts, JSON as it stands somewhere, and what
// belongs to neither, such as numbers.
type payload map[string]any

// MaxText is the longest text that a line holds, in bytes. A longer one keeps
// its head and its end, and cut says how long it was.
const MaxText = 64 << 10

// clean takes secrets out of all texts and JSON of a payload, and shortens what
// is too long. Secrets go first: a cut through one would hide it from those who
// look for the whole.
func (p payload) clean(redact func(string) string) {
	var cut map[string]int
	for name, v := range p {
		switch v := v.(type) {
		case payload:
			v.clean(redact)
			continue
		case json.RawMessage:
			p[name] = cleanJSON(v, redact)
		default:
			p[name] = redacted(v, redact)
		}
		if text, ok := p[name].(string); ok && len(text) > MaxText {
			if cut == nil {
				cut = map[string]int{}
			}
			cut[name], p[name] = len(text), shorten(text)
		}
	}
	if cut != nil {
		p["cut"] = cut
	}
}

// cleanJSON is JSON without secrets, as its text when it is too long for a line.
func cleanJSON(raw json.RawMessage, redact func(string) string) any {
	v, err := sdk.AnyJSON(raw)
	if err != nil {
		return redact(string(raw))
	}
	v = redacted(v, redact)
	if len(raw) <= MaxText {
		return v
	}
	text, _ := json.Marshal(v) // it was JSON before
	return redact(string(text))
}

// redacted takes secrets out of all texts of a JSON value. What has none is
// returned as it is, since most have none.
func redacted(v any, redact func(string) string) any {
	switch value := v.(type) {
	case string:
		if text := redact(value); text != value {
			return text
		}
	case json.Number:
		if text := redact(value.String()); text != value.String() {
			return text
		}
	case []any:
		for i := range value {
			value[i] = redacted(value[i], redact)
		}
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			out[redact(name)] = redacted(member, redact)
		}
		return out
	}
	return v
}

// shorten keeps the head and the end of a text that is too long.
func shorten(text string) string {
	head, end := sdk.Head(text, MaxText/2), sdk.Tail(text, MaxText/2)
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, len(text)-len(head)-len(end), end)
}
