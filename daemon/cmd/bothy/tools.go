package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

type toolsCmd struct {
	List toolsListCmd `cmd:"" default:"1" help:"List the tools that are there."`
	Info toolsInfoCmd `cmd:"" help:"Show what a tool does, and each of its arguments."`
	Call toolsCallCmd `cmd:"" help:"Call one tool and print its result."`
}

type toolsListCmd struct{}

// Run prints one line a tool; --json has the schemas.
func (toolsListCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]sdk.Tool, error) { return cl.Tools(ctx) }, func(list []sdk.Tool) error {
		return tableOf(c, list, "", []string{"TOOL", "PLUGIN", "EFFECTS", "WHAT IT DOES"}, func(t sdk.Tool) []string {
			first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
			return []string{t.Name, t.Plugin, effects(t.Annotations), show.Shorten(first, 90)}
		})
	})
}

func effects(a sdk.Annotations) string {
	var words []string
	for _, x := range []struct {
		is   bool
		word string
	}{{a.ReadOnly, "reads"}, {a.Destructive, "destroys"}, {a.Idempotent, "idempotent"}, {a.OpenWorld, "network"}, {a.Terminal, "ends the loop"}, {a.Live, "changes by itself"}} {
		if x.is {
			words = append(words, x.word)
		}
	}
	return strings.Join(words, ", ")
}

type toolsCallCmd struct {
	Tool      string `arg:"" complete:"tool" help:"The tool's name, or PLUGIN__TOOL."`
	Arguments string `arg:"" optional:"" placeholder:"JSON" help:"Its arguments, a JSON object; - reads them from standard input."`
	Alias     string `name:"run" short:"r" placeholder:"ALIAS" complete:"run" help:"Call it in this run, with its sandbox; the project's own implicit run when absent."`
	lastFlag
	Model   string `short:"m" complete:"model" help:"The model that the tool asks, where it asks one: an alias, or PROVIDER/NAME; that of the run when absent."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (toolsCallCmd) Help() string {
	return `The call is judged and recorded like a model's. Ctrl-C cancels it.

Examples:

    bothy tools call bash '{"command":"id -u"}'
    echo '{"path":"README.md","start_line":1,"end_line":20}' | bothy tools call read_file - --json

With --json the answer is one object: success, output, error, truncated, metadata, and structured where the tool has it. The exit code is 1 when success is false.
`
}

// callResult is what --json prints.
type callResult struct {
	Success    bool            `json:"success"`
	Output     string          `json:"output"`
	Error      string          `json:"error"`
	Truncated  bool            `json:"truncated"`
	Metadata   map[string]any  `json:"metadata"`
	Structured json.RawMessage `json:"structured,omitempty"`
}

// Run calls the tool and exits with 1 when it says that it failed.
func (cmd toolsCallCmd) Run(ctx context.Context, c *console) error {
	call, err := cmd.call(c)
	if err != nil {
		return err
	}
	if call.Run, err = cmd.name(ctx, c, cmd.Alias, cmd.Project); err != nil {
		return err
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	return c.printCall(ctx, cl, call)
}

// printCall calls a tool and prints its result; one that says that it failed is exit code 1.
func (c *console) printCall(ctx context.Context, cl *client.Client, call rpc.ToolCall) error {
	done, err := c.callTool(ctx, cl, call)
	var refused *rpc.Error
	if errors.As(err, &refused) {
		// The call was refused before the tool had it: a failed result all the same.
		done.Result = sdk.ToolResult{Error: refused.Message, Metadata: map[string]any{"outcome": sdk.OutcomeOf(refused)}}
	} else if err != nil {
		return err
	}
	r := done.Result
	if c.json {
		if r.Metadata == nil {
			r.Metadata = map[string]any{}
		}
		err = c.printJSON(callResult{r.Success, r.Output, r.Error, r.Truncated, r.Metadata, r.Structured})
	} else {
		err = c.printResult(call.Tool, r)
	}
	if err == nil && !r.Success {
		err = exitError{code: exitFailed}
	}
	return err
}

func (cmd toolsCallCmd) call(c *console) (rpc.ToolCall, error) {
	project, err := c.project(cmd.Project)
	if err != nil {
		return rpc.ToolCall{}, err
	}
	arguments := cmd.Arguments
	if arguments == "-" {
		if arguments, err = c.readInput(); err != nil {
			return rpc.ToolCall{}, err
		}
	}
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(arguments), &object); err != nil || object == nil {
		return rpc.ToolCall{}, usageError{fmt.Sprintf("the arguments of %s must be a JSON object, such as '{\"name\":\"value\"}': %v", cmd.Tool, reason(err))}
	}
	return rpc.ToolCall{Project: project, Tool: cmd.Tool, Arguments: json.RawMessage(arguments), Model: cmd.Model}, nil
}

func reason(err error) string {
	if err == nil {
		return "this is null"
	}
	return err.Error()
}

func (c *console) printResult(tool string, r sdk.ToolResult) error {
	if r.Success || strings.TrimSpace(r.Output) != strings.TrimSpace(r.Error) { // else there is nothing but the error
		if err := c.text(r.Output); err != nil {
			return err
		}
		if strings.Contains(r.Output, r.Error) {
			r.Error = ""
		}
	}
	if r.Truncated {
		c.say("bothy: this is not the whole output, which was cut")
	}
	if !r.Success && r.Error != "" {
		c.say("bothy: %s: %s", show.Line(tool), show.Text(r.Error))
	}
	return nil
}

// callTool waits for the call. Ctrl-C closes the connection, which cancels it.
func (c *console) callTool(ctx context.Context, cl *client.Client, call rpc.ToolCall) (rpc.ToolDone, error) {
	interrupts, restore := c.interrupts()
	defer restore()
	type answer struct {
		done rpc.ToolDone
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		done, err := start.Again(ctx, c.daemon(), cl, func() (rpc.ToolDone, error) { return cl.CallTool(ctx, call) })
		answers <- answer{done, err}
	}()
	begin, tick := time.Now(), time.NewTicker(time.Second)
	defer tick.Stop()
	shown := false
	defer func() {
		if shown {
			fmt.Fprint(c.err, "\r\x1b[K")
		}
	}()
	for {
		select {
		case a := <-answers:
			return a.done, a.err
		case <-interrupts:
			c.close(cl)
			a := <-answers
			if a.err == nil {
				return a.done, nil // it ended just then
			}
			return rpc.ToolDone{}, exitError{exitAborted, errors.New("cancelled")}
		case <-tick.C:
			if shown = c.errTTY && !c.json; shown {
				fmt.Fprintf(c.err, "\r%s %s", show.Line(call.Tool), show.Going(time.Since(begin)))
			}
		}
	}
}
