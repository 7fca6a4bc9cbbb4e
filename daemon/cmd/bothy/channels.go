package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type channelsCmd struct {
	Ls   channelsLsCmd   `cmd:"" default:"1" help:"List channels, how they are, and whose prompts they bring."`
	Pair channelsPairCmd `cmd:"" help:"Have a channel take prompts of somebody who sends it a code."`
	Rm   channelsRmCmd   `cmd:"" help:"Have a channel take no more prompts of somebody."`
}

// channelLine is a channel with those whose prompts it brings.
type channelLine struct {
	Channel string             `json:"channel"` // label of its plugin block
	State   string             `json:"state"`   // of the plugin; empty where it does not run
	Detail  string             `json:"detail,omitempty"`
	Error   string             `json:"error,omitempty"`
	People  []rpc.ListedPerson `json:"people"`
}

type channelsLsCmd struct{}

// Run prints a line for each person of each channel; how the channels are stands below.
func (channelsLsCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) ([]channelLine, error) { return channelLines(ctx, cl) }, func(list []channelLine) error {
		var rows [][]string
		for _, l := range list {
			if len(l.People) == 0 {
				rows = append(rows, []string{l.Channel, "nobody", "", "", ""})
			}
			for _, p := range l.People {
				rows = append(rows, []string{l.Channel, p.Called, p.Name, cmp.Or(p.Owner, p.ID), p.Agent})
			}
		}
		err := tableOf(c, rows, "no plugin is a channel: docs/channels.md says what a block of one has", []string{"CHANNEL", "PERSON", "NAME", "OWNER", "AGENT"}, func(row []string) []string { return row })
		for _, l := range list {
			c.say("%s: %s", show.Line(l.Channel), show.Line(cmp.Or(l.Error, l.Detail, l.State, "its plugin does not run")))
		}
		return err
	})
}

// channelLines are the channels that there are, and those of whom only a person block tells, by name.
func channelLines(ctx context.Context, cl *client.Client) ([]channelLine, error) {
	plugins, err := cl.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	people, err := cl.People(ctx, rpc.PeopleParams{})
	if err != nil {
		return nil, err
	}
	lines := []channelLine{}
	for _, p := range plugins {
		if slices.Contains(p.Kinds, "channel") || slices.Contains(p.Grants, sdk.GrantChannel) {
			lines = append(lines, channelLine{Channel: p.Instance, State: p.State, Detail: p.Detail, Error: p.Error, People: []rpc.ListedPerson{}})
		}
	}
	for _, x := range people.People {
		i := slices.IndexFunc(lines, func(l channelLine) bool { return l.Channel == x.Channel })
		if i < 0 {
			i, lines = len(lines), append(lines, channelLine{Channel: x.Channel})
		}
		lines[i].People = append(lines[i].People, x)
	}
	slices.SortFunc(lines, func(a, b channelLine) int { return strings.Compare(a.Channel, b.Channel) })
	return lines, nil
}

type channelsRmCmd struct {
	Person string `arg:"" placeholder:"CHANNEL/PERSON" complete:"person" help:"As the label of the person block, such as telegram/12345."`
}

// Help adds to the verb's help.
func (channelsRmCmd) Help() string {
	return `Takes the person block out of your configuration. It is in force when the command ends: their prompts are refused. Runs that they began stay, and can be read and gone on with at this machine.

Example:

    bothy channels rm telegram/12345
`
}

// Run takes the block of a person away.
func (cmd channelsRmCmd) Run(ctx context.Context, c *console) error {
	channel, person, both := strings.Cut(cmd.Person, "/")
	if !both {
		return usageError{fmt.Sprintf("%q names nobody: a person is CHANNEL/PERSON, as `bothy channels ls` has them", cmd.Person)}
	}
	return query(ctx, c, func(cl *client.Client) (rpc.PersonRemoved, error) {
		return cl.RemovePerson(ctx, rpc.PersonRef{Channel: channel, Person: person})
	}, func(done rpc.PersonRemoved) error {
		return c.text(fmt.Sprintf("the channel %s takes no more prompts of %s (wrote %s)", channel, person, done.File))
	})
}
