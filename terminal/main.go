package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// options are what bothy tells the terminal.
type options struct {
	socket   string // of the daemon
	project  string // absolute path of its root
	run      string // to go on with; empty makes one with the first prompt
	agent    string
	model    string
	mode     string
	yolo     bool
	noMemory bool   // nothing that is remembered is told to the runs that it begins, and nothing learned from them
	bothy    string // the program that bothyd lies beside
	pick     bool   // it begins with the picker of runs
	state    string // the folder of the terminal's own files
	term     string // the kind of the terminal: $TERM
	rewraps  bool   // it breaks lines anew when it becomes narrower
}

// daemon is the daemon of who called bothy.
func (o options) daemon() *start.Daemon {
	return &start.Daemon{Environ: os.Environ(), Dir: o.project, Beside: o.bothy, Name: "bothy-terminal", Role: rpc.RoleApprove}
}

func main() {
	var o options
	flag.StringVar(&o.socket, "socket", "", "path of the daemon's socket")
	flag.StringVar(&o.project, "project", "", "root of the project")
	flag.StringVar(&o.run, "run", "", "the run to go on with")
	flag.StringVar(&o.agent, "agent", "chat", "the agent of the prompts")
	flag.StringVar(&o.model, "model", "", "the model of the prompts")
	flag.StringVar(&o.mode, "mode", "", "the mode of the prompts")
	flag.BoolVar(&o.pick, "pick", false, "begin with the list of runs")
	flag.BoolVar(&o.yolo, "yolo", false, "ask about nothing in this run")
	flag.BoolVar(&o.noMemory, "no-memory", false, "tell runs nothing of what is remembered, and learn nothing")
	flag.StringVar(&o.bothy, "bothy", "", "the program bothy, beside which bothyd lies")
	flag.StringVar(&o.state, "state", "", "folder for drafts and what was typed")
	flag.Parse()
	o.term, o.rewraps = os.Getenv("TERM"), rewraps(os.Getenv)
	if o.project == "" || !filepath.IsAbs(o.project) {
		fmt.Fprintln(os.Stderr, "bothy-terminal: bothy calls it; call bothy")
		os.Exit(2)
	}
	if err := run(context.Background(), o, nil); err != nil {
		fmt.Fprintln(os.Stderr, "bothy: "+harmless(err.Error()))
		os.Exit(1)
	}
}

// run talks until the person leaves. Tests give options of their own.
func run(ctx context.Context, o options, more []tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cl := o.daemon().Client(o.socket)
	defer func() { _ = cl.Close() }() // the daemon notices either way
	c := newConversation(ctx, o, cl)
	c.out = &output{file: os.Stdout, send: func(m tea.Msg) { c.send(m) }}
	defer c.out.release()
	own := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(120), tea.WithOutput(c.out), tea.WithColorProfile(profile())}
	if term.IsTerminal(int(os.Stdin.Fd())) { // else Bubble Tea opens one
		own = append(own, tea.WithInput(&stdin{File: os.Stdin, more: comes, now: time.Now}))
	}
	p := tea.NewProgram(c, append(own, more...)...)
	c.send = func(m tea.Msg) { p.Send(m) }
	c.daemon.Waits = func(text string) { p.Send(waitsFor{text}) }
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	go func() {
		select {
		case <-hangups:
			p.Send(hungUp{})
		case <-ctx.Done():
		}
	}()
	_, err := p.Run()
	c.leave()
	return err
}

// waitsFor says what a prompt waits for before it is taken.
type waitsFor struct{ text string }

// hungUp says that the terminal is gone.
type hungUp struct{}

// version is what the terminal says of itself.
func version() string { return sdk.Version }
