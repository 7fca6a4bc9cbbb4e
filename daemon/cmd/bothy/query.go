package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// query asks the daemon one thing, starting it when there is none, and prints
// the answer: as JSON when that is asked for, else with show. What was printed can
// end in an error all the same.
func query[A any](ctx context.Context, c *console, ask func(*client.Client) (A, error), show func(A) error, ends ...func(A) error) error {
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	return queryWith(c, cl, ask, show, ends...)
}

// queryWith is query with a client that is connected.
func queryWith[A any](c *console, cl *client.Client, ask func(*client.Client) (A, error), show func(A) error, ends ...func(A) error) error {
	answer, err := ask(cl)
	if err != nil {
		return err
	}
	if c.json {
		err = c.printJSON(answer)
	} else {
		err = show(answer)
	}
	for _, end := range ends {
		if err == nil {
			err = end(answer)
		}
	}
	return err
}

// runOpener is how a verb takes the run that it is about.
type runOpener interface {
	open(ctx context.Context, c *console) (*client.Client, rpc.RunRef, error)
}

// queryRun is query about a run.
func queryRun[A any](ctx context.Context, c *console, run runOpener, ask func(*client.Client, context.Context, rpc.RunRef) (A, error), show func(A) error) error {
	cl, ref, err := run.open(ctx, c)
	if err != nil {
		return err
	}
	defer c.close(cl)
	return queryWith(c, cl, func(*client.Client) (A, error) { return ask(cl, ctx, ref) }, show)
}

// told shows an answer as a text.
func told[A any](c *console, text func(A) string) func(A) error {
	return func(a A) error { return c.text(text(a)) }
}

// querySkills is query about the skills of a project.
func querySkills[A any](ctx context.Context, c *console, named string, ask func(cl *client.Client, project string) (A, error), show func(A) error, ends ...func(A) error) error {
	project, err := c.skillsOf(named)
	if err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) (A, error) { return ask(cl, project) }, show, ends...)
}

// queryRunning is query for a verb that starts no daemon; otherwise says what
// there is to know when none runs.
func queryRunning[A any](ctx context.Context, c *console, otherwise string, ask func(*client.Client) (A, error), show func(A) error, ends ...func(A) error) error {
	cl, err := c.daemon().Attach(ctx)
	var down *client.NotRunningError
	if errors.As(err, &down) {
		return fmt.Errorf("bothyd is not running: %s (no answer at %s)", otherwise, down.Socket)
	}
	if err != nil {
		return err
	}
	defer c.close(cl)
	return queryWith(c, cl, ask, show, ends...)
}

// exitUnless is the exit with a code when an answer is not as it should be.
func exitUnless[A any](code int, good func(A) bool) func(A) error {
	return func(a A) error {
		if good(a) {
			return nil
		}
		return exitError{code: code}
	}
}
