package sandbox

import "errors"

// The codes of an [Error].
const (
	// CodeUnavailable: there is no usable Podman; the hint says what to do.
	CodeUnavailable = "unavailable"
	// CodeInvalid: the caller asked for something that cannot be; nothing
	// was made or run.
	CodeInvalid = "invalid"
	// CodeNotStarted: the program is not there or cannot be executed; nothing
	// was run.
	CodeNotStarted = "not_started"
	// CodeLost: the container ended, or stopped answering, while a command
	// ran. Whether the command finished is unknown; the next one gets a new
	// container.
	CodeLost = "sandbox_lost"
	// CodeSwapped: something else was put in the place of the project, or of a
	// directory of the run, while the container was being made. The container
	// was removed and nothing was run; the result has the violation.
	CodeSwapped = "swapped"
	// CodeNoView: the command may run on a view of the project only, and none is
	// possible; nothing was run.
	CodeNoView = "no_view"
	// CodeFailed: Podman refused or failed.
	CodeFailed = "sandbox_failed"
)

// Error is a failure of the sandbox itself; a command that ran and failed is a
// [Result], not an error.
type Error struct {
	Code    string
	Message string
	// Hint says what a person can do; empty when there is nothing.
	Hint string
	Err  error
}

func (e *Error) Error() string {
	text := e.Message
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Code is the code of the [Error] in err's chain, or "" when there is none.
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

func unavailable(message, hint string, err error) error {
	return &Error{Code: CodeUnavailable, Message: message, Hint: hint, Err: err}
}

func invalid(message string) error {
	return &Error{Code: CodeInvalid, Message: message}
}

func failed(message string, err error) error {
	return &Error{Code: CodeFailed, Message: message, Err: err}
}
