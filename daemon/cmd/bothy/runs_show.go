package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsShowCmd struct {
	runArg
	Turn   int  `placeholder:"N" help:"One turn in full: all that was said, called and answered."`
	Packet bool `help:"With --turn: what the model was sent, as it was then."`
}

// Help adds to the verb's help.
func (runsShowCmd) Help() string {
	return `Tells a run prompt by prompt and turn by turn: what the model said, what it called with which result, what was tried again or left out, tokens, cost and time, and why it stopped. Long results are shortened; --turn has them whole, and --json has everything.

--turn N --packet renders what the model was sent in that turn, from the journal, and says on standard error whether it is that to the byte. A text that was taken away or overwritten since is named by its SHA-256.

Examples:

    bothy runs show
    bothy runs show fix-42 --turn 3
    bothy runs show fix-42 --turn 3 --packet
    bothy runs show fix-42 --json | jq '.loops[-1].reason'
`
}

// Run prints the run as a report; --json has everything that the daemon knows.
func (cmd runsShowCmd) Run(ctx context.Context, c *console) error {
	if cmd.Turn < 0 {
		return usageError{"--turn begins with 1"}
	}
	if cmd.Packet {
		return cmd.packet(ctx, c)
	}
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, ref rpc.RunRef) (rpc.RunDetail, error) {
		detail, err := cl.Run(ctx, ref)
		if err == nil && cmd.Turn > 0 {
			err = oneTurn(&detail, cmd.Turn)
		}
		if err == nil {
			err = c.completeRun(ctx, cl, &detail, cmd.Turn > 0)
		}
		return detail, err
	}, func(detail rpc.RunDetail) error {
		report := &runReport{d: detail, width: c.width(), told: map[string]bool{}, noted: map[int64]bool{}}
		if cmd.Turn > 0 {
			return c.text(report.turnInFull())
		}
		return c.text(report.all())
	})
}

// oneTurn leaves of a run what belongs to one of its turns.
func oneTurn(d *rpc.RunDetail, turn int) error {
	i := slices.IndexFunc(d.Turns, func(t rpc.Turn) bool { return t.Sequence == turn })
	switch {
	case i < 0 && turn <= d.Inherited && d.Parent != nil:
		return usageError{fmt.Sprintf("run %s has turn %d from run %s: `bothy runs show %d --turn %d`", d.Run, turn, parentName(*d.Parent), d.Parent.ID, turn)}
	case i < 0:
		return usageError{fmt.Sprintf("run %s has no turn %d: it has %s", d.Run, turn, show.Plural(d.Turn, "turn"))}
	}
	loop := d.Turns[i].Loop
	d.Turns = d.Turns[i : i+1]
	d.Loops = slices.DeleteFunc(d.Loops, func(l sdk.Loop) bool { return l.ID != loop })
	d.History = slices.DeleteFunc(d.History, func(e rpc.Event) bool { return e.Turn != turn || e.Tool == "prompt" })
	d.Notes = slices.DeleteFunc(d.Notes, func(n rpc.Note) bool { return n.Turn != turn })
	return nil
}

// completeRun gets the texts that getRun has cut: for people what the model
// said, for programs and for one turn everything.
func (c *console) completeRun(ctx context.Context, cl *client.Client, d *rpc.RunDetail, whole bool) error {
	for i := range d.History {
		event := &d.History[i]
		if event.Cut == 0 || !c.json && !whole && event.Tool != "assistant" {
			continue
		}
		e, err := cl.Entry(ctx, d.ID, event.Path)
		if err != nil {
			return err
		}
		if len(e.Body) > len(event.Body) {
			event.Body, event.Cut = e.Body, 0
		}
	}
	return nil
}

func parentName(n rpc.RunName) string {
	if n.Run == "" {
		return fmt.Sprintf("%d (deleted)", n.ID)
	}
	return n.Run
}
