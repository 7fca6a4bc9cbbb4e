// Package daemon makes the packages of Bothy and hands them to each other. It is
// the only package that knows all others: New in daemon.go makes them in order,
// with what each needs of those before it; Run and Close in run.go end them. What
// follows is the path of one prompt.
//
// The command line (daemon/cmd/bothy) sends `act` over the Unix socket.
// internal/server checks who is there and hands the prompt to internal/engine,
// which queues it as a loop in internal/store and answers with the journal's
// position. The engine's worker for that run then takes turns. Each turn reads
// top to bottom: internal/view assembles the run's entries into messages and
// makes them fit, internal/model takes secrets out and asks the provider's plugin
// through internal/host, internal/dialect reads the calls out of the answer, the
// engine records each as an action before anything happens, internal/policy
// decides, internal/host dispatches to the tool's plugin (plugins/bash runs it in
// a container through sandbox), and the guards give the verdict. Every step
// commits to the store with its journal rows; the commit wakes the server, which
// reads the journal after the client's position and sends, and internal/audit,
// which writes the run's log. Nothing calls back up: what no journal holds, such
// as text that is still being written, goes to the clients, which are made before
// the engine. A loop that an earlier daemon left is taken up by engine/takeup.go
// and goes the same way from where it stands.
//
// Follow it file by file: server/act.go, engine/socket.go, engine/submit.go,
// engine/turn.go, view/transcript.go, engine/complete.go, model/model.go,
// host/complete.go, dialect/tools.go, engine/record.go, policy/live.go,
// policy/decide.go, engine/dispatch.go, engine/invocation.go, host/invoke.go, engine/verdict.go,
// store/change.go, server/watch.go.
package daemon
