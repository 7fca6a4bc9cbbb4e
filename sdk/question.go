package sdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// ToolAskUser is the name of the daemon's own tool that asks the person something. A
// plugin calls it within a call that it serves (Question of package host), with a
// Question as the arguments; the structured result is a QuestionAnswer.
const ToolAskUser = "ask_user"

// Question is what a person is asked whose answer is data, or who is asked to open an
// address. It comes from a plugin, and what it says is not to be believed.
type Question struct {
	Message string `json:"message"`
	// Schema is the JSON Schema of the answer: a flat object, whose members are texts,
	// numbers, booleans, or lists of what there is to choose from, as MCP has them. Without
	// one the answer is a yes alone.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Order is how the properties of Schema follow one another when they are asked for; those
	// that it does not name come last. Without it, it is the order of the text of Schema, which
	// is kept so: a JSON object that is read and written loses it.
	Order []string `json:"order,omitempty"`
	// URL is what the person is asked to open: nothing of what they do there comes back.
	// It stands in the place of Schema.
	URL string `json:"url,omitempty"`
}

// QuestionAnswer is what a person made of a question.
type QuestionAnswer struct {
	Answer Answer          `json:"answer"`         // Accept, Reject (they will not answer), or Cancel (nobody chose)
	Data   json.RawMessage `json:"data,omitempty"` // with Accept of a question that has a schema: an object that fits it
}

// Bounds of a question. What is beyond them is no question that a person can read.
const (
	mostMessage  = 8 << 10
	mostSchema   = 64 << 10
	mostFields   = 50
	mostAnswer   = 64 << 10
	deepestField = 16
)

// QuestionOf reads the arguments of ToolAskUser. The error, with Validation, says what is
// wrong with the question.
func QuestionOf(arguments json.RawMessage) (Question, error) {
	var q Question
	if err := ReadJSON(arguments, &q); err != nil {
		return q, Errorf(Validation, "the question cannot be read: it is an object with message, and schema or url: %w", err)
	}
	return q, q.check()
}

// Typed is the data of an answer that is one text: the value of the only field, or of the only one that is needed,
// or else an object as JSON. A question without fields takes any text as a yes.
func (q Question) Typed(text string) (json.RawMessage, error) {
	fields, err := q.Fields()
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	if needed := slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return !f.Required }); len(fields) > 1 && len(needed) == 1 {
		fields = needed
	}
	if len(fields) > 1 {
		if strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
		return nil, Errorf(Validation, "the question asks for %d things, so a text alone is no answer: give an object as JSON, with what its schema has", len(fields))
	}
	value, err := fields[0].Read(text)
	if err != nil || value == nil {
		return nil, err
	}
	return json.Marshal(map[string]json.RawMessage{fields[0].Name: value})
}

func (q Question) check() error {
	switch {
	case strings.TrimSpace(q.Message) == "":
		return Errorf(Validation, "the question has no message, so nobody would know what is asked")
	case len(q.Message) > mostMessage || !utf8.ValidString(q.Message):
		return Errorf(Validation, "the message of the question must be a text of %d bytes at most", mostMessage)
	case q.URL != "" && q.Schema != nil:
		return Errorf(Validation, "a question has a schema or a url, not both")
	case q.URL != "":
		u, err := url.Parse(q.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(q.URL) > mostMessage || strings.ContainsFunc(q.URL, Hidden) {
			return Errorf(Validation, "the url of the question is none of http or https that a person could open")
		}
		return nil
	}
	if len(q.Order) > mostFields {
		return Errorf(Validation, "the order of the question names %d things, and %d are the most", len(q.Order), mostFields)
	}
	_, err := q.Fields()
	return err
}

// InOrder is the question with the order of its schema's text, where it has none of its own.
func (q Question) InOrder() Question {
	var schema struct{ Properties json.RawMessage }
	if q.Order == nil && q.Schema != nil && json.Unmarshal(q.Schema, &schema) == nil {
		q.Order, _, _ = members(schema.Properties)
	}
	return q
}

// Ordered is the schema with its properties in the order of the question; nil where there is none.
func (q Question) Ordered() json.RawMessage {
	names, values, err := members(q.Schema)
	at := slices.Index(names, "properties")
	if err != nil || at < 0 {
		return q.Schema
	}
	of, schemas, err := members(values[at])
	if err != nil {
		return q.Schema
	}
	values[at] = object(q.sorted(of), func(name string) json.RawMessage { return schemas[slices.Index(of, name)] })
	return object(names, func(name string) json.RawMessage { return values[slices.Index(names, name)] })
}

// object writes a JSON object in the order of its names.
func object(names []string, value func(string) json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		quoted, _ := json.Marshal(name) // a text always can be
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(value(name))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// sorted are names in the order of the question.
func (q Question) sorted(names []string) []string {
	place := func(name string) int {
		if i := slices.Index(q.Order, name); i >= 0 {
			return i
		}
		return len(q.Order)
	}
	return slices.SortedStableFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(place(a), place(b)) })
}

// Fields are what the schema asks for, in the order of the question; none where there is no schema.
// The error, with Validation, names what of the schema cannot be asked.
func (q Question) Fields() ([]Field, error) {
	if q.Schema == nil {
		return nil, nil
	}
	if len(q.Schema) > mostSchema {
		return nil, Errorf(Validation, "the schema of the question has %d bytes, and %d are the most", len(q.Schema), mostSchema)
	}
	if fault := CheckJSON(q.Schema, deepestField); fault != nil {
		return nil, Errorf(Validation, "the schema of the question cannot be read: %w", fault)
	}
	var schema struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(q.Schema, &schema); err != nil {
		return nil, Errorf(Validation, "the schema of the question cannot be read: %w", err)
	}
	if schema.Type != "object" && schema.Type != "" {
		return nil, Errorf(Validation, "the schema of the question is of the type %.40q, and an answer is an object", schema.Type)
	}
	names, values, err := members(schema.Properties)
	if err != nil {
		return nil, Errorf(Validation, "the properties of the schema are no object")
	}
	if len(names) > mostFields {
		return nil, Errorf(Validation, "the question asks for %d things at once, and %d are the most", len(names), mostFields)
	}
	fields := make([]Field, len(names))
	for i, name := range names {
		if fields[i], err = fieldOf(name, values[i], slices.Contains(schema.Required, name)); err != nil {
			return nil, err
		}
	}
	for _, name := range schema.Required {
		if !slices.Contains(names, name) {
			return nil, Errorf(Validation, "the schema requires %.80q, and has no such property", name)
		}
	}
	if q.Order == nil {
		return fields, nil
	}
	in := q.sorted(names)
	slices.SortStableFunc(fields, func(a, b Field) int { return cmp.Compare(slices.Index(in, a.Name), slices.Index(in, b.Name)) })
	return fields, nil
}

// members are those of a JSON object, in the order in which they stand there.
func members(object json.RawMessage) (names []string, values []json.RawMessage, err error) {
	if len(object) == 0 || string(object) == "null" {
		return nil, nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, Errorf(Validation, "it is no object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		name, _ := t.(string)
		names, values = append(names, name), append(values, value)
	}
	return names, values, nil
}

// CheckAnswer says what is wrong with the data of an answer that accepts, with Validation; nil
// where it fits.
func (q Question) CheckAnswer(data json.RawMessage) error {
	fields, err := q.Fields()
	if err != nil {
		return err
	}
	if q.Schema == nil {
		if len(data) > 0 && string(data) != "null" {
			return Errorf(Validation, "the question wants no data, and the answer has some")
		}
		return nil
	}
	if len(data) > mostAnswer {
		return Errorf(Validation, "the answer has %d bytes, and %d are the most", len(data), mostAnswer)
	}
	if fault := CheckJSON(data, deepestField); fault != nil {
		return Errorf(Validation, "the answer is no JSON object: %w", fault)
	}
	names, values, err := members(data)
	if err != nil || len(data) == 0 || string(data) == "null" {
		return Errorf(Validation, "the answer is no JSON object")
	}
	for i, name := range names {
		at := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if at < 0 {
			return Errorf(Validation, "the question asks for nothing that is called %.80q", name)
		}
		if err := fields[at].check(values[i]); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if f.Required && !slices.Contains(names, f.Name) {
			return Errorf(Validation, "%s is missing", f.Name)
		}
	}
	return nil
}

// Secrets are the texts of an answer that nobody but who asked may see: those of fields
// that are passwords.
func (q Question) Secrets(data json.RawMessage) (all []string) {
	fields, _ := q.Fields()
	names, values, _ := members(data)
	for i, name := range names {
		var text string
		if slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name && f.Secret() }) && json.Unmarshal(values[i], &text) == nil {
			all = append(all, text)
		}
	}
	return all
}
