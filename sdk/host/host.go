// Package host is what a plugin may ask of the daemon that runs it. Every
// service needs a grant in the operator's block; what is not granted answers
// with outcome permission.
package host

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Host is the daemon as a plugin sees it. Calls carry the run of the
// invocation whose context they are made with, and inherit its deadline and
// cancellation; without one, a service that needs a run answers validation.
type Host interface {
	// Entry reads an entry of the run; outcome not_found when it is not in view.
	Entry(ctx context.Context, path string) (sdk.Entry, error)
	// Entries lists entries of the run whose path matches the pattern (sdk/match.Parse).
	Entries(ctx context.Context, pattern string) ([]sdk.Entry, error)
	// Write changes entries of the run in one commit, as writer plugin.
	Write(ctx context.Context, writes ...sdk.Write) ([]sdk.Entry, error)
	// Do uses the six verbs on entries of the run, in their order and in one commit, as writer plugin. The
	// first call that fails is the error, and nothing is written then. Files, whose paths have no scheme, are
	// changed by calling tools (Invoke).
	Do(ctx context.Context, calls ...sdk.EntryCall) ([]sdk.EntryDone, error)
	// Invoke runs another tool, judged by policy like a model's call.
	Invoke(ctx context.Context, tool string, arguments []byte) (sdk.ToolResult, error)
	// Complete asks a configured model; req.Model is an alias or provider/name.
	Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error
	// Secret resolves a secret that the plugin's block names.
	Secret(ctx context.Context, name string) (string, error)
	// Login is what a person's login at the server that the plugin's block names came to, as the plugin
	// gave it; outcome not_found when nobody has logged in, or the block has none.
	Login(ctx context.Context) (string, error)
	// KeepLogin keeps a login that the plugin has renewed in the place of the one that it was renewed
	// from, of at most 64 KiB; outcome conflict when a person has logged in anew meanwhile, not_found when out.
	KeepLogin(ctx context.Context, was, now string) error
	// Log writes a line to the daemon's log under the plugin's name. Level is
	// "debug", "info", "warn" or "error".
	Log(ctx context.Context, level, message string, fields map[string]string) error
}
