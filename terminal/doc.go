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
//	conversation.go  the state
//	update.go        what a message does to it
//	greeting.go      what is said first
//	feed.go          the journal of the run, as messages
//	news.go          what a row of it tells
//	past.go          what was told before the run was entered
//	queue.go         prompts that wait
//	keys.go          what a key does
//	commands.go      what begins with a slash
//	input.go         the input: editing, pasted texts, undoing
//	inputview.go     how it looks
//	field.go         a text under editing; vi.go edits it with the keys of vi
//	word.go          what stands at the cursor and can be completed
//	menu.go          what completes it, offered; item.go says what there is
//	files.go         files behind an @
//	rank.go          which of several fits best what is typed
//	sending.go       what goes to the daemon, in order
//	person.go        commands that the person runs
//	editor.go        the person's editor
//	search.go        what was typed before, searched
//	draft.go         what was begun to be typed
//	settings.go      what the person set
//	help.go          all keys
//	history.go       what was typed before, per project
//	blocks.go        how finished things look
//	above.go         what is printed above, in order
//	output.go        the terminal, written to in whole pieces
//	rewrap.go        terminals that break lines anew when they become narrower
//	live.go          how what still changes looks
//	writing.go       the text that is being written
//	thought.go       what the model reasons before it
//	calls.go         calls at work
//	plan.go          the steps of a plan that is worked on
//	status.go        the line that says what is done
//	question.go      what is asked; answer.go, its answers; rules.go, those that count from now on
//	guard.go         which keys answer
//	sure.go          what the terminal asks itself, before a command is done
//	screen.go        what stands over the conversation: picker.go, a list; pager.go, a text
//	runs.go          from run to run; beside.go tells of the other runs
//	whole.go         everything of a run
//	changes.go       what a run changed in files; undo.go takes it back
//	choose.go        models, agents, modes, skills and tools
//	usage.go         where one is, what it cost, the configuration
//	trust.go         what came with the project
//	copy.go          the clipboard, and the conversation as a file
//	markdown.go      texts of the model
//	style.go         colours
package main
