package main

import (
	"context"
	"errors"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The exit codes of bothy, of which package sdk declares those of a loop's end.
// `bothy --help` prints them.
const (
	exitOK         = sdk.ExitOK
	exitFailed     = sdk.ExitFailed
	exitUsage      = sdk.ExitUsage
	exitStopped    = sdk.ExitStopped
	exitUnanswered = sdk.ExitUnanswered
	exitAborted    = sdk.ExitAborted
	exitLeft       = 6 // bothyd has ended
)

const exitCodes = `Exit codes:
  0  finished
  1  failed
  2  usage or configuration: nothing was done, correct it and call again
  3  stopped by a guard, or not finished
  4  a question that nobody answered: 'bothy proposals' lists it, and the run waits
  5  aborted
  6  bothyd has ended: the run goes on when it is back
`

// usageError is a mistake in how bothy was called.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// noJSON refuses --json where what is printed is no data.
func (c *console) noJSON(prints string) error {
	if c.json {
		return usageError{"there is no JSON of this: it prints " + prints + "; leave out --json"}
	}
	return nil
}

// exitError ends bothy with a code. Its reason was printed already, unless
// err is set.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return "exit"
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// errorCode is the exit code of an error.
func errorCode(err error) int {
	var exit exitError
	var usage usageError
	var version *client.VersionError
	var said *rpc.Error
	var place *start.UsageError
	var failed *start.FailedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &usage), errors.As(err, &version), errors.As(err, &place), errors.As(err, &failed) && failed.Code == exitUsage:
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitAborted
	case errors.As(err, &said):
		switch sdk.OutcomeOf(said) {
		case sdk.Validation, sdk.NotFound:
			return exitUsage
		case sdk.Aborted:
			return exitAborted
		}
	}
	return exitFailed
}
