package tags

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Range is a part of an answer: the bytes from Start up to End.
type Range struct{ Start, End int }

// Call is one call as it was read.
type Call struct {
	Tool      string
	Arguments []Argument // in the order in which they stand, but for the one that Body is
	Into      string     // the argument that Body is; empty when the call has none
	Body      string     // byte for byte what the answer has in BodyAt
	At        Range      // the call in the answer, with its tags
	BodyAt    Range      // empty where an attribute, or another program's form, said what the body is
	Fault     string     // why the call cannot run, for the model; empty when it can
	Open      bool       // nothing closes it: it is what came up to the end of the answer
	Behind    string     // what stands before it that may have been meant as a call and is none, the first of that; empty when nothing does
}

// Argument is one of a call. Its value is a string, an int64, a float64, a bool or a json.RawMessage.
type Argument struct {
	Name  string
	Value any
}

// Get is the value of an argument; nil when the call has none of that name.
func (c Call) Get(name string) any {
	for _, a := range c.Arguments {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// Target is what the call is about, as far as one of its arguments says it in a few words; empty where none does.
func (c Call) Target() string {
	for _, name := range []string{"path", "url", "query", "question", "name"} {
		if text, is := c.Get(name).(string); is {
			return text
		}
		if c.Into == name {
			return c.Body
		}
	}
	return ""
}

// JSON is all arguments as an object, the body among them.
func (c Call) JSON() json.RawMessage {
	all := make(map[string]any, len(c.Arguments)+1)
	for _, a := range c.Arguments {
		all[a.Name] = a.Value
	}
	if c.Into != "" {
		all[c.Into] = c.Body
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(all) != nil { // a number that JSON has no form for, say
		return json.RawMessage("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

// making is a call while its attributes and its body find their arguments.
type making struct {
	*progress
	t    *tool
	call Call
	text string // of the attribute `body`, or of the argument that a body is
	said bool
}

// mostArguments is how many a call has at most: more than any tool takes.
const mostArguments = 64

// argument takes an attribute, of which entities are read already, or a member of an object.
func (m *making) argument(name string, value any) {
	name = m.t.argument(name)
	if name == "body" && m.t.types[name].kind == "" || name == m.t.Body {
		if m.said {
			m.warn(Twice, "<%s> has %s twice: the first one counts.", m.t.Name, name)
			return
		}
		m.text, m.said = asText(value), true
		return
	}
	if m.call.Get(name) != nil {
		m.warn(Twice, "<%s> has %s twice: the first one counts.", m.t.Name, clip(name))
		return
	}
	if len(m.call.Arguments) == mostArguments {
		m.warn(Misplaced, "<%s> has more than %d attributes: %s was left out.", m.t.Name, mostArguments, clip(name))
		return
	}
	p := m.t.types[name]
	typed, ok := p.typed(value)
	if !ok && p.value != nil {
		m.warn(Value, "%s=%q of <%s> is none of its values, so that it is %v.", name, clip(asText(value)), m.t.Name, p.value)
		typed = p.value
	}
	m.call.Arguments = append(m.call.Arguments, Argument{name, typed})
}

// argument is the name of the argument that is meant by one.
func (t *tool) argument(name string) string {
	if _, known := t.types[name]; known {
		return name
	}
	lower := strings.ToLower(name)
	if meant, ok := t.Aliases[lower]; ok {
		return meant
	}
	if _, known := t.types[lower]; known {
		return lower
	}
	return name
}

// body takes what stands between the tags; the text of the attribute where nothing does.
func (m *making) body(s string, at Range) {
	at = trimmed(s, at)
	text := s[at.Start:at.End]
	nothing := blank(text)
	switch {
	case m.elements(text):
	case m.t.Target != "" && m.call.Get(m.t.Target) == nil && !nothing:
		m.call.Arguments = append(m.call.Arguments, Argument{m.t.Target, strings.TrimSpace(text)})
	case nothing && (m.t.Target != "" || m.said):
	case m.t.guessed && m.whole(text):
	case m.t.Body != "":
		if m.said {
			m.warn(Twice, "<%s> has an attribute %s and a body: the body counts.", m.t.Name, m.t.Body)
		}
		m.call.Into, m.call.Body, m.call.BodyAt, m.said = m.t.Body, text, at, false
	case m.t.Target != "":
		m.warn(Misplaced, "the body of <%s> was left out: %s is an attribute already.", m.t.Name, m.t.Target)
	case !nothing:
		m.object(text)
	}
}

// whole takes a body that is a JSON object of arguments where only the schema says that it is one of them, and reports
// whether it is that: it has this one, as a text, and nothing but what the tool takes and no attribute says.
func (m *making) whole(text string) bool {
	if m.said || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return false
	}
	members, err := objectOf([]byte(text))
	if err != nil {
		return false
	}
	found := false
	for _, a := range members {
		_, isText := a.Value.(string)
		if _, known := m.t.types[a.Name]; !known || m.call.Get(a.Name) != nil || a.Name == m.t.Body && !isText {
			return false
		}
		found = found || a.Name == m.t.Body
	}
	if !found {
		return false
	}
	for _, a := range members {
		m.argument(a.Name, a.Value)
	}
	return true
}

// object takes a body that is a JSON object of arguments.
func (m *making) object(text string) {
	members, err := objectOf([]byte(text))
	if err != nil {
		m.call.Fault = "the body of <" + m.t.Name + "> is no JSON object of its arguments: write them as attributes, or as one object."
		return
	}
	for _, a := range members {
		m.argument(a.Name, a.Value)
	}
}

// done is the call when all that was written is taken.
func (m *making) done() Call {
	if m.said {
		switch {
		case m.t.Target != "" && m.call.Get(m.t.Target) == nil:
			m.call.Arguments = append(m.call.Arguments, Argument{m.t.Target, strings.TrimSpace(m.text)})
		case m.t.Body != "":
			m.call.Into, m.call.Body = m.t.Body, m.text
		default:
			m.call.Arguments = append(m.call.Arguments, Argument{"body", m.text})
		}
	}
	for _, name := range m.t.defaults {
		if m.call.Get(name) == nil && name != m.call.Into {
			m.call.Arguments = append(m.call.Arguments, Argument{name, m.t.types[name].value})
		}
	}
	m.call.Behind = m.lost
	return m.call
}

// emptied says what is wrong with a call whose body another tag began in the place of, if it would come to nothing: it is of
// a tool that puts its body somewhere, and says nothing but where.
func (m *making) emptied() {
	if m.t.Body == "" || m.t.Target != "" || m.said || !slices.ContainsFunc(m.t.required, func(name string) bool { return name != m.t.Body }) {
		return
	}
	if !slices.ContainsFunc(m.call.Arguments, func(a Argument) bool { return !slices.Contains(m.t.required, a.Name) }) {
		m.call.Fault = "<" + m.t.Name + "> has no body, for another tag begins where it should stand. Nothing was changed: write its body and close it, or close the tag with />."
	}
}

// swallowed says what is wrong with a call that took tags of others along because nothing closes it, so that nobody knows which of
// them are calls. A body that is an object has said so itself, or is whole.
func (m *making) swallowed() {
	if m.t.Body != "" && m.t.Target == "" {
		m.call.Fault = "<" + m.t.Name + "> is not closed, and other tags stand in what would be its body. Nothing was done: write it again, close it with </" + m.t.Name + ">, and then write the others."
	}
}

// objectOf reads an object, whose members are in order.
func objectOf(text []byte) (members []Argument, err error) {
	if fault := sdk.CheckJSON(text, maxDepth); fault != nil {
		return nil, fault
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, sdk.Errorf(sdk.Validation, "it is no object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, Argument{name.(string), fromJSON(value)})
	}
	return members, nil
}

// maxDepth is how many objects and arrays may stand inside each other.
const maxDepth = 64

// clip makes a text of the model's short enough for a warning.
func clip(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
