package main

//lint:file-ignore SA1019 the servers there are speak protocols of before 2026-07-28, in which sampling and logging are not deprecated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/tool"
)

// Bounds of what a server offers; what is beyond is left out, and the log says so.
const (
	mostTools    = 500
	mostPages    = 1000
	mostDoc      = 16 << 10 // bytes of a tool's description
	mostSchema   = 64 << 10 // bytes of a tool's schema
	mostOffered  = 4 << 20  // bytes of the names, descriptions and schemas of all tools
	mostSaid     = 4 << 10  // bytes of one message of the server for the log
	settledAfter = 200 * time.Millisecond
	mostPause    = time.Minute
)

// mcpServer is the tools of one server, as a plugin has them.
type mcpServer struct {
	settings settings
	changed  chan struct{}
	log      *slog.Logger
	server   *server
	calls    inFlight
	listing  chan struct{} // holds something while the tools are listed

	mu    sync.Mutex
	tools []sdk.ToolSpec
	raw   map[string]string // a tool's own name by the name that it is offered by
	added extras
	timer *time.Timer   // runs while a list that changed is left to settle
	since time.Time     // when it was first told to have changed since it was listed; zero: it was not
	last  time.Time     // when it was listed for that
	pause time.Duration // how long it is left to settle
}

func newMCP() *mcpServer {
	return &mcpServer{changed: make(chan struct{}, 1), listing: make(chan struct{}, 1), log: plugin.Logger("mcp")}
}

// configure connects to the server and lists what it has. A server that cannot be reached
// keeps the plugin from starting, with one sentence that says why.
func (m *mcpServer) configure(ctx context.Context, s sdk.Settings) error {
	if err := m.settings.check(); err != nil {
		return err
	}
	m.server = newServer(strings.TrimPrefix(s.Instance, "mcp__"), m.settings, m.options(), m.log)
	m.server.renewed = m.settle // another version of it may have started
	m.server.openTokens(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, m.settings.Timeout, errSlow)
	defer cancel()
	c, err := m.server.use(ctx)
	if err == nil {
		err = m.list(ctx, c)
	}
	if err != nil {
		go m.server.close() // nobody will call it
	}
	return err
}

// options are what the servers may ask of Bothy, and tell it.
func (m *mcpServer) options() *mcp.ClientOptions {
	o := &mcp.ClientOptions{
		Logger: m.log,
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
		ElicitationHandler:          m.elicit,
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { m.settle() }, // resources are listed when they are asked for
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { m.settle() },
		ProgressNotificationHandler: m.calls.progress,
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			m.log.Info("the server says", "level", string(r.Params.Level), "data", clip(fmt.Sprint(r.Params.Data), mostSaid))
		},
	}
	if m.settings.Sampling {
		o.CreateMessageHandler = m.createMessage
	}
	return o
}

// list asks the server what it offers, and tells the daemon when that is not what it
// offered before. One list is asked for after the other, so that an older one never wins.
func (m *mcpServer) list(ctx context.Context, c *connection) (err error) {
	select {
	case m.listing <- struct{}{}:
		defer func() { <-m.listing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var found []*mcp.Tool
	if has := c.InitializeResult().Capabilities; has != nil && has.Tools != nil {
		if found, err = m.pages(ctx, c.ClientSession); err != nil {
			if errors.Is(context.Cause(ctx), errSlow) {
				err = fmt.Errorf("it did not list its tools within %v", m.settings.Timeout)
			}
			return m.server.fault(ctx, c.process, err)
		}
	}
	specs, raw := m.specs(found)
	added, err := m.extras(ctx, c, raw)
	if err != nil {
		if c.broken(err) {
			return m.server.fault(ctx, c.process, err)
		}
		m.log.Warn("the prompts of the server could not be listed", "error", err)
	}
	specs = append(specs, added.specs...)
	m.mu.Lock()
	same := slices.EqualFunc(specs, m.tools, func(a, b sdk.ToolSpec) bool {
		return a.Name == b.Name && a.SourceName == b.SourceName && a.Description == b.Description && a.Annotations == b.Annotations && string(a.Parameters) == string(b.Parameters)
	})
	m.tools, m.raw, m.added = specs, raw, added
	m.mu.Unlock()
	if !same {
		select {
		case m.changed <- struct{}{}:
		default: // one is on its way
		}
	}
	return nil
}

// pages are all pages of the list.
func (m *mcpServer) pages(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	var found []*mcp.Tool
	params := &mcp.ListToolsParams{}
	for range mostPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t != nil && m.settings.offers(t.Name) {
				found = append(found, t)
			}
		}
		if len(found) > mostTools {
			m.log.Warn("the server has more tools than are offered", "offered", mostTools, "advice", "name those that you want with tools = [...]")
			return found[:mostTools], nil
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			return found, nil
		}
		params.Cursor = page.NextCursor
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", mostPages)
}

// specs are the tools as the daemon takes them. One whose name or schema cannot be used
// is left out alone.
func (m *mcpServer) specs(found []*mcp.Tool) ([]sdk.ToolSpec, map[string]string) {
	byName := map[string]*mcp.Tool{}
	for _, t := range found {
		byName[t.Name] = t // of two with one name the last: they cannot be told apart
	}
	own := slices.Sorted(maps.Keys(byName))
	names := toolNames(m.server.name, own, sdk.MCPAbout(m.server.name))
	var specs []sdk.ToolSpec
	raw := map[string]string{}
	size := 0
	for i, name := range own {
		t := byName[name]
		parameters, err := json.Marshal(t.InputSchema)
		if err != nil {
			m.log.Warn("a tool is left out: its schema cannot be read", "tool", clip(name, mostSaid), "error", err)
			continue
		}
		if string(parameters) == "null" {
			parameters = []byte(`{"type":"object"}`)
		}
		if len(parameters) > mostSchema {
			m.log.Warn("a tool is left out: its schema is too large", "tool", clip(name, mostSaid), "bytes", len(parameters), "most", mostSchema)
			continue
		}
		doc := clip(describe(t), mostDoc)
		if size += len(name) + len(doc) + len(parameters); size > mostOffered {
			m.log.Warn("tools are left out: what describes all of them is too large", "left_out", len(own)-i, "most", mostOffered,
				"advice", "name those that you want with tools = [...]")
			break
		}
		specs = append(specs, sdk.ToolSpec{
			Name: names[name], Description: doc, Parameters: parameters,
			Annotations: annotations(t.Annotations), Source: m.settings.source(), SourceName: name,
		})
		raw[names[name]] = name
	}
	return specs, raw
}

// describe is what a model reads of the tool.
func describe(t *mcp.Tool) string {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	switch {
	case t.Description == "" && title == "":
		return t.Name
	case t.Description == "":
		return title
	}
	return t.Description
}

// annotations are the server's hints. A tool that says nothing may destroy and may reach
// anywhere (MCP, schema, ToolAnnotations).
func annotations(a *mcp.ToolAnnotations) sdk.Annotations {
	if a == nil {
		a = &mcp.ToolAnnotations{}
	}
	return sdk.Annotations{
		ReadOnly:    a.ReadOnlyHint,
		Destructive: !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint),
		Idempotent:  a.IdempotentHint,
		OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint,
	}
}

// Tools implements tool.Tool.
func (m *mcpServer) Tools() []sdk.ToolSpec {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tools)
}

// Invoke implements tool.Tool.
func (m *mcpServer) Invoke(ctx context.Context, call sdk.Invocation, out tool.Stream) (sdk.ToolResult, error) {
	if r, is, err := m.extra(ctx, call, out); is {
		return r, err
	}
	m.mu.Lock()
	own, ok := m.raw[call.Tool]
	m.mu.Unlock()
	if !ok {
		return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "the MCP server %s has no tool %s any more", m.server.name, call.Tool)
	}
	c, err := m.server.use(ctx)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	arguments := call.Arguments
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}") // servers refuse null
	}
	params := &mcp.CallToolParams{Name: own, Arguments: arguments}
	params.SetProgressToken(call.CallID)
	defer m.calls.begin(ctx, call, out)()
	r, err := c.CallTool(ctx, params)
	if m.opened(ctx, err) {
		r, err = c.CallTool(ctx, params)
	}
	if ctx.Err() != nil {
		return sdk.ToolResult{}, ctx.Err() // the SDK has told the server
	}
	if err != nil {
		return sdk.ToolResult{}, m.failed(ctx, c, own, err)
	}
	return result(own, r), nil
}

// failed tells an answer of the server that is an error from one that never came.
func (m *mcpServer) failed(ctx context.Context, c *connection, tool string, err error) error {
	var known *sdk.Error
	if errors.As(err, &known) { // it was not asked: it wants a login
		return known
	}
	if c.broken(err) {
		m.server.lost(c)
		return m.server.fault(ctx, c.process, err)
	}
	if !answered(err) {
		return sdk.Errorf(sdk.Internal, "the MCP server %s answered the call of %s with what cannot be read: %s", m.server.name, tool, sentence(err))
	}
	return sdk.Errorf(sdk.Internal, "the MCP server %s refused the call of %s: %w", m.server.name, tool, err)
}

func (m *mcpServer) close() {
	if m.server != nil {
		m.server.close()
	}
}
