package main

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bothyd/bothy/sdk"
)

// The SDK reads the schema of what a server asks the person into a map, which has no order. So a
// program's schemas get a list of their properties before they are read. Of a server that is reached by
// HTTP only the order of what is required is known: there is no place to look at its messages.

// orderKey is the member of a schema that has the list.
const orderKey = "x-bothy-order"

// methodElicit asks the person something.
const methodElicit = "elicitation/create"

// keepOrder adds the lists to a message of a server, as a request or as a result that asks for input.
func keepOrder(m jsonrpc.Message) {
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.Method == methodElicit {
			m.Params = in(m.Params, "requestedSchema", listed)
		}
	case *jsonrpc.Response:
		if bytes.Contains(m.Result, []byte(`"`+methodElicit+`"`)) {
			m.Result = in(m.Result, "inputRequests", func(asked json.RawMessage) json.RawMessage {
				return each(asked, func(one json.RawMessage) json.RawMessage {
					return in(one, "params", func(p json.RawMessage) json.RawMessage { return in(p, "requestedSchema", listed) })
				})
			})
		}
	}
}

// listed is a schema with the list.
func listed(schema json.RawMessage) json.RawMessage {
	order, err := json.Marshal(sdk.Question{Schema: schema}.InOrder().Order)
	var all map[string]json.RawMessage
	if err != nil || json.Unmarshal(schema, &all) != nil || all == nil {
		return schema
	}
	all[orderKey] = order
	return encoded(all, schema)
}

// in is an object with a member changed; what is none, or has no such member, stays.
func in(object json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil || all[name] == nil {
		return object
	}
	all[name] = change(all[name])
	return encoded(all, object)
}

// each is an object with all of its members changed.
func each(object json.RawMessage, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return object
	}
	for name, value := range all {
		all[name] = change(value)
	}
	return encoded(all, object)
}

func encoded(all map[string]json.RawMessage, otherwise json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(all)
	if err != nil {
		return otherwise
	}
	return raw
}

// orderOf takes the list out of a schema that the SDK has read; without one it is what is required.
func orderOf(schema any) (order []string) {
	s, _ := schema.(map[string]any)
	list, has := s[orderKey].([]any)
	delete(s, orderKey)
	if !has {
		list, _ = s["required"].([]any)
	}
	for _, name := range list {
		if text, is := name.(string); is {
			order = append(order, text)
		}
	}
	return order
}
