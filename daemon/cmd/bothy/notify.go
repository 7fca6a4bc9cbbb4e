package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// notifyTime is how long a shell's prompt may wait for the daemon.
const notifyTime = 500 * time.Millisecond

// mostWaits is how many proposals are asked for: what a person may ever see of them.
const mostWaits = 1000

type notifyCmd struct {
	Count bool `help:"Print how many there are, 0 included."`
}

// Help adds to the verb's help.
func (notifyCmd) Help() string {
	return `One line for each thing that waits for an answer, of every project: the project's folder and the run, the tool, and for how long. Where nothing waits it prints nothing. It starts no daemon, and waits half a second for one at most: without an answer it prints nothing, too. The exit code is 0.

Examples:

    PS1='$(bothy notify)\n$ '
    bothy notify --count
    bothy notify --json | jq -r '.[].id'
    bothy proposals
`
}

// wait is something that waits for a person.
type wait struct {
	ID      string    `json:"id"` // of the proposal
	Project string    `json:"project"`
	Run     string    `json:"run"`
	Tool    string    `json:"tool"`
	Command string    `json:"command,omitempty"`
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires,omitzero"`
}

// line is what a person is told: where, what, and for how long.
func (w wait) line(now time.Time) string {
	return fmt.Sprintf("%s/%s: %s, %s", filepath.Base(w.Project), w.Run, w.Tool, age(now.Sub(w.Since)))
}

// Run prints what waits.
func (cmd notifyCmd) Run(ctx context.Context, c *console) error {
	all, err := c.waits(ctx)
	switch {
	case err != nil:
		return err
	case cmd.Count:
		_, err = fmt.Fprintln(c.out, len(all))
		return err
	case c.json:
		return c.printJSON(all)
	}
	now := time.Now()
	return c.lines(each(all, func(w wait) string { return w.line(now) })...)
}

// waits asks the daemon that runs. Without one, and without an answer in time, nothing
// waits that could be answered.
func (c *console) waits(ctx context.Context) ([]wait, error) {
	within, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	socket, err := rpc.FindSocket(c.env)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	cl := &client.Client{Socket: socket, Name: "bothy notify", Role: rpc.RoleObserve}
	defer c.close(cl)
	all, err := waitsOf(within, cl)
	var down *client.NotRunningError
	if errors.As(err, &down) || start.Ending(err) || within.Err() != nil {
		return []wait{}, ctx.Err()
	}
	return all, err
}

// waitsOf lists what waits, oldest first.
func waitsOf(ctx context.Context, cl *client.Client) ([]wait, error) {
	list, err := cl.Proposals(ctx, rpc.ProposalsParams{Limit: mostWaits})
	if err != nil {
		return nil, err
	}
	return each(list, func(p sdk.Proposal) wait {
		return wait{ID: p.ID, Project: p.Project, Run: p.Alias, Tool: p.Tool, Command: p.Command, Since: p.Created, Expires: p.Expires}
	}), nil
}

// age writes how long ago something was, in a few letters.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}
