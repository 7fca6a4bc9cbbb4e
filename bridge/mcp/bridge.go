package main

//lint:file-ignore SA1019 clients of before 2026-07-28 have log messages

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// bridge is the server of MCP that clients speak to, all of one project.
type bridge struct {
	ctx    context.Context // until the bridge ends
	o      options
	daemon *start.Daemon
	socket string
	cl     *client.Client // has the role that the bridge was started with
	server *mcp.Server
	log    *slog.Logger
	asked  pending
	logs   atomic.Bool // a client has asked for log messages

	left    chan struct{} // closed when the client at standard input is gone
	leaving sync.Once

	mu      sync.Mutex
	tools   map[string]sdk.Tool // that are offered, by the name that they are offered by
	offered map[string]string   // what is offered of each tool, and of each skill, to compare
	names   map[int64]string    // aliases of runs by their ids
}

// instructions are what a client may tell its model of the server.
const instructions = `Bothy runs agents and tools on this person's machine, in one project. Each call is judged by the person's policy and recorded. ` +
	`run_agent gives a whole task to an agent; the other tools do one thing each. The resources are the history of runs, the prompts are skills.`

func newBridge(ctx context.Context, o options, log *slog.Logger) (*bridge, error) {
	socket, err := rpc.FindSocket(os.Getenv)
	if err != nil {
		return nil, err
	}
	role := rpc.RoleSubmit
	if o.approve {
		role = rpc.RoleApprove
	}
	b := &bridge{
		ctx: ctx, o: o, daemon: o.daemon(role), socket: socket, log: log, left: make(chan struct{}),
		tools: map[string]sdk.Tool{}, offered: map[string]string{}, names: map[int64]string{},
	}
	b.daemon.Say = func(text string) { log.Info(text) }
	b.cl = b.daemon.Client(socket)
	b.server = mcp.NewServer(&mcp.Implementation{Name: "bothy", Title: "Bothy", Version: sdk.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       quiet(log),
		PageSize:     pageSize,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true},
			Resources: &mcp.ResourceCapabilities{Subscribe: true}, Logging: &mcp.LoggingCapabilities{},
		},
		CompletionHandler:  b.complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil }, // follow tells of all runs
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	b.server.AddReceivingMiddleware(b.receive)
	for _, t := range templates {
		b.server.AddResourceTemplate(t, b.readResource)
	}
	return b, nil
}

// quiet is a log without what the SDK says of each request.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// warnings is a handler that takes warnings and errors alone.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// pageSize is how much of a list is sent at a time.
const pageSize = 500

// receive answers what the SDK has no place for: the list of runs, which is another each time,
// and a skill whose name a client writes with an underscore for each hyphen.
func (b *bridge) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch r := req.(type) {
		case *mcp.ListResourcesRequest:
			return b.listResources(ctx, r)
		case *mcp.GetPromptRequest:
			r.Params.Name = b.skillNamed(r.Params.Name)
		case *mcp.ServerRequest[*mcp.SetLoggingLevelParams]:
			b.logs.Store(true)
		}
		return next(ctx, method, req)
	}
}

// leave says that the client at standard input is gone: what it asked for is not cancelled by that.
func (b *bridge) leave() { b.leaving.Do(func() { close(b.left) }) }

// gone reports whether it is, or the bridge is told to end.
func (b *bridge) gone() bool {
	select {
	case <-b.left:
		return true
	default:
		return b.ctx.Err() != nil
	}
}

func (b *bridge) close() {
	_ = b.cl.Close() // the daemon notices either way
}

// repeat is start.Repeat for this bridge's daemon.
func repeat[R any](ctx context.Context, b *bridge, ask func() (R, error)) (R, error) {
	return start.Repeat(ctx, b.daemon, b.cl, ask)
}

// isCancelled reports whether an error is the end of who asked, and no answer.
func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
