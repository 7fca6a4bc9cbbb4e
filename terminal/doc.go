// Command bothy-terminal is the interactive front end of Bothy: a conversation with an
// agent in a terminal. bothy executes it when it is called in a terminal without a verb,
// or with chat. It speaks sdk/client alone: it reads no store, no plugin and no
// configuration.
//
// It draws inline, so that the terminal's own scrollback keeps the history. What is
// finished (a prompt, a text of the model, a call with its result) is a block: it is
// rendered once and printed above. Below stands what still changes, which is drawn anew:
// the text that the model writes, the calls that work, what it does and since when, a
// question, what waits, and the input.
//
//	main.go          flags, the program's life
//	conversation.go  the state, and what a message does to it
//	feed.go          the journal of the run, as messages
//	keys.go          what a key does
//	commands.go      what begins with a slash
//	input.go         the input: editing, pasted texts, drafts
//	history.go       what was typed before, per project
//	blocks.go        how finished things look
//	live.go          how what still changes looks
//	question.go      what is asked, and the answers
//	markdown.go      texts of the model
//	visible.go       texts of others, harmless
//	style.go         colours
package main
