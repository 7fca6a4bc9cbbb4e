// Command bothy-mcp is Bothy as a server of the Model Context Protocol: `bothy mcp serve` executes
// it, and programs that speak MCP start that, or reach it by HTTP. It serves one project. On
// standard output are frames of the protocol and nothing else; the log goes to standard error. It
// speaks sdk/client alone: it reads no store, no plugin and no configuration.
//
// Its tools are the daemon's, called in the role submit, and run_agent, which gives a run a prompt.
// Only where it was started with --approve the person at the client is asked, and answers in the
// role approve.
//
//	main.go       flags, the program's life
//	http.go       HTTP: the address, the token, who is let in
//	bridge.go     the server, and what it answers by itself
//	tools.go      what is offered, and news of it
//	call.go       a call of a tool; tell.go, what is told while it works; result.go, what came of it
//	agent.go      run_agent; work.go, a prompt that is worked on
//	ask.go        what a person is asked in the client
//	prompts.go    skills
//	resources.go  runs as resources; history.go, as text; complete.go, their names
//	fault.go      what went wrong
package main
