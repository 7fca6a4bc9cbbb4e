package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// packet prints what the model of a turn was sent; whether it is that goes to standard error.
func (cmd runsShowCmd) packet(ctx context.Context, c *console) error {
	if cmd.Turn < 1 {
		return usageError{"--packet is of one turn: name it with --turn N"}
	}
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, ref rpc.RunRef) (rpc.Packet, error) {
		return cl.Packet(ctx, rpc.PacketParams{Run: ref.Run, Project: ref.Project, Turn: cmd.Turn})
	}, func(p rpc.Packet) error {
		if err := c.text(show.Text(packetText(p))); err != nil {
			return err
		}
		c.say("%s", packetVerdict(p))
		return nil
	})
}

// packetText is the messages of a packet, each under who speaks, with what it calls or answers.
func packetText(p rpc.Packet) string {
	var b strings.Builder
	for _, m := range p.Messages {
		head := string(m.Role)
		if m.Role == sdk.RoleTool {
			head += " " + m.Tool + " " + m.CallID
		}
		fmt.Fprintf(&b, "--- %s ---\n%s\n", head, strings.TrimRight(m.Text, "\n"))
		for _, medium := range m.Media {
			fmt.Fprintf(&b, "[%s %s]\n", medium.Kind, medium.URI)
		}
		for _, call := range m.Calls {
			fmt.Fprintf(&b, "[calls %s %s] %s\n", call.Tool, call.ID, call.Arguments)
		}
	}
	return b.String()
}

// packetVerdict says whether a rendering is what was sent, and what it cost: the number that a packet says of itself, which was
// estimated before it was sent, and what the server counted where that is another.
func packetVerdict(p rpc.Packet) string {
	said := fmt.Sprintf("turn %d, %s by %s: %s", p.Turn, p.Model, p.View, show.Plural(p.Tokens, "token"))
	if p.Context > 0 {
		said += fmt.Sprintf(" of %d", p.Context)
	}
	if p.ContextTokens != p.Tokens {
		said += fmt.Sprintf(" (the model's server counted %d)", p.ContextTokens)
	}
	if p.Same {
		return said + "; this is what was sent (" + p.Hash + ")"
	}
	said += "; this is NOT what was sent (" + p.Hash + ")"
	for _, gone := range p.Gone {
		said += "\n  not kept any more: " + show.Text(gone.Path)
		if gone.Hash != "" {
			said += " (" + gone.Hash + ")"
		}
	}
	if len(p.Gone) == 0 {
		said += ": a hook changed it, or a text of it was redacted"
	}
	return said
}
