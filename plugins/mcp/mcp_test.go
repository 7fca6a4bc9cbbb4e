package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// started is a plugin whose server is this binary.
func started(t *testing.T, what string, more ...string) *mcpServer {
	t.Helper()
	m, err := start(t, what, more...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func start(t *testing.T, what string, more ...string) (*mcpServer, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	extra := strings.Join(append(more, ""), ",")
	return configured(t, fmt.Sprintf(`{%s "command":%q, "environment":{"SERVER":%q}}`, extra, program, what))
}

func configured(t *testing.T, config string) (*mcpServer, error) {
	t.Helper()
	return configuredBy(t, &sdktest.Daemon{}, config)
}

// configuredBy is configured by a daemon that may have a login.
func configuredBy(t *testing.T, d host.Host, config string) (*mcpServer, error) {
	t.Helper()
	m := newMCP()
	t.Cleanup(m.close)
	if err := plugin.Decode([]byte(config), &m.settings); err != nil {
		t.Fatal(err)
	}
	if m.settings.Timeout == 0 {
		m.settings.Timeout = 25 * time.Second
	}
	return m, m.configure(host.With(t.Context(), d), sdk.Settings{Instance: "mcp__fake"})
}

func call(t *testing.T, m *mcpServer, tool, arguments string) (sdk.ToolResult, error) {
	t.Helper()
	return m.Invoke(t.Context(), sdk.Invocation{Tool: tool, Arguments: json.RawMessage(arguments), CallID: "c1"}, &sdktest.Recorder{})
}

// TestContract holds the plugin to the contract of its kind, over the wire.
func TestContract(t *testing.T) {
	m := started(t, "plain")
	sdktest.Tool(t, m,
		sdktest.Call{Invocation: sdk.Invocation{Tool: "mcp__fake__echo", Arguments: []byte(`{"a":1}`), CallID: "e"}},
		sdktest.Call{Invocation: sdk.Invocation{Tool: "mcp__fake__wait", Arguments: []byte(`{}`), CallID: "w"}, Blocks: true})
}

// TestTools: all pages, with the names, hints and schemas of the server.
func TestTools(t *testing.T) {
	m := started(t, "noisy")
	names := map[string]sdk.ToolSpec{}
	for _, s := range m.Tools() {
		names[s.Name] = s
	}
	for _, want := range []string{"echo", "environment", "fail", "mixed", "steps", "wait", "die", "flood", "rename", "odd"} {
		if _, ok := names["mcp__fake__"+want]; !ok {
			t.Errorf("no tool %s among %d", want, len(names))
		}
	}
	if a := names["mcp__fake__echo"].Annotations; !a.ReadOnly || a.Destructive || !a.OpenWorld {
		t.Errorf("echo: %+v", a)
	}
	if a := names["mcp__fake__fail"].Annotations; a.ReadOnly || !a.Destructive || !a.OpenWorld {
		t.Errorf("a tool without hints may destroy and reaches anywhere, not %+v", a)
	}
	if s := names["mcp__fake__odd"]; s.Description != "odd" || !strings.Contains(string(s.Parameters), "integer") || s.Source != m.settings.Command || s.SourceName != "odd" {
		t.Errorf("odd: %+v", s)
	}
}

// TestFilter: the block chooses by the server's own names.
func TestFilter(t *testing.T) {
	m := started(t, "plain", `"offered":["e*","fail"]`)
	var names []string
	for _, s := range m.Tools() {
		if !s.People {
			names = append(names, s.Name)
		}
	}
	if got := strings.Join(names, " "); got != "mcp__fake__echo mcp__fake__environment mcp__fake__fail" {
		t.Error(got)
	}
}

func TestResults(t *testing.T) {
	m := started(t, "plain")
	for _, c := range []struct {
		tool, arguments, output, structured string
		success                             bool
	}{
		{"echo", `{"a":[1]}`, `{"a":[1]}`, "", true},
		{"echo", `null`, `{}`, "", true},
		{"echo", ``, `{}`, "", true},
		{"fail", `{}`, `no such issue`, "", false},
		{"mixed", `{}`, "one\ntwo\n[image image/png, 3 bytes]\n[audio audio/wav, 5 bytes]\n[resource note://1]\na note\n[resource file://2 application/pdf, 3 bytes]\n[resource note://3] third", `{"n":3}`, true},
		{"odd", `{"n":2}`, "2 2ns", "", true},
	} {
		r, err := call(t, m, "mcp__fake__"+c.tool, c.arguments)
		if err != nil || r.Success != c.success || r.Output != c.output || string(r.Structured) != c.structured {
			t.Errorf("%s(%s) = %+v, %v", c.tool, c.arguments, r, err)
		}
		if !c.success && r.Error != c.output {
			t.Errorf("%s: error %q", c.tool, r.Error)
		}
	}
	r, _ := call(t, m, "mcp__fake__mixed", `{}`)
	if b, _ := json.Marshal(r.Metadata["media"]); !strings.Contains(string(b), `"data":"cG5n"`) {
		t.Errorf("media: %s", b)
	}
	if r, err := call(t, m, "mcp__fake__flood", `{}`); err != nil || !r.Truncated || len(r.Output) > mostText+8 {
		t.Errorf("flood: %d bytes, truncated %v, %v", len(r.Output), r.Truncated, err)
	}
	if _, err := call(t, m, "mcp__fake__refuse", `{}`); sdk.OutcomeOf(err) != sdk.Internal || !strings.Contains(err.Error(), "the MCP server fake refused the call of refuse:") || !strings.Contains(err.Error(), "not today") {
		t.Errorf("a call that the server refuses: %v", err)
	}
	if _, err := call(t, m, "mcp__fake__gone", `{}`); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a tool that is not there: %v", err)
	}
}

// TestProgress: how far a call is reaches the person.
func TestProgress(t *testing.T) {
	m := started(t, "plain")
	heard := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__steps", Arguments: []byte(`{}`), CallID: "s"}, hears(func(message string, fraction float64) {
			heard <- fmt.Sprint(message, fraction)
		}))
		done <- err
	}()
	for _, want := range []string{"step0.25", "step0.5", "step0.75", "step1"} {
		if got := <-heard; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	cancel()
	<-done
}

type hears func(message string, fraction float64)

func (hears) Chunk(int, []byte) error { return nil }
func (h hears) Progress(message string, fraction float64) error {
	h(message, fraction)
	return nil
}

// TestCancel: a call that is cancelled ends in the server too.
func TestCancel(t *testing.T) {
	m := started(t, "plain")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__wait", Arguments: []byte(`{}`), CallID: "w"}, &sdktest.Recorder{})
		done <- err
	}()
	says(t, m, "waiting")
	cancel()
	if err := <-done; err == nil {
		t.Error("a call that was cancelled has a result")
	}
	says(t, m, "cancelled")
}

// says waits until the server has printed the text.
func says(t *testing.T, m *mcpServer, text string) {
	t.Helper()
	for !strings.Contains(m.server.live().process.words.String(), text) {
		select {
		case <-t.Context().Done():
			t.Fatalf("the server never said %q", text)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestDies: the call that was under way says how the server ended, and the next one finds it
// again.
func TestDies(t *testing.T) {
	m := started(t, "plain")
	_, err := call(t, m, "mcp__fake__die", `{}`)
	if want := `failed: it ended with exit status 7; its last words: "fatal: out of luck"`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Errorf("outcome %s", sdk.OutcomeOf(err))
	}
	if r, err := call(t, m, "mcp__fake__echo", `{}`); err != nil || !r.Success {
		t.Errorf("after its death: %+v, %v", r, err)
	}
}

// TestChanges: many notices of one change are one change of the manifest.
func TestChanges(t *testing.T) {
	m := started(t, "plain")
	<-m.changed // what it began with
	if _, err := call(t, m, "mcp__fake__rename", `{}`); err != nil {
		t.Fatal(err)
	}
	<-m.changed
	var names []string
	for _, s := range m.Tools() {
		names = append(names, s.Name)
	}
	all := strings.Join(names, " ")
	if !strings.Contains(all, "new_0") || !strings.Contains(all, "new_2") || strings.Contains(all, "mixed") {
		t.Error(all)
	}
	if r, err := call(t, m, "mcp__fake__new_1", `{}`); err != nil || r.Output != "new" {
		t.Errorf("%+v, %v", r, err)
	}
	select {
	case <-m.changed:
		t.Error("one change is told twice")
	case <-time.After(3 * settledAfter):
	}
}

// TestFaultsAtStart: each server that cannot be used is one sentence.
func TestFaultsAtStart(t *testing.T) {
	for _, c := range []struct{ what, want string }{
		{"silent", "it did not answer within 100ms"},
		{"broken", `it ended with exit status 3; its last words: "cannot open my database"`},
		{"huge", "it sent a message of more than 16 MB"},
		{"garbage", "it sent a message that is no JSON"},
	} {
		t.Run(c.what, func(t *testing.T) {
			limit := `"timeout":"20s"`
			if c.what == "silent" {
				limit = `"timeout":"100ms"`
			}
			_, err := start(t, c.what, limit)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := configured(t, `{"command":"/nowhere/server"}`); err == nil || !strings.Contains(err.Error(), "the MCP server fake (/nowhere/server) failed: it could not be started") {
		t.Errorf("%v", err)
	}
}

// TestEnvironment: nothing of the user's environment reaches the server that was not given it.
func TestEnvironment(t *testing.T) {
	t.Setenv("CANARY_KEY", "canary")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("PLUGIN_UNIX_SOCKET_DIR", "/run/x") // the daemon finds by it what is left behind
	m := started(t, "plain")
	r, err := call(t, m, "mcp__fake__environment", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Output, "canary") || !strings.Contains(r.Output, "SERVER=plain") || !strings.Contains(r.Output, "LANG=C.UTF-8") || !strings.Contains(r.Output, "PLUGIN_UNIX_SOCKET_DIR=/run/x") {
		t.Error(r.Output)
	}
}

// TestHTTP: the protocol of today and the old one, with the headers of the block.
func TestHTTP(t *testing.T) {
	servers := map[string]http.Handler{
		"http": mcp.NewStreamableHTTPHandler(fakeFor, nil),
		"sse":  mcp.NewSSEHandler(fakeFor, nil),
	}
	for kind, handler := range servers {
		for _, transport := range []string{"", kind} {
			t.Run(kind+" "+transport, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") != "Bearer key" {
						http.Error(w, "who are you?", http.StatusUnauthorized)
						return
					}
					handler.ServeHTTP(w, r)
				}))
				t.Cleanup(srv.Close)
				t.Cleanup(srv.CloseClientConnections)
				m, err := configured(t, fmt.Sprintf(`{"url":%q, "transport":%q, "headers":{"Authorization":"Bearer key"}}`, srv.URL, transport))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(m.close)
				if r, err := call(t, m, "mcp__fake__echo", `{"a":1}`); err != nil || r.Output != `{"a":1}` {
					t.Errorf("%+v, %v", r, err)
				}
				if _, err := configured(t, fmt.Sprintf(`{"url":%q, "transport":%q}`, srv.URL, transport)); err == nil || !strings.HasSuffix(err.Error(), ") wants a login: `bothy mcp login fake`") {
					t.Errorf("without its key: %v", err)
				}
			})
		}
	}
}

func fakeFor(*http.Request) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, nil)
	offer(s)
	return s
}

// TestSampling: the server asks the run's model within its call, where the block lets it, in
// both eras of the protocol.
func TestSampling(t *testing.T) {
	ask := func(ctx context.Context, m *mcpServer) (sdk.ToolResult, error) {
		return m.Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__ask", Arguments: []byte(`{}`), CallID: "a", Run: "r"}, &sdktest.Recorder{})
	}
	for _, what := range []string{"plain", "legacy"} {
		t.Run(what, func(t *testing.T) {
			d := &sdktest.Daemon{Answer: func(context.Context, sdk.Request) (string, error) { return "hi there", nil }}
			m := started(t, what, `"sampling":true`)
			r, err := ask(host.WithCall(host.With(t.Context(), d), "a"), m)
			if err != nil || r.Output != "hi there" {
				t.Fatalf("%+v, %v", r, err)
			}
			req := d.Asked()[0]
			if len(req.Messages) != 2 || req.Messages[0].Text != "be brief" || req.Messages[1].Text != "hello" || req.MaxTokens != 10 || *req.Temperature != 0.5 || req.Model != "" {
				t.Errorf("%+v", req)
			}
			if _, err := ask(host.WithCall(host.With(t.Context(), &sdktest.Daemon{}), "a"), m); err == nil || !strings.Contains(err.Error(), "not granted") {
				t.Errorf("without the grant: %v", err)
			}
			if _, err := ask(host.With(t.Context(), d), started(t, what)); err == nil || len(d.Asked()) != 1 {
				t.Errorf("a server that may not ask: %v", err)
			}
			if what == "plain" {
				return // it asks within the answer to a call
			}
			end := m.calls.begin(t.Context(), sdk.Invocation{CallID: "other", Run: "other"}, &sdktest.Recorder{})
			defer end()
			if _, err := ask(host.WithCall(host.With(t.Context(), d), "a"), m); err == nil || !strings.Contains(err.Error(), "several runs") {
				t.Errorf("for two runs: %v", err)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`{}`, "it needs a command, or the url"},
		{`{"command":"a","url":"http://b"}`, "it has a command and a url"},
		{`{"url":"http://b","arguments":["a"]}`, "args, env and cwd are for a server with a command"},
		{`{"command":"a","headers":{"a":"b"}}`, "headers and transport are for a server with a url"},
		{`{"url":"ftp://b"}`, `the url "ftp://b" is none of http or https`},
		{`{"url":"http://b","transport":"carrier"}`, `the transport "carrier" is none`},
		{`{"command":"a","cwd":"b"}`, "it must be absolute"},
		{`{"command":"a","offered":["["]}`, "which is no pattern"},
		{`{"command":"a","timeout":"26s"}`, "can be 25s at most"},
	} {
		_, err := configured(t, c.config)
		if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", c.config, err)
		}
	}
}

func TestToolNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		server string
		tools  []string
		want   map[string]string
	}{
		{"gh", []string{"name"}, map[string]string{"name": "mcp__gh__name"}},
		{"gh", []string{"createIssue", "get-env"}, map[string]string{"createIssue": "mcp__gh__createissue", "get-env": "mcp__gh__get_env"}},
		{"my.server", []string{"a b"}, map[string]string{"a b": "mcp__my_server__a_b"}},
	} {
		got := toolNames(c.server, c.tools)
		for raw, want := range c.want {
			if got[raw] != want {
				t.Errorf("%s of %s is %s, not %s", raw, c.server, got[raw], want)
			}
		}
	}
	names := toolNames("gh", []string{"read-only", "read_only", long + "1", long + "2", "é", "ü"})
	seen := map[string]bool{}
	for raw, name := range names {
		if len(name) > longest || seen[name] || clean(name) != name {
			t.Errorf("%s is %s", raw, name)
		}
		seen[name] = true
	}
	// A tool that has for its name what another would get by a digest.
	first := strings.TrimPrefix(names["read-only"], "mcp__gh__")
	tools := []string{"read-only", "read_only", first}
	second := strings.TrimPrefix(toolNames("gh", tools)["read-only"], "mcp__gh__")
	if second == first {
		t.Fatalf("two tools are named %s", first)
	}
	tools = append(tools, second)
	seen = map[string]bool{}
	for raw, name := range toolNames("gh", tools) {
		if seen[name] || len(name) > longest {
			t.Errorf("%s is %s", raw, name)
		}
		seen[name] = true
	}
	if !seen["mcp__gh__"+first] || !seen["mcp__gh__"+second] {
		t.Errorf("a name of its own is taken away: %v", seen)
	}
	if again := toolNames("gh", []string{"read_only", "read-only"}); again["read-only"] != names["read-only"] {
		t.Error("the order of the list changes a name")
	}
}

// TestUndecodable: an answer that cannot be read is the failure of its call, and of no other
// that the same server works on.
func TestUndecodable(t *testing.T) {
	m := started(t, "undecodable")
	c := m.server.live()
	waits := make(chan error, 1)
	go func() {
		r, err := call(t, m, "mcp__fake__wait", `{}`)
		if err == nil && r.Output != "waited" {
			err = fmt.Errorf("%+v", r)
		}
		waits <- err
	}()
	says(t, m, "waiting")
	for range 3 {
		if _, err := call(t, m, "mcp__fake__echo", `{}`); sdk.OutcomeOf(err) != sdk.Internal || !strings.Contains(err.Error(), "the MCP server fake answered the call of echo with what cannot be read") {
			t.Errorf("%v", err)
		}
	}
	if _, err := call(t, m, "mcp__fake__release", `{}`); err != nil {
		t.Error(err)
	}
	if err := <-waits; err != nil {
		t.Error(err)
	}
	if m.server.live() != c {
		t.Error("the server was started anew")
	}
}

// TestSilentDiscovery: a server that leaves the question of the protocol of today unanswered is
// asked as those of before are.
func TestSilentDiscovery(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer("fake", settings{Command: program, Env: map[string]string{"SERVER": "mute"}, Timeout: 25 * time.Second}, nil, newMCP().log)
	s.discover = 20 * time.Millisecond
	t.Cleanup(s.close)
	c, err := s.use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := c.InitializeResult().ProtocolVersion; v != "2025-06-18" {
		t.Errorf("it speaks %s", v)
	}
}

// TestBare: a server that says nothing of what it can do has no tools, but what tells that.
func TestBare(t *testing.T) {
	if m := started(t, "bare"); len(m.Tools()) != 1 || m.Tools()[0].Name != sdk.MCPAbout("fake") {
		t.Errorf("%v", m.Tools())
	}
}

// TestDying: what a server says as it dies does not start it.
func TestDying(t *testing.T) {
	m := started(t, "dying")
	if _, err := call(t, m, "mcp__fake__echo", `{}`); err == nil || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("%v", err)
	}
	m.settle() // as though it came late
	time.Sleep(3 * settledAfter)
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	if m.server.made != 1 || m.server.making != nil {
		t.Errorf("%d connections were made", m.server.made)
	}
}

// TestHangs: while a connection hangs, calls heed their deadlines, and the plugin ends.
func TestHangs(t *testing.T) {
	m := started(t, "once:"+t.TempDir()+"/mark")
	if _, err := call(t, m, "mcp__fake__die", `{}`); err == nil {
		t.Fatal("it lives")
	}
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := m.Invoke(ctx, sdk.Invocation{Tool: "mcp__fake__echo", CallID: "c"}, &sdktest.Recorder{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	waits := make(chan error, 1)
	go func() {
		_, err := call(t, m, "mcp__fake__echo", `{}`)
		waits <- err
	}()
	m.close()
	if err := <-waits; sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "has been ended") {
		t.Errorf("%v", err)
	}
	if _, err := call(t, m, "mcp__fake__echo", `{}`); err == nil || !strings.Contains(err.Error(), "has been ended") {
		t.Errorf("after the end: %v", err)
	}
}

// TestCloseWhileItWorks: a call that the server does not answer does not keep it alive.
func TestCloseWhileItWorks(t *testing.T) {
	m := started(t, "plain")
	c := m.server.live()
	done := make(chan error, 1)
	go func() {
		_, err := call(t, m, "mcp__fake__wait", `{}`)
		done <- err
	}()
	says(t, m, "waiting")
	m.close()
	select {
	case <-c.process.waited:
	default:
		t.Error("its program runs on")
	}
	if err := <-done; err == nil {
		t.Error("a call of a server that was ended has a result")
	}
}

// TestRenewed: a server that comes back with other tools offers those.
func TestRenewed(t *testing.T) {
	m := started(t, "more:"+t.TempDir()+"/mark")
	<-m.changed
	_, _ = call(t, m, "mcp__fake__die", `{}`)
	if _, err := call(t, m, "mcp__fake__echo", `{}`); err != nil {
		t.Fatal(err)
	}
	<-m.changed
	if !slices.ContainsFunc(m.Tools(), func(s sdk.ToolSpec) bool { return s.Name == "mcp__fake__later" }) {
		t.Errorf("%v", m.Tools())
	}
}

// TestTooLarge: schemas beyond the bounds are left out.
func TestTooLarge(t *testing.T) {
	m := newMCP()
	m.settings.Command = "x"
	m.server = newServer("fake", m.settings, nil, m.log)
	schema := func(n int) any { return map[string]any{"type": "object", "description": strings.Repeat("a", n)} }
	found := []*mcp.Tool{{Name: "a-small", InputSchema: schema(1)}, {Name: "b-large", InputSchema: schema(mostSchema)}}
	for i := range 100 {
		found = append(found, &mcp.Tool{Name: fmt.Sprintf("c%02d", i), InputSchema: schema(60 << 10)})
	}
	specs, raw := m.specs(found)
	size := 0
	for _, s := range specs {
		size += len(s.Description) + len(s.Parameters)
	}
	if len(specs) != len(raw) || len(specs) < 60 || len(specs) > 70 || size > mostOffered || raw["mcp__fake__a_small"] == "" || raw["mcp__fake__b_large"] != "" {
		t.Errorf("%d tools, %d bytes", len(specs), size)
	}
}

// TestSecretsOfURL: headers go to the host of the block alone, and no error has more of the
// URL than that host.
func TestSecretsOfURL(t *testing.T) {
	var mu sync.Mutex
	var reached []http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		reached = append(reached, r.Header.Clone())
		mu.Unlock()
		http.Error(w, "no", http.StatusTeapot)
	}))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			t.Error("the server of the block gets no header")
		}
		http.Redirect(w, r, other.URL+"/hidden", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(first.Close)
	for _, transport := range []string{"http", "sse", ""} {
		for _, at := range []string{first.URL, "http://127.0.0.1:1"} {
			_, err := configured(t, fmt.Sprintf(`{"url":%q, "transport":%q, "headers":{"Authorization":"Bearer key"}}`, at+"/hidden?key=hidden", transport))
			if err == nil || strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), at) {
				t.Errorf("%v", err)
			}
		}
	}
	if len(reached) == 0 {
		t.Error("the redirect was not followed")
	}
	for _, h := range reached {
		if h.Get("Authorization") != "" || h.Get("Referer") != "" {
			t.Errorf("the other host is told %v", h)
		}
	}
	for _, c := range []struct{ in, want string }{
		{`connection closed: calling "tools/call": client is closing: EOF`, "EOF"},
		{`Post "https://me:pw@a.example:1/b?c=d": refused`, `Post "https://a.example:1": refused`},
	} {
		if got := sentence(errors.New(c.in)); got != c.want {
			t.Errorf("%s is %s", c.in, got)
		}
	}
}

// TestBatches: a line that begins with [ is a message where a { follows.
func TestBatches(t *testing.T) {
	in := "[info] ready\n[\n[]\n[ {\"jsonrpc\":1} ]\n{\"jsonrpc\":2}\n"
	var over atomic.Bool
	got, err := io.ReadAll(&messages{from: bufio.NewReader(strings.NewReader(in)), log: newMCP().log, ended: &over})
	if want := "[ {\"jsonrpc\":1} ]\n{\"jsonrpc\":2}\n"; err != nil || string(got) != want || !over.Load() {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNoise: what is no message is left out, a log that is JSON too; one that prints nothing
// else without end is given up.
func TestNoise(t *testing.T) {
	var over atomic.Bool
	read := func(in io.Reader) (string, error) {
		b, err := io.ReadAll(&messages{from: bufio.NewReader(in), log: newMCP().log, ended: &over})
		return string(b), err
	}
	message := `{"jsonrpc":"2.0","method":"x"}` + "\n"
	if got, err := read(strings.NewReader(`{"level":"info","msg":"ready"}` + "\n\n" + message)); got != message || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := read(strings.NewReader(`{"level":` + "\n" + message)); got != "" || err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Errorf("%q, %v", got, err)
	}
	half := strings.Repeat("noise ", mostNoise/9)
	if got, err := read(strings.NewReader(half + "\n" + message + half + "\n" + message)); got != message+message || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for name, in := range map[string]string{"one line": half + half, "lines": half + "\n\n" + half + "\n"} {
		if got, err := read(strings.NewReader(in)); got != "" || err == nil || err.Error() != "it printed more than 64 MB that are no message" {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestSettle: a server whose tools change again and again is asked for them less and less often.
func TestSettle(t *testing.T) {
	m := newMCP()
	m.server = newServer("fake", m.settings, nil, m.log) // which has no connection
	var pauses []time.Duration
	for range 12 {
		m.settle()
		m.timer.Stop()
		pauses = append(pauses, m.pause)
		m.relist()
	}
	if pauses[0] != settledAfter || pauses[1] != 2*settledAfter || pauses[11] != mostPause {
		t.Errorf("%v", pauses)
	}
	m.last = m.last.Add(-11 * mostPause)
	m.settle()
	m.timer.Stop()
	if m.pause != settledAfter {
		t.Errorf("after a rest: %v", m.pause)
	}
}

// TestLargeAnswer: what a server answers by HTTP is bounded.
func TestLargeAnswer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Repeat(" ", 100<<20))
	}))
	t.Cleanup(srv.Close)
	if _, err := configured(t, fmt.Sprintf(`{"url":%q, "transport":"http"}`, srv.URL)); err == nil || !strings.HasSuffix(err.Error(), "failed: it sent a message of more than 16 MB") {
		t.Errorf("%v", err)
	}
}

// TestOneList: a list waits for the one before it, and heeds its deadline.
func TestOneList(t *testing.T) {
	m := started(t, "plain")
	m.listing <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := m.list(ctx, m.server.live()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	<-m.listing
	if err := m.list(t.Context(), m.server.live()); err != nil {
		t.Error(err)
	}
}
