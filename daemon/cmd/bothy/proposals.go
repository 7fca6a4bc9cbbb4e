package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type proposalsCmd struct {
	List   proposalsListCmd   `cmd:"" default:"withargs" help:"List what waits for an answer, oldest first."`
	Show   proposalsShowCmd   `cmd:"" help:"Show one whole: what exactly would run, and what an answer is bound to."`
	Accept proposalsAcceptCmd `cmd:"" help:"Let it run."`
	Reject proposalsRejectCmd `cmd:"" help:"Do not let it run; the rest of its turn is given up."`
	Answer proposalsAnswerCmd `cmd:"" help:"Answer a question that a plugin asks."`
	Edit   proposalsEditCmd   `cmd:"" help:"Change what would run. It is judged again, and asked about again unless it needs no asking."`
}

// proposalArg names one proposal.
type proposalArg struct {
	ID string `arg:"" complete:"proposal" help:"The proposal's id, as 'bothy proposals' lists it."`
}

type proposalsListCmd struct {
	All     bool   `short:"a" help:"Those that were answered or expired too, newest first."`
	Limit   int    `short:"n" default:"100" help:"At most so many."`
	RunName string `name:"run" short:"r" placeholder:"RUN" complete:"run" help:"Those of one run: its alias or id."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"Those of one project; of all when absent."`
}

// Help adds to the verb's help.
func (proposalsListCmd) Help() string {
	return `An action that waits for a person is a proposal. It can be answered here or wherever its run is followed; it waits through restarts, and until it expires. Whoever answers first wins.

Examples:

    bothy proposals
    bothy proposals show 1a2b3c4d
    bothy proposals accept 1a2b3c4d
    bothy proposals --all --json | jq -r '.[].decision.rule'
`
}

// Run prints one line a proposal.
func (cmd proposalsListCmd) Run(ctx context.Context, c *console) error {
	if cmd.Limit < 1 {
		return usageError{"--limit must be at least 1"}
	}
	p := rpc.ProposalsParams{Ended: cmd.All, Limit: cmd.Limit}
	var err error
	if cmd.RunName, err = cmd.name(ctx, c, cmd.RunName, cmd.Project); err != nil {
		return err
	}
	if p.Run, p.Project, err = c.filter(cmd.RunName, cmd.Project); err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) ([]sdk.Proposal, error) { return cl.Proposals(ctx, p) }, func(list []sdk.Proposal) error {
		header := []string{"PROPOSAL", "RUN", "STATE", "SINCE", "TOOL", "WHAT WOULD RUN"}
		return tableOf(c, list, "nothing waits for an answer", header, func(x sdk.Proposal) []string {
			return []string{x.ID, x.Alias, proposalState(x), show.When(x.Created), x.Tool, cmp.Or(x.Command, asksWhat(x), show.Readable(x.Arguments))}
		})
	})
}

// proposalState says what became of a proposal, or until when it waits.
func proposalState(p sdk.Proposal) string {
	if state := show.QuestionState(p); p.Question != nil && state != "" {
		return state
	}
	switch p.State {
	case sdk.StateProposed:
		if p.Expires.IsZero() {
			return "waits"
		}
		return "waits until " + p.Expires.Local().Format("01-02 15:04")
	case sdk.StateResolved:
		return "ran"
	case sdk.StateStreaming:
		return "accepted"
	case sdk.StateCancelled:
		return "given up"
	}
	if p.Outcome == sdk.Permission {
		return "rejected"
	}
	return strings.TrimSuffix("failed: "+string(p.Outcome), ": ")
}

type proposalsShowCmd struct{ proposalArg }

// Run prints the proposal with everything that an answer is bound to.
func (cmd proposalsShowCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (sdk.Proposal, error) { return cl.Proposal(ctx, cmd.ID) }, c.printProposal)
}

// printProposal is a proposal on standard output, whole. It is made visible for
// files too: what stands there is compared with a question.
func (c *console) printProposal(p sdk.Proposal) error {
	lines := show.Details(p, columns(c.out, c.outTTY), true)
	if p.State != sdk.StateProposed {
		lines = append(lines, show.Spans{{Style: show.Plain, Text: "  it does not wait any more: " + show.Line(proposalState(p))}})
	}
	return c.printLines(lines)
}

// since is the time that a flag names: a time of day, a date, or how long ago.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError{"--since " + text + " is no time: say how long ago, as 2h30m, or when, as 2026-01-31 or 2026-01-31T08:00:00Z"}
}
