package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// options are what bothy tells the bridge.
type options struct {
	bothy     string // the program that bothyd lies beside
	dir       string // that relative paths of the environment are relative to
	agent     string
	model     string
	mode      string
	dangerous bool // the mode full is offered, too
}

// daemon is the daemon of who started the editor.
func (o options) daemon() *start.Daemon {
	return &start.Daemon{Environ: os.Environ(), Dir: o.dir, Beside: o.bothy, Name: "bothy-acp", Role: rpc.RoleApprove}
}

func main() {
	var o options
	flag.StringVar(&o.bothy, "bothy", "", "the program bothy, beside which bothyd lies")
	flag.StringVar(&o.agent, "agent", "chat", "the agent of new sessions")
	flag.StringVar(&o.model, "model", "", "the model of new sessions")
	flag.StringVar(&o.mode, "mode", "", "the mode of new sessions")
	flag.BoolVar(&o.dangerous, "allow-dangerous", false, "offer the mode full")
	flag.Parse()
	var err error
	if o.dir, err = os.Getwd(); err != nil || o.bothy == "" {
		fmt.Fprintln(os.Stderr, "bothy-acp: bothy calls it; call bothy acp")
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	if err := serve(ctx, o, os.Stdin, os.Stdout, log); err != nil {
		log.Error("the bridge ended", "error", err)
		os.Exit(1)
	}
}

// serve serves one editor until it closes its side, or ctx ends. Prompts that are worked on then go on.
func serve(ctx context.Context, o options, in io.Reader, out io.Writer, log *slog.Logger) error {
	socket, err := rpc.FindSocket(os.Getenv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := o.daemon()
	d.Say = func(text string) { log.Info(text) }
	b := &bridge{ctx: ctx, o: o, daemon: d, cl: d.Client(socket), log: log, sessions: map[acp.SessionId]*session{}, missing: map[string]time.Time{}, back: make(chan struct{}, 1)}
	defer func() { _ = b.cl.Close() }() // the daemon notices either way
	b.out = &frames{to: out, then: map[acp.SessionId]func(){}}
	first := &held{Reader: in, begin: make(chan struct{})}
	b.conn = acp.NewAgentSideConnection(b, b.out, first)
	b.conn.SetLogger(log)
	close(first.begin)
	select {
	case <-b.conn.Done():
	case <-ctx.Done():
	}
	cancel()
	b.leave()
	return nil
}
