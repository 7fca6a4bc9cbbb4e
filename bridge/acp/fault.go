package main

import (
	"errors"
	"fmt"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// The codes of errors that editors know. The daemon's own numbers are not theirs: its -32000
// would have an editor ask for a login.
const (
	codeParams   = -32602
	codeInternal = -32603
	codeNotFound = -32002
)

// fault is an error as the editor gets it: its message is the daemon's sentence, which the person
// reads.
func fault(err error) error {
	var ready *acp.RequestError
	if err == nil || errors.As(err, &ready) {
		return err
	}
	code := codeInternal
	outcome := sdk.OutcomeOf(err)
	switch outcome {
	case sdk.Validation:
		code = codeParams
	case sdk.NotFound:
		code = codeNotFound
	}
	return &acp.RequestError{Code: code, Message: show.Text(err.Error()), Data: map[string]any{"outcome": string(outcome)}}
}

// refuse is fault for what the bridge itself refuses.
func refuse(outcome sdk.Outcome, format string, args ...any) error {
	return fault(&sdk.Error{Outcome: outcome, Message: fmt.Sprintf(format, args...)})
}
