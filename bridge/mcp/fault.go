package main

import (
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// fault is an error as the client gets it: its message is the daemon's sentence. The daemon's own
// codes mean other things there.
func fault(err error) error {
	var ready *jsonrpc.Error
	if err == nil || errors.As(err, &ready) || isCancelled(err) {
		return err
	}
	code := int64(jsonrpc.CodeInternalError)
	switch sdk.OutcomeOf(err) {
	case sdk.Validation, sdk.NotFound:
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: show.Text(err.Error())}
}

// refuse is fault for what the bridge itself refuses.
func refuse(outcome sdk.Outcome, format string, args ...any) error {
	return fault(&sdk.Error{Outcome: outcome, Message: fmt.Sprintf(format, args...)})
}
