package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type channelsPairCmd struct {
	Channel string `arg:"" complete:"plugin" help:"The label of the channel's plugin block."`
	Name    string `help:"What they are called here; absent it is what the service calls them."`
	Agent   string `complete:"agent" help:"The agent of runs that they begin and for which they name none."`
	Local   bool   `help:"It is you: what they begin alone with the channel is as if begun at this machine."`
}

// Help adds to the verb's help.
func (channelsPairCmd) Help() string {
	return `Shows a code. Whoever is to give prompts by the channel sends it there, alone with the channel, within ten minutes; five wrong codes end it. Then you are shown who sent it, and asked. With a yes their person block is written into your configuration, and is in force when the command ends.

The name beside the number is one that people mostly choose themselves: say yes to somebody of whom you know that they sent the code just now.

Example:

    bothy channels pair telegram
    bothy channels pair telegram --local
`
}

// Run shows a code, waits for who sends it, and asks.
func (cmd channelsPairCmd) Run(ctx context.Context, c *console) error {
	if !c.inTTY {
		return exitError{exitUnanswered, errors.New("there is no terminal to ask on: run `bothy channels pair` in one, or write the person block yourself (docs/channels.md)")}
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	by, err := cmd.wait(ctx, c, cl)
	if err != nil {
		return err
	}
	label := show.Line(by.Channel + "/" + by.Person)
	if by.Name != "" {
		c.say("%s sent the code, who is called %q there.", label, show.Line(by.Name))
	} else {
		c.say("%s sent the code.", label)
	}
	if yes, err := c.yes(fmt.Sprintf("Take prompts of %s from now on? [y/N] ", label)); err != nil || !yes {
		if err == nil {
			err = exitError{exitUnanswered, fmt.Errorf("nobody was listed: prompts of %s are refused as before", label)}
		}
		return err
	}
	return queryWith(c, cl, func(cl *client.Client) (rpc.PersonAdded, error) {
		add := rpc.PersonAdd{Channel: by.Channel, Person: by.Person, Name: by.Name, Agent: cmd.Agent}
		if cmd.Name != "" {
			add.Name = cmd.Name
		}
		if cmd.Local {
			add.Owner = sdk.LocalOwner
		}
		return cl.AddPerson(ctx, add)
	}, func(done rpc.PersonAdded) error {
		return c.text(fmt.Sprintf("the channel %s takes prompts of %s (wrote %s)", by.Channel, by.Person, done.File))
	})
}

// wait shows the code and returns who sent it.
func (cmd channelsPairCmd) wait(ctx context.Context, c *console, cl *client.Client) (rpc.Paired, error) {
	ctx, release := c.untilPressed(ctx)
	defer release()
	by, err := cl.Pair(ctx, rpc.PairParams{Channel: cmd.Channel}, func(p rpc.PairCode) {
		c.say("Send %s to %s, alone with it, until %s. Ctrl-C takes the code back.", show.Line(p.Code), show.Line(cmd.Channel), p.Until.Local().Format(time.TimeOnly))
	})
	if err != nil && ctx.Err() != nil {
		err = exitError{exitAborted, errors.New("the code is taken back")}
	}
	return by, err
}

// yes asks a person; without a word, and at the end of the input, it is no.
func (c *console) yes(question string) (bool, error) {
	fmt.Fprint(c.err, question)
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("standard input: %w", err)
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes", nil
}
