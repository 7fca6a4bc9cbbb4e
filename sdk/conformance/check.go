// Package conformance says whether a plugin keeps the promises of the plugin
// protocol, whatever language it is written in. A check is a function over a
// connection and the plugin's own manifest; it knows nothing else of the plugin.
//
// Three callers share them: the sub-command test of every binary that was built
// with the SDK, `bothy plugins test PATH`, and package sdktest. The first two
// start the binary as the daemon does (see [Binary]); the last serves an
// implementation in memory.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
)

// patience is how long one answer may take before a check has failed. What has
// a bound of its own in the protocol is held to that one.
const patience = 10 * time.Second

// Severity says how bad a finding is. Only Failed makes a plugin fail.
type Severity string

// The severities, from harmless to bad.
const (
	Passed  Severity = "ok"
	Skipped Severity = "skipped" // it could not be tried, and Text says why
	Warned  Severity = "warning" // the daemon copes with it, but people will not like it
	Failed  Severity = "failed"  // the daemon, or a newer one, cannot rely on the plugin
)

// Finding is what one check came to.
type Finding struct {
	Severity Severity `json:"severity"`
	Name     string   `json:"name"`           // of the check
	Text     string   `json:"text,omitempty"` // what is wrong and what to do; empty when it passed
}

// Subject is the plugin that is checked. It is configured; only [Describe] and
// [Configure] take one that is not.
type Subject struct {
	Conn     grpc.ClientConnInterface
	Manifest sdk.Manifest
	// Call allows what may have effects: calls of tools that are not read-only,
	// executions of skills, completions, and events that are subscribed to.
	Call bool
	// Project and RunDir are folders that exist. Calls are told of the first one where the
	// manifest asks for the grant project or sandbox, hooks wherever their values have it.
	Project, RunDir string
	// Settings are what Configure is given; the checks of [Base] give them again
	// to a plugin with the feature "reconfigure".
	Settings sdk.Settings
}

// project is what calls are told of the project, as a daemon tells it that grants what the
// manifest asks for.
func (s Subject) project() string {
	if slices.Contains(s.Manifest.Grants, sdk.GrantProject) || slices.Contains(s.Manifest.Grants, sdk.GrantSandbox) {
		return s.Project
	}
	return ""
}

// Check is one promise and how it is tried. Try returns nil when it is kept, a
// [Skip] or [Warn] as the case may be, and any other error when it is broken.
type Check struct {
	Name string
	Try  func(ctx context.Context, s Subject) error
}

// Run tries the checks one after the other and tells of each as it ends. One
// that panics, or takes longer than all its steps may, has failed.
func Run(ctx context.Context, s Subject, checks []Check, told func(Finding)) {
	for _, c := range checks {
		told(finding(c.Name, try(ctx, c, s)))
	}
}

func try(ctx context.Context, c Check, s Subject) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the check itself panicked, which is a mistake in Bothy: %v", p)
		}
	}()
	return c.Try(ctx, s)
}

// finding turns the answer of a check into what people read.
func finding(name string, err error) Finding {
	if err == nil {
		return Finding{Severity: Passed, Name: name}
	}
	return Finding{Severity: severity(err), Name: name, Text: strings.ReplaceAll(err.Error(), "\n", "; ")}
}

// severity is that of the worst of several errors.
func severity(err error) Severity {
	var r reservation
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		worst := Skipped
		for _, e := range joined.Unwrap() {
			if s := severity(e); s == Failed || s == Warned && worst == Skipped {
				worst = s
			}
		}
		return worst
	}
	if errors.As(err, &r) {
		return r.severity
	}
	return Failed
}

// reservation is an error that does not make the plugin fail.
type reservation struct {
	severity Severity
	text     string
}

// Error implements error.
func (r reservation) Error() string { return r.text }

// Skip is the answer of a check that could not be made.
func Skip(format string, args ...any) error {
	return reservation{severity: Skipped, text: fmt.Sprintf(format, args...)}
}

// Warn is the answer of a check whose promise is not quite kept.
func Warn(format string, args ...any) error {
	return reservation{severity: Warned, text: fmt.Sprintf(format, args...)}
}

// answered is the plugin's own word in an error: nil when the connection, and
// not the plugin, gave it.
func answered(err error) *sdk.Error {
	var own *sdk.Error
	if errors.As(err, &own) {
		return own
	}
	return nil
}

// absent reports whether the plugin does not serve what was called.
func absent(err error) bool { return status.Code(err) == codes.Unimplemented }

// within runs do, which must return soon after its context ends, and says when
// it does not.
func within(ctx context.Context, what string, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	select {
	case err := <-done:
		if ctx.Err() != nil && answered(err) == nil {
			return fmt.Errorf("%s was not over within %v", what, limit)
		}
		return err
	case <-time.After(limit + time.Second):
		return fmt.Errorf("%s was not over within %v", what, limit)
	}
}
