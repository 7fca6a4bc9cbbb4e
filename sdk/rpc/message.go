package rpc

import "encoding/json"

// Version2 is the value of every message's "jsonrpc" member.
const Version2 = "2.0"

// Request is one call. Without an ID it is a notification: the daemon sends
// those to clients, and a client that sends one gets no answer, not even an
// error.
type Request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // a string or a number, given back exactly as it was written
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"` // always an object; lists of positional parameters are refused
}

// Response answers the request of the same ID. Exactly one of Result and Error
// is set. ID is null when the request was too broken to have one.
type Response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Empty is the parameters or the result of a method that has none.
type Empty struct{}
