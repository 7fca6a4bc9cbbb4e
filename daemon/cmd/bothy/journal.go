package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type journalCmd struct {
	Follow  bool   `short:"f" help:"Go on with what comes, until Ctrl-C."`
	After   int64  `placeholder:"SEQ" default:"-1" help:"Only rows behind this one. With --follow, what is new when absent."`
	RunName string `name:"run" short:"r" placeholder:"RUN" help:"The rows of one run: its alias or id."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	Global  bool   `short:"g" help:"The rows of all projects."`
}

// Help adds to the verb's help.
func (journalCmd) Help() string {
	return `The journal has one row for each thing that was committed, numbered by seq. Nothing is ever changed in it. With --json each row is one object on a line of its own, as programs follow it; seq is what to go on behind with --after. A connection that breaks is made again, and no row is missed.

Examples:

    bothy journal --run fix-42
    bothy journal --follow
    bothy journal --follow --after 1200 --json | jq -r .kind
`
}

// followTime is how long a follower waits for a daemon that is gone.
const followTime = time.Minute

// Run prints rows until there are no more, or until Ctrl-C.
func (cmd journalCmd) Run(ctx context.Context, c *console) error {
	if cmd.After < -1 {
		return usageError{"--after is the seq of a row, and not negative"}
	}
	if cmd.Global && (cmd.RunName != "" || cmd.Last || cmd.Project != "") {
		return usageError{"--global is every project's rows: leave out --run, --last and --project"}
	}
	var err error
	if cmd.RunName, err = cmd.name(ctx, c, cmd.RunName, cmd.Project); err != nil {
		return err
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	w := client.Watch{After: cmd.After, Retry: followTime}
	if w.Run, w.Project, err = cmd.scope(ctx, c, cl); err != nil {
		return err
	}
	p := &journalPrinter{c: c, cl: cl, aliases: map[int64]string{}, width: c.width()}
	if cmd.Follow {
		return cmd.follow(ctx, c, cl, w, p)
	}
	return cmd.read(ctx, c, cl, w, p)
}

// scope is what the rows are of: a run by its id, a project, or all.
func (cmd journalCmd) scope(ctx context.Context, c *console, cl *client.Client) (run int64, project string, err error) {
	switch {
	case cmd.Global:
		return 0, "", nil
	case cmd.RunName == "":
		project, err = c.project(cmd.Project)
		return 0, project, err
	}
	ref, err := namedRun{Alias: cmd.RunName, Project: cmd.Project}.ref(c)
	if err != nil {
		return 0, "", err
	}
	d, err := cl.Run(ctx, ref)
	return d.ID, "", err
}

// read prints what is there.
func (cmd journalCmd) read(ctx context.Context, c *console, cl *client.Client, w client.Watch, p *journalPrinter) error {
	params := rpc.JournalParams{Project: w.Project, After: max(w.After, 0), Limit: 1000}
	if w.Run != 0 {
		params.Run = strconv.FormatInt(w.Run, 10)
	}
	for printed := 0; ; {
		page, err := cl.Journal(ctx, params)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			if err := p.print(ctx, row); err != nil {
				return err
			}
		}
		printed += len(page.Rows)
		if params.After = page.Next; page.Next == 0 {
			if printed == 0 && w.After <= 0 {
				c.say("there is nothing in the journal yet: `bothy run \"...\"` begins it, and --follow waits for that")
			}
			return nil
		}
	}
}

// follow prints what comes. Ctrl-C is its good end.
func (cmd journalCmd) follow(ctx context.Context, c *console, cl *client.Client, w client.Watch, p *journalPrinter) error {
	following, release := c.untilPressed(ctx)
	defer release()
	waits := false
	w.Lost = func(context.Context, error) error {
		if !waits {
			c.say("bothy: bothyd is gone; waiting %s for the next one", show.Brief(followTime))
		}
		waits = true
		return nil
	}
	err := cl.Follow(following, w, func(e client.Event) error {
		if e.Row == nil {
			return nil
		}
		waits = false
		return p.print(following, *e.Row)
	})
	if following.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// journalPrinter prints rows, with the names of the runs they are of.
type journalPrinter struct {
	c       *console
	cl      *client.Client
	aliases map[int64]string
	width   int
}

func (p *journalPrinter) print(ctx context.Context, row sdk.JournalRow) error {
	if p.c.json {
		return writeJSON(p.c.out, row, "")
	}
	line := show.Line(fmt.Sprintf("%6d  %s  %-12s  %-13s  %s", row.Seq, row.Time.Local().Format("2006-01-02 15:04:05"), p.alias(ctx, row), row.Kind, show.Row(row)))
	if p.width > 0 {
		line = show.Shorten(line, p.width)
	}
	_, err := fmt.Fprintln(p.c.out, line)
	return err
}

// alias is the name of a row's run. Rows tell it when the run is made or
// renamed; the daemon is asked for one that began before. A run that was
// deleted is named by its id.
func (p *journalPrinter) alias(ctx context.Context, row sdk.JournalRow) string {
	if row.Run == 0 {
		return "-"
	}
	var told struct {
		Alias string `json:"alias"` // run.created
		To    string `json:"to"`    // run.renamed
	}
	switch row.Kind {
	case sdk.KindRunCreated, sdk.KindRunRenamed:
		if json.Unmarshal(row.Data, &told) == nil && told.Alias+told.To != "" {
			p.aliases[row.Run] = told.Alias + told.To
		}
	}
	if _, known := p.aliases[row.Run]; !known {
		id := strconv.FormatInt(row.Run, 10)
		d, err := p.cl.Run(ctx, rpc.RunRef{Run: id})
		if err != nil {
			d.Run = "#" + id
		}
		p.aliases[row.Run] = d.Run
	}
	return p.aliases[row.Run]
}
