package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// roles are what verbs need beyond reading and giving work to runs. A verb has
// that of the longest name that begins its own; what follows a run takes approve
// when it asks a person or lets the run do more (modeFlags).
var roles = map[string]rpc.Role{
	"tools call":       rpc.RoleApprove,
	"web fetch":        rpc.RoleApprove,
	"mcp tools":        rpc.RoleApprove,
	"mcp read":         rpc.RoleApprove,
	"mcp prompt":       rpc.RoleApprove,
	"trust":            rpc.RoleApprove,
	"proposals accept": rpc.RoleApprove,
	"proposals answer": rpc.RoleApprove,
	"proposals reject": rpc.RoleApprove,
	"proposals edit":   rpc.RoleApprove,
	"policy forget":    rpc.RoleApprove,

	"project constrain": rpc.RoleApprove,

	"auth":           rpc.RoleAdmin,
	"backup":         rpc.RoleAdmin,
	"channels pair":  rpc.RoleAdmin,
	"channels rm":    rpc.RoleAdmin,
	"config reload":  rpc.RoleAdmin,
	"mcp logout":     rpc.RoleAdmin,
	"memory":         rpc.RoleAdmin, // somebody else's
	"models pull":    rpc.RoleAdmin,
	"plugins reload": rpc.RoleAdmin,
	"plugins dev":    rpc.RoleAdmin,
	"skills enable":  rpc.RoleAdmin,
	"skills disable": rpc.RoleAdmin,
	"skills create":  rpc.RoleAdmin,
	"stop":           rpc.RoleAdmin,
}

// roleOf is the role of a verb, empty for one that needs no token.
func roleOf(verb *kong.Node) rpc.Role {
	words := verbWords(verb)
	for n := len(words); n > 0; n-- {
		if role, ok := roles[strings.Join(words[:n], " ")]; ok {
			return role
		}
	}
	return ""
}

// verbWords are the words that name a verb.
func verbWords(verb *kong.Node) (words []string) {
	for n := verb; n != nil && n.Parent != nil; n = n.Parent {
		if n.Type == kong.CommandNode {
			words = append([]string{n.Name}, words...)
		}
	}
	return words
}

// daemon is the user's daemon, as the environment of bothy names it.
func (c *console) daemon() *start.Daemon {
	return &start.Daemon{
		Environ: c.environ, Dir: c.dir, Beside: c.exe, Name: "bothy", Role: c.role,
		Say: func(text string) { c.say("bothy: %s", show.Line(text)) },
	}
}

// connect returns a client of the running daemon, starting it when there is
// none.
func (c *console) connect(ctx context.Context) (*client.Client, error) {
	cl, err := c.daemon().Connect(ctx)
	if err == nil {
		c.tellMistakes(ctx, cl)
	}
	return cl, err
}

// tellMistakes says, once, that something of the configuration is not in force, or that a
// plugin which may be a guard is not there. A daemon
// that does not answer is told of by what comes next.
func (c *console) tellMistakes(ctx context.Context, cl *client.Client) {
	if c.told {
		return
	}
	c.told = true
	if c.at == "" {
		c.at, _ = c.project("") // where there is none, only the user's file counts
	}
	found, err := cl.Mistakes(ctx, rpc.MistakesParams{Project: c.at})
	if err != nil {
		return
	}
	if unseen := found.Unseen; len(unseen) > 0 {
		c.say("bothy: the plugin %s does not run, and what it would refuse is not known: `bothy plugins list` shows why", show.Line(strings.Join(unseen, ", nor does ")))
	}
	if len(found.Mistakes) == 0 {
		return
	}
	more := ""
	if n := len(found.Mistakes) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	c.say("bothy: %s%s: not in force, `bothy config check` shows it", show.Line(strings.TrimSuffix(found.Mistakes[0], ".")), more)
}
