// Command bothy-acp is the bridge between an editor and the daemon: `bothy acp` executes it,
// and an editor that speaks the Agent Client Protocol starts that. On standard input and
// output are frames of the protocol, one a line, and nothing else; the log goes to standard
// error. It speaks sdk/client alone: it reads no store, no plugin and no configuration.
//
// A session is a run of the daemon, and its id the run's key. What an editor is told comes
// from the run's journal, folded by sdk/timeline, so that a session that is loaded, one that
// is followed and one that another client works in are told alike.
//
//	main.go        flags, the program's life
//	frames.go      standard output
//	bridge.go      what the editor may ask for: the beginning, the sessions that there are
//	sessions.go    sessions that begin, come back, end
//	session.go     one session
//	lend.go        what the editor lends: servers of MCP, unsaved texts
//	prompt.go      a prompt: sent, waited for, cancelled
//	content.go     the blocks of a prompt as a text
//	stop.go        how a prompt ended; fault.go, what went wrong
//	feed.go        the run's journal, followed
//	teller.go      what a row of it tells the editor
//	writing.go     the text that a model writes, each piece once
//	calls.go       calls; kinds.go, what they are; places.go, where
//	terminal.go    what commands print, for editors that show terminals
//	hunks.go       differences
//	question.go    what a person is asked
//	modes.go       how much runs unasked; choices.go, models and agents
//	commands.go    skills, as commands of the editor
package main
