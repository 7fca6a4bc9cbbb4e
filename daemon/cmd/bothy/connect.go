package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// How long a daemon may take to greet. One that starts reads its plugins
// first; its socket is there before it answers.
const (
	greetTime = 20 * time.Second
	startTime = 60 * time.Second
)

// roles are what verbs need beyond reading and giving work to runs. A verb has
// that of the longest name that begins its own; what follows a run takes approve
// when it asks a person or lets the run do more (modeFlags).
var roles = map[string]rpc.Role{
	"tools call":       rpc.RoleApprove,
	"trust":            rpc.RoleApprove,
	"proposals accept": rpc.RoleApprove,
	"proposals reject": rpc.RoleApprove,
	"proposals edit":   rpc.RoleApprove,
	"policy forget":    rpc.RoleApprove,

	"backup":         rpc.RoleAdmin,
	"config reload":  rpc.RoleAdmin,
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

// client makes a client with the role that the verb needs. It connects later.
func (c *console) client(socket string) *client.Client {
	return &client.Client{Socket: socket, Name: "bothy", Role: c.role}
}

// connect returns a client of the running daemon, starting it when there is
// none.
func (c *console) connect(ctx context.Context) (*client.Client, error) {
	for begin := time.Now(); ; {
		cl, err := c.connectOnce(ctx)
		var down *client.NotRunningError
		died := ending(err) || errors.As(err, &down) // since it greeted
		if !died || time.Since(begin) > greetTime || !pause(ctx, 50*time.Millisecond) {
			return cl, err
		}
	}
}

func (c *console) connectOnce(ctx context.Context) (*client.Client, error) {
	cl, err := c.attachSoon(ctx, greetTime)
	var down *client.NotRunningError
	if errors.As(err, &down) && c.waitForSocket(ctx, down.Socket) {
		cl, err = c.attachSoon(ctx, greetTime)
	}
	if errors.As(err, &down) {
		cl, err = c.start(ctx, down.Socket)
	}
	if err != nil {
		return nil, err
	}
	hello, err := cl.Hello(ctx)
	if err != nil {
		return nil, errors.Join(err, cl.Close())
	}
	if hello.Version != sdk.Version {
		c.say("bothy: the daemon is version %s and this is %s: after `bothy stop` the next call starts the bothyd of this version", show.Line(hello.Version), sdk.Version)
	}
	c.tellMistakes(ctx, cl)
	return cl, nil
}

// tellMistakes says, once, that something of the configuration is not in force. A daemon
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
	if err != nil || len(found.Mistakes) == 0 {
		return
	}
	more := ""
	if n := len(found.Mistakes) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	c.say("bothy: %s%s: not in force, `bothy config check` shows it", show.Line(strings.TrimSuffix(found.Mistakes[0], ".")), more)
}

// attachSoon is attach, after the end of a daemon that is about to end.
func (c *console) attachSoon(ctx context.Context, most time.Duration) (cl *client.Client, err error) {
	err = c.whileEnding(ctx, most, func() (err error) {
		cl, err = c.attach(ctx)
		return err
	})
	return cl, err
}

// whileEnding calls try again as long as what answers is a daemon that is about
// to end, at most for the time given: one that has ended can be told apart, and
// another started.
func (c *console) whileEnding(ctx context.Context, most time.Duration, try func() error) error {
	for begin := time.Now(); ; {
		err := try()
		if !ending(err) || time.Since(begin) > most || !pause(ctx, 50*time.Millisecond) {
			return err
		}
	}
}

// ending reports whether a greeting failed because the daemon stops or has no
// room for another connection.
func ending(err error) bool {
	var said *rpc.Error
	if errors.As(err, &said) {
		return said.Code == rpc.CodeBusy
	}
	return errors.Is(err, client.ErrDisconnected)
}

// attach returns a client of the running daemon, or a *client.NotRunningError.
func (c *console) attach(ctx context.Context) (*client.Client, error) {
	socket, err := rpc.FindSocket(c.env)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	cl := c.client(socket)
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	_, err = cl.Hello(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("something listens at %s and does not answer: see %s, or end that bothyd with `bothy stop --now`", socket, c.logHint())
	}
	if err != nil {
		return nil, errors.Join(err, cl.Close())
	}
	return cl, nil
}

// logHint names the daemon's log for an error.
func (c *console) logHint() string {
	state, err := rpc.StateDir(c.env)
	if err != nil {
		return "its log"
	}
	return state + "/bothyd.log"
}
