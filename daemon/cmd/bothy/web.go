package main

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
)

type webCmd struct {
	Fetch webFetchCmd       `cmd:"" help:"Fetch a page without a model, and print its text."`
	Judge offline[webJudge] `cmd:"" help:"Say whether an address may be asked for, and what policy does with it. Nobody is asked."`
}

// webJudge adds what bothyd takes as a flag of all its verbs.
type webJudge struct {
	verbs.WebJudge
	Config string `placeholder:"FILE" complete:"file" help:"Configuration to read instead of the user's."`
}

// webFetchCmd has the arguments of the tool web_fetch as flags.
type webFetchCmd struct {
	URL   string `arg:"" name:"url" help:"The address, with https:// or http://."`
	Head  bool   `help:"Only ask what is there."`
	Line  int    `placeholder:"N" help:"The first line to print; 1 when absent."`
	Limit int    `placeholder:"N" help:"How many lines to print; 200 when absent."`
	Fresh bool   `help:"Ask again, though the run read the same address within 15 minutes."`
	Main  bool   `xor:"form" help:"Of HTML, the article alone."`
	Raw   bool   `xor:"form" help:"Of HTML, the source in place of Markdown."`

	Alias string `name:"run" short:"r" placeholder:"ALIAS" complete:"run" help:"Fetch it in this run, which keeps the page; the project's own implicit run when absent."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (webFetchCmd) Help() string {
	return `It is a call of the tool web_fetch, judged and recorded like one of a model's: what the web guard refuses, and hosts that are denied, nobody fetches. You are who is asked about all else, so that it is done, unless a key would leave with it. The plugin web has to be configured. Ctrl-C ends it.

Examples:

    bothy web fetch --main https://go.dev/blog/slog
    bothy web fetch --line 201 https://www.rfc-editor.org/rfc/rfc9110.txt
    bothy web fetch --json --head https://example.org/paper.pdf | jq .metadata

With --json the answer is one object, as that of 'bothy tools call'. The exit code is 1 when the page could not be had.
`
}

// Run calls the tool, and ends as 'tools call' does.
func (cmd webFetchCmd) Run(ctx context.Context, c *console) error {
	call := toolsCallCmd{Tool: "web_fetch", Alias: cmd.Alias, lastFlag: cmd.lastFlag, Project: cmd.Project}
	arguments, err := json.Marshal(cmd.arguments())
	if err != nil {
		return err
	}
	call.Arguments = string(arguments)
	return call.Run(ctx, c)
}

// arguments are those of the tool that were given; it knows the defaults of the others.
func (cmd webFetchCmd) arguments() map[string]any {
	given := map[string]any{"url": cmd.URL}
	if cmd.Head {
		given["method"] = "HEAD"
	}
	for name, n := range map[string]int{"line": cmd.Line, "limit": cmd.Limit} {
		if n != 0 {
			given[name] = n
		}
	}
	for name, is := range map[string]bool{"fresh": cmd.Fresh, "main": cmd.Main, "raw": cmd.Raw} {
		if is {
			given[name] = true
		}
	}
	return given
}
