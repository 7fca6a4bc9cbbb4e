package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// serverArg names one MCP server.
type serverArg struct {
	Server  string `arg:"" complete:"mcp" help:"The server, as 'bothy mcp' lists it."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project to be in; the default is the one around the current folder."`
}

// offers are what a server has, as its plugin tells.
type offers struct {
	Tools     []offeredBy `json:"tools"`
	Prompts   []offeredBy `json:"prompts"`
	Resources []offeredBy `json:"resources"`
	Templates []offeredBy `json:"templates"`
}

// offeredBy is one thing that a server has.
type offeredBy struct {
	Name        string `json:"name"` // that it is called by; of a resource its uri
	Own         string `json:"own,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mime_type,omitempty"`
	Bytes       int64  `json:"bytes,omitempty"`
}

// about asks a server for what it has. It is started if it does not run.
func (a serverArg) about(ctx context.Context, c *console, cl *client.Client) (offers, error) {
	var o offers
	call, err := a.call(c, sdk.MCPAbout(a.Server), json.RawMessage("{}"))
	if err != nil {
		return o, err
	}
	done, err := c.callTool(ctx, cl, call)
	switch {
	case err != nil:
		return o, err
	case !done.Result.Success:
		return o, &sdk.Error{Outcome: sdk.Unavailable, Message: done.Result.Error}
	}
	if err := json.Unmarshal(done.Result.Structured, &o); err != nil {
		return o, sdk.Errorf(sdk.Internal, "what the server has is too much to be listed")
	}
	return o, nil
}

func (a serverArg) call(c *console, tool string, arguments json.RawMessage) (rpc.ToolCall, error) {
	project, err := c.project(a.Project)
	return rpc.ToolCall{Project: project, Tool: tool, Arguments: arguments}, err
}

// list prints one part of what a server has.
func (a serverArg) list(ctx context.Context, c *console, none string, header []string, part func(offers) []offeredBy) error {
	return query(ctx, c, func(cl *client.Client) ([]offeredBy, error) {
		o, err := a.about(ctx, c, cl)
		return append([]offeredBy{}, part(o)...), err
	}, func(list []offeredBy) error {
		return tableOf(c, list, none, header, func(o offeredBy) []string {
			row := []string{o.Name, show.Shorten(show.OneLine(o.Description), 80)}
			if len(header) > 2 {
				row = slices.Insert(row, 1, o.MIMEType)
			}
			return row
		})
	})
}

type mcpToolsCmd struct{ serverArg }

// Run prints one line a tool.
func (cmd mcpToolsCmd) Run(ctx context.Context, c *console) error {
	return cmd.list(ctx, c, "the server has no tools", []string{"TOOL", "DESCRIPTION"}, func(o offers) []offeredBy { return o.Tools })
}

type mcpReadCmd struct {
	serverArg
	URI string `arg:"" optional:"" help:"The resource; without it they are listed."`
}

// Help adds to the verb's help.
func (mcpReadCmd) Help() string {
	return `A text is printed as it is. Of what is no text there is a line that says what it is; with --json its bytes stand in metadata.media, up to 1 MB. A server may have more resources than it lists, of the forms that the list ends with: {WORD} stands for what you put there.

Examples:

    bothy mcp read notes
    bothy mcp read notes note://today
`
}

// Run prints one resource, or one line a resource.
func (cmd mcpReadCmd) Run(ctx context.Context, c *console) error {
	if cmd.URI == "" {
		return cmd.list(ctx, c, "the server has no resources", []string{"RESOURCE", "TYPE", "DESCRIPTION"}, func(o offers) []offeredBy { return slices.Concat(o.Resources, o.Templates) })
	}
	arguments, err := json.Marshal(map[string]string{"uri": cmd.URI})
	if err != nil {
		return err
	}
	return cmd.print(ctx, c, func(*client.Client) (string, json.RawMessage, error) { return sdk.MCPAbout(cmd.Server), arguments, nil })
}

// print makes a call and prints its result.
func (a serverArg) print(ctx context.Context, c *console, which func(*client.Client) (string, json.RawMessage, error)) error {
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	tool, arguments, err := which(cl)
	if err != nil {
		return err
	}
	call, err := a.call(c, tool, arguments)
	if err != nil {
		return err
	}
	return c.printCall(ctx, cl, call)
}

type mcpPromptCmd struct {
	serverArg
	Prompt string   `arg:"" optional:"" help:"The prompt, by the server's own name or as it is typed; without it they are listed."`
	Words  []string `arg:"" optional:"" placeholder:"NAME=VALUE" help:"Its arguments: NAME=VALUE, or values in their order."`
}

// Help adds to the verb's help.
func (mcpPromptCmd) Help() string {
	return `In a conversation, and with 'bothy run', a prompt is typed as /mcp__SERVER__PROMPT with its arguments behind it: the model reads what it says.

Examples:

    bothy mcp prompt notes
    bothy mcp prompt notes summarize day=monday
    bothy run '/mcp__notes__summarize monday'
`
}

// Run prints what a prompt says, or one line a prompt.
func (cmd mcpPromptCmd) Run(ctx context.Context, c *console) error {
	if cmd.Prompt == "" {
		return cmd.list(ctx, c, "the server has no prompts", []string{"PROMPT", "DESCRIPTION"}, func(o offers) []offeredBy { return o.Prompts })
	}
	return cmd.print(ctx, c, func(cl *client.Client) (string, json.RawMessage, error) {
		o, err := cmd.about(ctx, c, cl) // which starts it
		if err != nil {
			return "", nil, err
		}
		i := slices.IndexFunc(o.Prompts, func(p offeredBy) bool {
			return p.Own == cmd.Prompt || p.Name == strings.TrimPrefix(cmd.Prompt, "/") || p.Name == sdk.MCPPrefix+cmd.Server+"__"+cmd.Prompt
		})
		if i < 0 {
			return "", nil, sdk.Errorf(sdk.NotFound, "the MCP server %s has no prompt %q: `bothy mcp prompt %s` lists them", cmd.Server, cmd.Prompt, cmd.Server)
		}
		tools, err := cl.PeopleTools(ctx)
		if err != nil {
			return "", nil, err
		}
		for _, t := range tools {
			if t.Name == o.Prompts[i].Name {
				arguments, err := t.OfWords(cmd.Words)
				return t.Name, arguments, err
			}
		}
		return "", nil, sdk.Errorf(sdk.NotFound, "the MCP server %s has no prompt %q any more", cmd.Server, cmd.Prompt)
	})
}
