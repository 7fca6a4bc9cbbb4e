package sdk

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Outcome is the short reason of a failed or cancelled entry, and the code of
// an Error. Besides the constants there is "exit:N" for a command's status.
type Outcome string

// The outcomes that Bothy itself gives.
const (
	NotFound      Outcome = "not_found"
	Misnamed      Outcome = "misnamed" // a tool or an argument by the name that it has elsewhere; the message says its name here
	Validation    Outcome = "validation"
	Permission    Outcome = "permission"
	Conflict      Outcome = "conflict"
	Again         Outcome = "again" // nothing is wrong with the call, and it was not made: what it was agreed to for is another by now
	Overflow      Outcome = "overflow"
	Aborted       Outcome = "aborted"
	Interrupted   Outcome = "interrupted"
	PluginCrashed Outcome = "plugin_crashed"
	Timeout       Outcome = "timeout"
	OutOfMemory   Outcome = "oom"
	Unavailable   Outcome = "unavailable" // a part that is needed is not there; the message says how to get it
	Unfinished    Outcome = "unfinished"  // what the call delegated came to no result; the message says why
	Internal      Outcome = "internal"
)

// Exit is the outcome of a command that ended with a status other than zero.
func Exit(code int) Outcome { return Outcome("exit:" + strconv.Itoa(code)) }

// The status numbers (docs/entries.md, Status and Runs, loops, turns).
const (
	StatusQueued    = 100
	StatusRunning   = 102
	StatusOK        = 200
	StatusProposed  = 202
	StatusNoContent = 204
	StatusBad       = 400
	StatusForbidden = 403
	StatusNotFound  = 404
	StatusConflict  = 409
	StatusOverflow  = 413
	StatusUnable    = 422
	StatusAborted   = 499
	StatusFailed    = 500
)

var outcomeStatus = map[Outcome]int{
	NotFound: StatusNotFound, Misnamed: StatusNotFound, Validation: StatusBad, Permission: StatusForbidden,
	Conflict: StatusConflict, Again: StatusConflict, Overflow: StatusOverflow,
	Aborted: StatusAborted, Interrupted: StatusAborted,
}

// Status derives the status number of an entry from its state and outcome.
// It is a table, never a number parsed out of the outcome: "exit:404" is 500.
func Status(s State, o Outcome) int {
	switch s {
	case StateProposed:
		return StatusProposed
	case StateStreaming:
		return StatusRunning
	case StateCancelled:
		return StatusAborted
	case StateFailed:
		if n, ok := outcomeStatus[o]; ok {
			return n
		}
		return StatusFailed
	default:
		return StatusOK
	}
}

// ExitCode returns N of an outcome "exit:N".
func (o Outcome) ExitCode() (int, bool) {
	rest, ok := strings.CutPrefix(string(o), "exit:")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil
}

// Error is an error with an outcome. Message is written for the person or the
// model that reads it, unless Instead says to the model what to do instead: then
// Message is for the person alone. Cause keeps the chain for logs and errors.Is.
type Error struct {
	Outcome Outcome
	Message string
	Instead string
	Cause   error
}

// Errorf makes an Error; a %w in the format becomes its cause.
func Errorf(o Outcome, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Outcome: o, Message: err.Error()}
	if u, ok := err.(interface{ Unwrap() error }); ok {
		e.Cause = u.Unwrap()
	}
	return e
}

func (e *Error) Error() string { return e.Message }

// Tell sets what a model is told in Message's place, and returns the error.
func (e *Error) Tell(instead string) *Error {
	e.Instead = instead
	return e
}

// Told is what a model reads of err.
func Told(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Instead != "" {
		return e.Instead
	}
	return err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// OutcomeOf finds the outcome in err's chain; Internal when there is none.
func OutcomeOf(err error) Outcome {
	var e *Error
	if errors.As(err, &e) {
		return e.Outcome
	}
	return Internal
}
