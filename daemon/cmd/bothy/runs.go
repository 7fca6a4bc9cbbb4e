package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsCmd struct {
	List runsListCmd `cmd:"" default:"withargs" help:"List the project's runs, newest first."`
	Show runsShowCmd `cmd:"" help:"Show a run: its prompts, turns, actions, tokens, and why it stopped."`
}

type runsListCmd struct {
	All     bool   `short:"a" help:"Also the implicit runs behind 'tools call'."`
	Global  bool   `short:"g" help:"The runs of all projects."`
	Limit   int    `short:"n" default:"100" help:"At most so many."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Run prints one line a run.
func (cmd runsListCmd) Run(ctx context.Context, c *console) error {
	p := rpc.RunsParams{Hidden: cmd.All, Limit: cmd.Limit}
	if cmd.Limit < 1 {
		return usageError{"--limit must be at least 1"}
	}
	if !cmd.Global {
		project, err := c.project(cmd.Project)
		if err != nil {
			return err
		}
		p.Project = project
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	list, err := cl.Runs(ctx, p)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(list)
	}
	header := []string{"RUN", "STATUS", "TURNS", "UPDATED", "MODEL", "LAST PROMPT"}
	if cmd.Global {
		header = append(header, "PROJECT")
	}
	var rows [][]string
	for _, r := range list {
		row := []string{r.Alias, runStatus(r.Status, r.Summary != ""), strconv.Itoa(r.Turns), when(r.Updated), r.Model, shorten(r.Summary, 50)}
		if cmd.Global {
			row = append(row, r.ProjectRoot)
		}
		rows = append(rows, row)
	}
	return c.table(header, rows)
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// runStatus says a run's status. A run that never had a prompt is not queued,
// though it has that status until its first one: tools are called in it, or it
// was made for later.
func runStatus(status int, prompted bool) string {
	if status == sdk.StatusQueued && !prompted {
		return "no prompts"
	}
	return statusWord(status)
}

// statusWord says a status number in words.
func statusWord(status int) string {
	switch status {
	case 0:
		return "new"
	case sdk.StatusQueued:
		return "queued"
	case sdk.StatusRunning:
		return "running"
	case sdk.StatusOK, sdk.StatusNoContent:
		return "finished"
	case sdk.StatusProposed:
		return "waits for an answer"
	case sdk.StatusAborted:
		return "aborted"
	default:
		return "failed"
	}
}

type runsShowCmd struct {
	Alias   string `arg:"" optional:"" name:"run" complete:"run" help:"The run's alias or id; the newest when absent."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Run prints the run as a story; --json has everything that the daemon knows.
func (cmd runsShowCmd) Run(ctx context.Context, c *console) error {
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	if cmd.Alias == "" {
		list, err := cl.Runs(ctx, rpc.RunsParams{Project: project, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return usageError{fmt.Sprintf("%s has no runs yet: `bothy run \"...\"` makes one", project)}
		}
		cmd.Alias = list[0].Alias
	}
	detail, err := cl.Run(ctx, rpc.RunRef{Run: cmd.Alias, Project: project})
	if err != nil {
		return err
	}
	if err := c.completeRun(ctx, cl, &detail); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(detail)
	}
	return c.text(showRun(detail))
}

// completeRun gets the texts that getRun has cut: for people what the model
// said, for programs everything.
func (c *console) completeRun(ctx context.Context, cl *client.Client, d *rpc.RunDetail) error {
	for i := range d.History {
		event := &d.History[i]
		if event.Cut == 0 || !c.json && event.Tool != "assistant" {
			continue
		}
		e, err := c.entry(ctx, cl, d.ID, event.Path)
		if err != nil {
			return err
		}
		if len(e.Body) > len(event.Body) {
			event.Body, event.Cut = e.Body, 0
		}
	}
	return nil
}

// showRun tells a run: loop by loop, in each turn by turn.
func showRun(d rpc.RunDetail) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s (%d) in %s\n", d.Run, d.ID, d.Project)
	if len(d.Loops) > 0 {
		fmt.Fprintf(&b, "agent %s, model %s, %s after %s\n", d.Agent, d.Model, statusWord(d.Status), plural(d.Turn, "turn"))
	} else {
		fmt.Fprintf(&b, "no prompts; %s of tool calls\n", plural(d.Turn, "turn"))
	}
	if t := d.Telemetry; t != nil {
		fmt.Fprintf(&b, "tokens: %s\n", tokens(sdk.Usage{Prompt: t.PromptTokens, Cached: t.CachedTokens, Completion: t.CompletionTokens, Reasoning: t.ReasoningTokens, Total: t.TotalTokens}))
	}
	told := map[string]bool{}
	for _, l := range d.Loops {
		fmt.Fprintf(&b, "\n%s %d: %s\n", l.Mode, l.Sequence, indent(l.Prompt, "    "))
		for _, t := range d.Turns {
			if t.Loop == l.ID {
				showTurn(&b, t, d.History, told)
			}
		}
		fmt.Fprintf(&b, "  %s\n", showEnd(l, d.History))
	}
	for _, e := range d.History {
		if strings.HasPrefix(e.Path, "log://") && !told[e.Path] {
			showAction(&b, e) // of no turn: tools/call
		}
	}
	return b.String()
}

// showEnd says how a loop ended; a reason that stands above already, as the
// error of its last turn, is not repeated.
func showEnd(l sdk.Loop, history []rpc.Event) string {
	text := statusWord(l.Status)
	if l.Stop != "" {
		text += fmt.Sprintf(" (%s)", l.Stop)
	}
	told := slices.ContainsFunc(history, func(e rpc.Event) bool {
		return e.Tool == "error" && strings.TrimSpace(e.Body) == strings.TrimSpace(l.Reason)
	})
	if l.Reason != "" && !told {
		text += ": " + indent(l.Reason, "  ")
	}
	if !l.Ended.IsZero() {
		text += fmt.Sprintf(", after %s", l.Ended.Sub(l.Created).Round(time.Millisecond))
	}
	return text
}

func showTurn(b *strings.Builder, t sdk.Turn, history []rpc.Event, told map[string]bool) {
	fmt.Fprintf(b, "  turn %d, %s", t.Sequence, t.Model)
	if t.Closed {
		fmt.Fprintf(b, ", %s", t.Duration.Round(time.Millisecond))
	}
	if t.Usage != nil {
		fmt.Fprintf(b, ", %s", tokens(*t.Usage))
	}
	b.WriteString("\n")
	for _, e := range history {
		if e.Turn != t.Sequence || told[e.Path] {
			continue
		}
		switch e.Tool {
		case "prompt":
		case "assistant":
			if text := strings.TrimSpace(e.Body); text != "" {
				fmt.Fprintf(b, "    %s\n", indent(text, "    "))
			}
		default:
			showAction(b, e)
		}
		told[e.Path] = true
	}
}

func showAction(b *strings.Builder, e rpc.Event) {
	a := action{Tool: e.Tool, State: e.State, Outcome: e.Outcome, Body: e.Body}
	if raw, err := json.Marshal(e.Attributes); err == nil {
		a.merge(raw)
	}
	if a.isError() {
		fmt.Fprintf(b, "    ! %s\n", indent(strings.TrimSpace(e.Body), "      "))
		return
	}
	fmt.Fprintf(b, "    %s %s\n", a.Tool, shortArguments(a.Arguments))
	body := e.Body
	if body == a.Error {
		body = "" // the ending says it
	}
	lines, more := firstLines(body, resultLines)
	for _, l := range lines {
		fmt.Fprintf(b, "      | %s\n", l)
	}
	switch {
	case e.Cut > 0:
		fmt.Fprintf(b, "      | … and more, %d bytes in all\n", len(e.Body)+e.Cut)
	case more > 0:
		fmt.Fprintf(b, "      | … %d more lines\n", more)
	}
	fmt.Fprintf(b, "      %s\n", a.ending())
}

// indent moves the lines after the first below it.
func indent(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

// tokens writes usage for a person.
func tokens(u sdk.Usage) string {
	text := fmt.Sprintf("%d tokens in", u.Prompt)
	if u.Cached > 0 {
		text += fmt.Sprintf(" (%d cached)", u.Cached)
	}
	return text + fmt.Sprintf(", %d out", u.Completion)
}
