package rpc

import (
	"errors"

	"github.com/bothyd/bothy/sdk"
)

// The codes of errors: those of JSON-RPC 2.0 (section 5.1), and the daemon's
// own in the range that it leaves to servers.
const (
	CodeParse    = -32700 // the line is no JSON
	CodeInvalid  = -32600 // the JSON is no request, or breaks a limit
	CodeMethod   = -32601 // there is no such method
	CodeParams   = -32602 // the parameters are not those of the method, or make no sense
	CodeInternal = -32603 // a mistake of the daemon's; its log has more
	CodeFailed   = -32000 // the call was understood and could not be done; see Data.Outcome
	CodeBusy     = -32001 // too many connections, requests or subscriptions
	CodeRefused  = -32002 // this peer may not use the socket
	CodeProtocol = -32003 // the major protocol numbers differ
	CodeRole     = -32004 // the connection's role does not allow it, or its token is none of this daemon's
)

// Error is why a call failed. It unwraps to an *sdk.Error of the same outcome,
// so that sdk.OutcomeOf works on both sides of the socket.
type Error struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *ErrorData `json:"data,omitempty"`
}

// ErrorData is the part of an error that programs read.
type ErrorData struct {
	Outcome sdk.Outcome `json:"outcome,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the error as the nouns know it.
func (e *Error) Unwrap() error {
	if e.Data == nil || e.Data.Outcome == "" {
		return nil
	}
	return &sdk.Error{Outcome: e.Data.Outcome, Message: e.Message}
}

// Errorf makes an Error of a code and an outcome.
func Errorf(code int, outcome sdk.Outcome, message string) *Error {
	return &Error{Code: code, Message: message, Data: &ErrorData{Outcome: outcome}}
}

// ErrorOf turns any error into one that can be sent. The outcome in err's
// chain decides the code; an error without one is the daemon's own mistake.
func ErrorOf(err error) *Error {
	var ready *Error
	if errors.As(err, &ready) {
		return ready
	}
	outcome := sdk.OutcomeOf(err)
	code := CodeFailed
	switch outcome {
	case sdk.Validation:
		code = CodeParams
	case sdk.Internal:
		code = CodeInternal
	}
	return Errorf(code, outcome, err.Error())
}
