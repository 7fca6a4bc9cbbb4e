package tags

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// callKeys are the names with which an object begins that may be a call.
var callKeys = map[string]bool{
	"name": true, "type": true, "function": true, "tool_calls": true, "function_call": true, "tool": true, "id": true, "index": true, "arguments": true, "parameters": true,
	"tool_name": true, "tool_call_id": true, "action": true, "thought": true, "reasoning": true,
}

// functionCall is a call as servers of Chat Completions, and those who learned from them, write it.
type functionCall struct {
	Name         string            `json:"name"`
	Tool         string            `json:"tool"`
	ToolName     string            `json:"tool_name"` // as Cohere has it
	Action       string            `json:"action"`    // as LangChain has it
	Function     json.RawMessage   `json:"function"`  // an object like this one, or a name
	FunctionCall json.RawMessage   `json:"function_call"`
	ToolCalls    []json.RawMessage `json:"tool_calls"`
	Arguments    json.RawMessage   `json:"arguments"` // an object, or one in a text
	Parameters   json.RawMessage   `json:"parameters"`
	Input        json.RawMessage   `json:"input"`
	Args         json.RawMessage   `json:"args"`
	ActionInput  json.RawMessage   `json:"action_input"`
}

// json reads calls that are written as JSON: an object with a name and arguments, or a list of them; and the list behind
// [TOOL_CALLS]. It is false when what begins at i is none of these.
func (r *Reader) json(i int) bool {
	if r.text.has(i, "[TOOL_CALLS]") {
		return r.toolCalls(i, i+len("[TOOL_CALLS]"))
	}
	object := i
	if r.text.s[i] == '[' {
		object = r.text.spaces(i + 1)
	}
	key, ok := r.key(object)
	if !ok || i < r.looked {
		return false
	}
	value, end := r.value(i)
	r.looked = end
	if value == nil {
		if key == "name" && r.namesTool(object) {
			r.lose("a call in JSON", Foreign, "a call in JSON cannot be read, so none was made of it. Write calls as tags.")
		}
		return false
	}
	calls := callsOf(value, 0)
	if len(calls) == 0 && r.wantsCall(value) {
		r.lose("a call in JSON", Foreign, "a call in JSON has no object of arguments, so none was made of it. Write calls as tags.")
	}
	for _, c := range calls {
		r.foreign(c.name, c.arguments, end)
	}
	return len(calls) > 0
}

// key is the first name of the object at i, if it is one that calls begin with.
func (r *Reader) key(i int) (key string, ok bool) {
	if r.text.at(i) != '{' {
		return "", false
	}
	i = r.text.spaces(i + 1)
	if r.text.at(i) != '"' {
		return "", false
	}
	end := r.text.name(i + 1)
	key = r.text.s[i+1 : max(end, i+1)]
	return key, r.text.at(end) == '"' && callKeys[key]
}

// wantsCall reports whether an object names a tool and something that is to be its arguments.
func (r *Reader) wantsCall(value json.RawMessage) bool {
	var c functionCall
	return json.Unmarshal(value, &c) == nil && r.set.byName[c.Name] != nil && len(c.Arguments)+len(c.Parameters)+len(c.Input)+len(c.Args) > 0
}

// namesTool reports whether the object at i begins with the name of a tool.
func (r *Reader) namesTool(i int) bool {
	i = r.text.spaces(i+1) + 1
	i = r.text.spaces(r.text.name(i) + 1)
	if r.text.at(i) != ':' {
		return false
	}
	i = r.text.spaces(i + 1)
	if r.text.at(i) != '"' {
		return false
	}
	return r.set.byName[strings.TrimPrefix(r.text.s[i+1:r.toolName(i+1)], "functions.")] != nil
}

// value is the JSON that begins at i, with its end; nil, with the place at which it is wrong, when that is none.
func (r *Reader) value(i int) (json.RawMessage, int) {
	d := json.NewDecoder(strings.NewReader(r.text.s[i:]))
	var raw json.RawMessage
	err := d.Decode(&raw)
	var wrong *json.SyntaxError
	switch {
	case err == nil:
		end := i + int(d.InputOffset())
		r.text.steps += end - i
		return raw, end
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		r.text.steps += len(r.text.s) - i
		r.text.ends(len(r.text.s))
		return nil, len(r.text.s)
	case errors.As(err, &wrong):
		end := min(i+max(int(wrong.Offset)-1, 1), len(r.text.s))
		r.text.steps += end - i
		if end < len(r.text.s) && r.text.s[end] < ' ' { // in a text, for between others it is none
			return r.broken(i, end)
		}
		return nil, end
	}
	return nil, i + 1
}

// mostBroken is how many values are tried whose texts have line breaks as they stand.
const mostBroken = 32

// broken is value for one in whose texts line breaks and tabs stand as they are, as models write a file in JSON. wrong is where the first
// one stands.
func (r *Reader) broken(i, wrong int) (json.RawMessage, int) {
	if r.brokens == mostBroken {
		return nil, wrong
	}
	r.brokens++
	raw, depth, inText := []byte(nil), 0, false
	for end := i; !r.text.ends(end); end++ {
		r.text.steps++
		switch c := r.text.s[end]; {
		case c == '\\' && inText && !r.text.ends(end+1):
			raw = append(raw, c)
			end++
		case c == '"':
			inText = !inText
		case inText && c < ' ':
			raw = append(raw, encoded(string(c))[1:]...)
			raw = raw[:len(raw)-1]
			continue
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if raw = append(raw, r.text.s[end]); depth == 0 && !inText {
			if json.Valid(raw) {
				return raw, end + 1
			}
			break
		}
	}
	return nil, wrong
}

// found is a call that another program's form says.
type found struct {
	name      string
	arguments []Argument
}

// mostWrapped is how deep calls may be wrapped.
const mostWrapped = 4

// callsOf are the calls that a value says; none when it is something else.
func callsOf(raw json.RawMessage, depth int) (all []found) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth > mostWrapped {
		return nil
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		for _, one := range list {
			all = append(all, callsOf(one, depth+1)...)
		}
		return all
	}
	var c functionCall
	if json.Unmarshal(raw, &c) != nil {
		return nil
	}
	for _, one := range c.ToolCalls {
		all = append(all, callsOf(one, depth+1)...)
	}
	name := cmp.Or(c.Name, c.Tool, c.ToolName, c.Action)
	inner := c.Function
	if len(inner) == 0 {
		inner = c.FunctionCall
	}
	if len(inner) > 0 && inner[0] == '{' {
		return append(all, callsOf(inner, depth+1)...)
	}
	if name == "" && json.Unmarshal(inner, &name) != nil {
		return all
	}
	for _, arguments := range []json.RawMessage{c.Arguments, c.Parameters, c.Input, c.Args, c.ActionInput} {
		if members, ok := argumentsOf(arguments); ok {
			return append(all, found{name, members})
		}
	}
	return all
}

// argumentsOf reads an object of arguments, or one that stands in a text.
func argumentsOf(raw json.RawMessage) ([]Argument, bool) {
	raw = bytes.TrimSpace(raw)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		if raw = []byte(text); blank(text) {
			raw = []byte("{}")
		}
	}
	if len(raw) == 0 {
		return nil, false
	}
	members, err := objectOf(raw)
	return members, err == nil
}
