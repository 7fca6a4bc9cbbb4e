package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// options are what bothy tells the bridge.
type options struct {
	bothy     string // the program that bothyd lies beside
	project   string // its root, absolute
	approve   bool   // the person at the client may answer what is proposed
	address   string // to serve HTTP at; empty is standard input and output
	tokenFile string // that holds the token for it; empty prints one
}

// daemon is the daemon of who started the bridge, for a client of a role.
func (o options) daemon(role rpc.Role) *start.Daemon {
	return &start.Daemon{Environ: os.Environ(), Dir: o.project, Beside: o.bothy, Name: "bothy-mcp", Role: role}
}

func main() {
	var o options
	flag.StringVar(&o.bothy, "bothy", "", "the program bothy, beside which bothyd lies")
	flag.StringVar(&o.project, "project", "", "the project's root, absolute")
	flag.BoolVar(&o.approve, "approve", false, "ask the person at the client about what is proposed")
	flag.StringVar(&o.address, "http", "", "serve HTTP at this loopback address")
	flag.StringVar(&o.tokenFile, "token-file", "", "the file that holds the token for it")
	flag.Parse()
	if o.bothy == "" || o.project == "" {
		fmt.Fprintln(os.Stderr, "bothy-mcp: bothy calls it; call bothy mcp serve")
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	if err := serve(ctx, o, log); err != nil {
		log.Error("the bridge ended", "error", err)
		os.Exit(1)
	}
}

// serve serves clients until the one at standard input closes its side, or ctx ends. What agents
// were told to do goes on then.
func serve(ctx context.Context, o options, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b, err := newBridge(ctx, o, log)
	if err != nil {
		return err
	}
	defer b.close()
	if _, err := repeat(ctx, b, func() (struct{}, error) { return struct{}{}, b.refresh(ctx) }); err != nil {
		return err
	}
	go b.hear()
	if o.address != "" {
		return b.serveHTTP(ctx)
	}
	in := &input{file: os.Stdin, ended: b.leave}
	err = b.server.Run(ctx, &mcp.IOTransport{Reader: in, Writer: os.Stdout, MaxLineLength: mostFrame})
	if ctx.Err() != nil || b.gone() {
		return nil
	}
	return err
}

// mostFrame is how many bytes of one message are read.
const mostFrame = 8 << 20

// input is standard input, which says that it has ended before whoever reads it hears so.
type input struct {
	file  *os.File
	ended func()
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	n, err := i.file.Read(p)
	if err != nil {
		i.ended()
	}
	return n, err
}

// Close implements io.Closer.
func (i *input) Close() error { return i.file.Close() }
