// Package sdk holds the nouns that every part of Bothy shares: entries, runs,
// loops, turns, tools, models, hooks and the errors that travel between them.
//
// It imports only the standard library, so that a plugin author who wants one
// type does not take a daemon along. The packages below it add behaviour:
// sdk/tool, sdk/provider, sdk/skill and sdk/hook are the kinds a plugin may serve,
// sdk/plugin starts them, sdk/host is what a plugin may call back, sdk/rpc and
// sdk/client speak to the daemon's socket.
//
// The words are those of docs/words.md: a project has runs, a run has loops, a
// loop has turns, and everything that is remembered is an entry.
package sdk

// Version is the version of Bothy that a binary was built from. The build
// stamps it; a plain `go build` leaves the development value.
var Version = "0.1.0-dev"
