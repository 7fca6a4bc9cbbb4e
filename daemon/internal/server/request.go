package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// call is one request of a message, or why it is none.
type call struct {
	rpc.Request
	failed  *rpc.Error // it goes back under the ID where there is one
	refused error      // by a hook

	placed bool            // it is about the project that the last init before it left
	ctx    context.Context // of its handler
}

// notifies reports whether a request asks for no answer, whatever becomes of it (JSON-RPC 2.0, section 4.1).
func (x call) notifies() bool { return x.failed == nil && x.ID == nil }

// readMessage turns a checked frame into the request in it, or into those of a batch, of which
// there may be most. The error is of the message as a whole.
func readMessage(frame []byte, most int) (calls []call, batch bool, err *rpc.Error) {
	if bytes.TrimLeft(frame, " \t\r\n")[0] != '[' {
		req, err := readRequest(frame)
		return []call{{Request: req, failed: err}}, false, nil
	}
	var all []json.RawMessage
	if json.Unmarshal(frame, &all) != nil || len(all) == 0 {
		return nil, true, invalid("a batch is a list of requests, and has one at least")
	}
	if len(all) > most {
		return nil, true, invalid(fmt.Sprintf("the batch has %d requests, and may have %d: none of it was done", len(all), most))
	}
	for _, text := range all {
		req, err := readRequest(text)
		calls = append(calls, call{Request: req, failed: err})
	}
	return calls, true, nil
}

// readRequest turns a checked message into a request. The error goes back under
// the request's id where it has one: the first result holds it in that case.
// Member names are compared exactly, unlike the decoder's own way.
func readRequest(frame []byte) (rpc.Request, *rpc.Error) {
	var req rpc.Request
	var members map[string]json.RawMessage
	if err := json.Unmarshal(frame, &members); err != nil || members == nil {
		return req, invalid("a request is a JSON object")
	}
	if id, ok := members["id"]; ok {
		if id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
			return req, invalid("a request's id is a string or a number")
		}
		req.ID = id
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "jsonrpc", "id", "method", "params":
		default:
			return req, invalid(fmt.Sprintf("a request has no member %q: it has jsonrpc, id, method and params", name))
		}
	}
	if string(members["jsonrpc"]) != `"2.0"` {
		return req, invalid(`a request begins with "jsonrpc":"2.0"`)
	}
	if err := json.Unmarshal(members["method"], &req.Method); err != nil || req.Method == "" {
		return req, invalid("a request names its method")
	}
	req.JSONRPC, req.Params = rpc.Version2, members["params"]
	return req, nil
}

func invalid(message string) *rpc.Error {
	return rpc.Errorf(rpc.CodeInvalid, sdk.Validation, message)
}

func wrongParams(format string, args ...any) *rpc.Error {
	return rpc.Errorf(rpc.CodeParams, sdk.Validation, fmt.Sprintf(format, args...))
}

// decodeParams reads a method's parameters into v, a pointer to a struct with
// the given fields. Absent parameters are an empty object. placed says that the connection
// has a project, which need not be named then.
func decodeParams(method string, raw json.RawMessage, fields []field, v any, placed bool) *rpc.Error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' {
		return wrongParams("the parameters of %s are an object, with a name for each", method)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return wrongParams("parameters of %s: %v", method, err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return wrongParams("%s has no parameter %q: %s", method, name, describe(fields))
		}
	}
	for _, f := range fields {
		if value, ok := members[f.name]; f.required && (!ok || string(value) == "null") && !(placed && f.name == paramProject) {
			return wrongParams("%s needs the parameter %q: %s", method, f.name, describe(fields))
		}
	}
	err := sdk.ReadJSON(raw, v)
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return wrongParams("parameter %q of %s is %s and must be %s", typed.Field, method, typed.Value, typed.Type)
	}
	if err != nil {
		return wrongParams("parameters of %s: %v", method, err)
	}
	return nil
}

// describe lists parameters for an error; optional ones end in "?".
func describe(fields []field) string {
	if len(fields) == 0 {
		return "it takes none"
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		if !f.required {
			names[i] += "?"
		}
	}
	return "it takes " + strings.Join(names, ", ")
}

// encodeResponse makes the line of an answer, without its newline. A nil id
// becomes null.
func encodeResponse(id json.RawMessage, result any, failed *rpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	resp := rpc.Response{JSONRPC: rpc.Version2, ID: id, Error: failed}
	if failed == nil {
		raw, err := json.Marshal(result)
		if err != nil {
			return encodeResponse(id, nil, rpc.Errorf(rpc.CodeInternal, sdk.Internal, fmt.Sprintf("the answer cannot be written as JSON: %v", err)))
		}
		resp.Result = raw
	}
	line, err := json.Marshal(resp)
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written as JSON"}}`)
	}
	return line
}

// encodeNote makes the line of a notification.
func encodeNote(method string, params any) ([]byte, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("notification %s: %w", method, err)
	}
	return json.Marshal(rpc.Request{JSONRPC: rpc.Version2, Method: method, Params: raw})
}
