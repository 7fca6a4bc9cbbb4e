package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv("BOTHY_TEST_DIAL"); socket != "" {
		dialAndPrint(socket)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestCalls(t *testing.T) {
	h := open(t, nil)
	h.store.commit(sdk.JournalRow{Kind: "a", Run: 7, Project: 1}, sdk.JournalRow{Kind: "b", Run: 7, Project: 1}, sdk.JournalRow{Kind: "c", Run: 7, Project: 1})
	c, ctx := h.client(t), context.Background()

	hello, err := c.Hello(ctx)
	if err != nil || hello.Protocol != rpc.Protocol || hello.Seq != 3 || hello.PID == 0 {
		t.Fatalf("hello: %+v %v", hello, err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	accepted, err := c.Act(ctx, rpc.Prompt{Project: "/p/one", Prompt: "go"})
	if err != nil || accepted.ID != 7 || accepted.Why == "" {
		t.Fatalf("act: %+v %v", accepted, err)
	}
	if _, err := c.Ask(ctx, rpc.Prompt{Project: "/p/one", Prompt: "look"}); err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, true}; !reflect.DeepEqual(h.engine.modes, want) {
		t.Errorf("modes %v, want %v", h.engine.modes, want)
	}
	if aborted, err := c.Abort(ctx, rpc.RunRef{Run: "seven", Project: "/p/two"}); err != nil || aborted.ID != 8 || aborted.Status != 102 {
		t.Errorf("abort: %+v %v", aborted, err)
	}
	status, err := c.Status(ctx)
	if err != nil || status.Connections != 1 {
		t.Errorf("status: %+v %v", status, err)
	}
	if models, err := c.Models(ctx, rpc.ModelsParams{Limit: 1, Offset: 1}); err != nil || len(models.Models) != 1 || models.Models[0].Alias != "b" {
		t.Errorf("models: %+v %v", models, err)
	}
	if tools, err := c.Tools(ctx); err != nil || len(tools) != 1 || tools[0].Name != "bash" {
		t.Errorf("tools: %+v %v", tools, err)
	}
	if plugins, err := c.Plugins(ctx); err != nil || plugins == nil || len(plugins) != 0 {
		t.Errorf("plugins: %#v %v", plugins, err)
	}
	if settings, err := c.Settings(ctx); err != nil || len(settings) != 1 {
		t.Errorf("settings: %+v %v", settings, err)
	}
	if started, err := c.StartRun(ctx, rpc.StartRun{Project: "/p/one", Run: "x"}); err != nil || started.ID != 11 {
		t.Errorf("startRun: %+v %v", started, err)
	}
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	<-h.daemon.stopped
}

// TestErrors holds what each mistake is told: the outcome crosses the socket.
func TestErrors(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), context.Background()
	for name, call := range map[string]struct {
		do      func() error
		code    int
		outcome sdk.Outcome
		says    string
	}{
		"unknown model": {func() error {
			_, err := c.Act(ctx, rpc.Prompt{Project: "/p", Prompt: "x", Model: "nobody"})
			return err
		}, rpc.CodeParams, sdk.Validation, "no model nobody"},
		"empty prompt":     {func() error { _, err := c.Act(ctx, rpc.Prompt{Project: "/p", Prompt: " \n"}); return err }, rpc.CodeParams, sdk.Validation, "empty"},
		"relative project": {func() error { _, err := c.Act(ctx, rpc.Prompt{Project: "p", Prompt: "x"}); return err }, rpc.CodeParams, sdk.Validation, "absolute"},
		"alias taken":      {func() error { _, err := c.StartRun(ctx, rpc.StartRun{Project: "/p", Run: "seven"}); return err }, rpc.CodeFailed, sdk.Conflict, "already"},
		"no such run":      {func() error { _, err := c.Run(ctx, rpc.RunRef{Run: "nope", Project: "/p/one"}); return err }, rpc.CodeFailed, sdk.NotFound, `"nope"`},
		"no such project":  {func() error { _, err := c.Run(ctx, rpc.RunRef{Run: "seven", Project: "/p/three"}); return err }, rpc.CodeFailed, sdk.NotFound, "/p/three"},
		"alias alone":      {func() error { _, err := c.Run(ctx, rpc.RunRef{Run: "seven"}); return err }, rpc.CodeParams, sdk.Validation, "project"},
		"negative limit":   {func() error { _, err := c.Runs(ctx, rpc.RunsParams{Limit: -1}); return err }, rpc.CodeParams, sdk.Validation, "negative"},
		"internal":         {func() error { _, err := c.CallTool(ctx, rpc.ToolCall{Project: "/p", Tool: "x"}); return err }, rpc.CodeInternal, sdk.Internal, "no tool"},
		"list arguments": {func() error {
			_, err := c.CallTool(ctx, rpc.ToolCall{Project: "/p", Tool: "x", Arguments: json.RawMessage("[]")})
			return err
		}, rpc.CodeParams, sdk.Validation, "object"},
		"no method":         {func() error { return c.Call(ctx, "nope", nil, nil) }, rpc.CodeMethod, sdk.NotFound, "discover"},
		"unknown parameter": {func() error { return c.Call(ctx, "getRun", map[string]any{"run": "7", "Project": "/p"}, nil) }, rpc.CodeParams, sdk.Validation, `no parameter "Project"`},
		"missing parameter": {func() error { return c.Call(ctx, "act", map[string]any{"project": "/p"}, nil) }, rpc.CodeParams, sdk.Validation, `needs the parameter "prompt": it takes project, prompt, run?`},
		"wrong type":        {func() error { return c.Call(ctx, "getRuns", map[string]any{"limit": "many"}, nil) }, rpc.CodeParams, sdk.Validation, `parameter "limit"`},
		"positional":        {func() error { return c.Call(ctx, "getRun", []any{"7"}, nil) }, rpc.CodeParams, sdk.Validation, "object"},
	} {
		err := call.do()
		var e *rpc.Error
		if !errors.As(err, &e) || e.Code != call.code || sdk.OutcomeOf(err) != call.outcome || !strings.Contains(e.Message, call.says) {
			t.Errorf("%s: got %#v (%v), want code %d, outcome %s, %q", name, e, err, call.code, call.outcome, call.says)
		}
	}
}

func TestRefusedPeers(t *testing.T) {
	for name, c := range map[string]struct {
		peer    rpc.Peer
		descend bool
		says    string
	}{
		"another user":         {rpc.Peer{UID: 4242, PID: 1}, false, "uid 4242"},
		"a plugin's child":     {rpc.Peer{UID: -1, PID: 77}, true, "plugin"},
		"an invisible process": {rpc.Peer{UID: -1, PID: 0}, true, "not visible"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, func(cfg *Config) {
				cfg.Peer = func(nc *net.UnixConn) (rpc.Peer, error) {
					real, err := rpc.PeerOf(nc)
					if c.peer.UID >= 0 {
						real.UID = c.peer.UID
					}
					real.PID = c.peer.PID
					return real, err
				}
				cfg.Descended = func(pid int) bool { return c.descend && pid == 77 }
			})
			r := h.dial(t)
			r.wantError(rpc.CodeRefused, c.says)
			r.closed()
			_, err := h.client(t).Status(context.Background())
			var e *rpc.Error
			if !errors.As(err, &e) || e.Code != rpc.CodeRefused {
				t.Errorf("the client was told %v", err)
			}
		})
	}
}

func TestPanicFailsItsRequestAlone(t *testing.T) {
	var log syncBuffer
	h := open(t, func(cfg *Config) { cfg.Log = hclog.New(&hclog.LoggerOptions{Output: &log}) })
	h.daemon.panics = true
	c, ctx := h.client(t), context.Background()
	_, err := c.Status(ctx)
	var e *rpc.Error
	if !errors.As(err, &e) || e.Code != rpc.CodeInternal || strings.Contains(e.Message, "broken") {
		t.Errorf("got %v", err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	if text := log.String(); !strings.Contains(text, "status is broken") || !strings.Contains(text, "fake_test.go") {
		t.Errorf("the log lacks the panic or its stack: %s", text)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *syncBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// brokenStore panics when it is read for a watch.
type brokenStore struct{ *fakeStore }

func (s brokenStore) Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	if q.Notes {
		return s.fakeStore.Journal(ctx, q)
	}
	panic("the journal is broken")
}

// TestPanicEndsItsConnectionAlone: a watch that panics costs its connection;
// the others are served, and the daemon ends in order.
func TestPanicEndsItsConnectionAlone(t *testing.T) {
	var log bytes.Buffer
	h := open(t, func(c *Config) {
		c.Store = brokenStore{newFakeStore()}
		c.Log = hclog.New(&hclog.LoggerOptions{Output: &log})
	})
	err := h.client(t).Follow(context.Background(), client.Watch{Lost: func(_ context.Context, why error) error { return why }}, nil)
	if !errors.Is(err, client.ErrDisconnected) {
		t.Errorf("the follower ended with %v", err)
	}
	if err := h.client(t).Ping(context.Background()); err != nil {
		t.Errorf("another client: %v", err)
	}
	h.Close(context.Background())
	if text := log.String(); !strings.Contains(text, "the journal is broken") || !strings.Contains(text, "watch.go") {
		t.Errorf("the log lacks the stack: %s", text)
	}
}

func TestRequestsInFlight(t *testing.T) {
	h := open(t, func(cfg *Config) { cfg.Limits.InFlight = 2 })
	release := make(chan struct{})
	h.engine.tool = func(context.Context, rpc.ToolCall) (rpc.ToolDone, error) { <-release; return rpc.ToolDone{}, nil }
	r := h.dial(t)
	for id := range 3 {
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"project":"/p","tool":"x"}}`+"\n", id))
	}
	r.wantError(rpc.CodeBusy, "2 requests")
	close(release)
	for range 2 {
		if m := r.answer(); m.Error != nil {
			t.Fatal(m.Error)
		}
	}
	r.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n")
	if m := r.answer(); m.Error != nil {
		t.Errorf("no slot came back: %v", m.Error)
	}
}

// TestNextRequestHasASlot: who waits for each answer before the next request is never told to wait for one.
func TestNextRequestHasASlot(t *testing.T) {
	r := open(t, func(cfg *Config) { cfg.Limits.InFlight = 1 }).dial(t)
	for id := range 5000 {
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id))
		if m := r.answer(); m.Error != nil {
			t.Fatalf("request %d: %v", id, m.Error)
		}
	}
}

// TestDisconnectCancels: a client that goes takes its calls along; one that
// only closed its sending side still gets its answer.
func TestDisconnectCancels(t *testing.T) {
	h := open(t, nil)
	began, ended := make(chan struct{}), make(chan error)
	h.engine.tool = func(ctx context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return rpc.ToolDone{}, ctx.Err()
	}
	r := h.dial(t)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"project":"/p","tool":"x"}}` + "\n")
	<-began
	_ = r.conn.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the call goes on without its client")
	}

	release := make(chan struct{})
	h.engine.tool = func(ctx context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		select {
		case <-release:
			return rpc.ToolDone{Path: "log://x"}, nil
		case <-ctx.Done():
			return rpc.ToolDone{}, ctx.Err()
		}
	}
	half := h.dial(t)
	half.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"project":"/p","tool":"x"}}`)
	if err := half.conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { close(release) })
	if m := half.answer(); m.Error != nil || !strings.Contains(string(m.Result), "log://x") {
		t.Errorf("half-closed: %+v %v", m, m.Error)
	}
	half.closed()
}

// TestCloseDrains: calls at work end well when they end in time.
func TestCloseDrains(t *testing.T) {
	h := open(t, nil)
	began, release := make(chan struct{}), make(chan struct{})
	h.engine.tool = func(ctx context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		close(began)
		<-release
		return rpc.ToolDone{Path: "log://done"}, ctx.Err()
	}
	c := h.client(t)
	answered := make(chan error, 1)
	go func() {
		done, err := c.CallTool(context.Background(), rpc.ToolCall{Project: "/p", Tool: "x"})
		if err == nil && done.Path != "log://done" {
			err = fmt.Errorf("path %q", done.Path)
		}
		answered <- err
	}()
	<-began
	closed := make(chan struct{})
	go func() { h.Close(context.Background()); close(closed) }()
	eventually(t, "the listener stops", func() bool {
		nc, err := net.Dial("unix", h.path)
		if err == nil {
			_ = nc.Close()
		}
		return err != nil
	})
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	<-closed
}

func TestCloseForcesWhatHangs(t *testing.T) {
	h := open(t, nil)
	began := make(chan struct{})
	h.engine.tool = func(ctx context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		close(began)
		<-ctx.Done()
		return rpc.ToolDone{}, sdk.Errorf(sdk.Aborted, "cancelled")
	}
	r := h.dial(t)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"project":"/p","tool":"x"}}` + "\n")
	<-began
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	h.Close(ctx)
	r.wantError(rpc.CodeFailed, "cancelled")
}

func TestDiscover(t *testing.T) {
	h := open(t, nil)
	var got Catalogue
	if err := h.client(t).Call(context.Background(), rpc.MethodDiscover, nil, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Methods) != len(h.methods) || len(got.Notifications) != len(notes()) {
		t.Errorf("%d methods, %d notifications", len(got.Methods), len(got.Notifications))
	}
	for name, d := range got.Methods {
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal(d.Params, &schema); err != nil || schema.Type != "object" || d.Description == "" {
			t.Errorf("%s: %s %v", name, d.Params, err)
		}
		for _, f := range fieldsOf(h.methods[name].params) {
			if _, ok := schema.Properties[f.name]; !ok {
				t.Errorf("%s: the schema lacks %q", name, f.name)
			}
		}
	}
	if !strings.Contains(string(got.Methods["act"].Params), `"required":["project","prompt"]`) {
		t.Errorf("act: %s", got.Methods["act"].Params)
	}
}

func TestProtocolMismatch(t *testing.T) {
	h := open(t, nil)
	r := h.dial(t)
	r.send(`{"jsonrpc":"2.0","id":"a","method":"hello","params":{"client":"old","protocol":"1.0"}}` + "\n")
	r.wantError(rpc.CodeProtocol, "old speaks 1.0: upgrade the client to the version of this bothyd")
	r.send(`{"jsonrpc":"2.0","id":"c","method":"hello","params":{"client":"new","protocol":"9.0"}}` + "\n")
	r.wantError(rpc.CodeProtocol, "new speaks 9.0: run `bothy stop` and start the bothyd that was installed with the client")
	r.send(`{"jsonrpc":"2.0","id":"b","method":"hello","params":{"client":"new","protocol":"2.7"}}` + "\n")
	if m := r.answer(); m.Error != nil || string(m.ID) != `"b"` {
		t.Errorf("a minor step was refused: %v", m.Error)
	}
}

// TestFarewell: who is connected and who comes later hear that the daemon
// stops, calls are still answered, and then the connection's end is an orderly
// one.
func TestFarewell(t *testing.T) {
	h := open(t, nil)
	early, late := h.client(t), h.client(t)
	if err := early.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.Farewell()
	for name, c := range map[string]*client.Client{"early": early, "late": late} {
		if err := c.Ping(context.Background()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		ended <- late.Follow(context.Background(), client.Watch{After: -1, Lost: func(_ context.Context, why error) error { return why }}, func(client.Event) error { return nil })
	}()
	eventually(t, "the watch", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.watchers) == 1
	})
	h.Close(context.Background())
	if err := <-ended; !errors.Is(err, client.ErrStopped) {
		t.Errorf("the follower ended with %v", err)
	}
}
