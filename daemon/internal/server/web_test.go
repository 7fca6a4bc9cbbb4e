package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// openWeb is open with a listener for WebSockets.
func openWeb(t *testing.T, change func(*Config)) *house {
	t.Helper()
	return openListening(t, change, func(l *Listener) error { return l.ListenWeb(context.Background(), "127.0.0.1:0") })
}

// plain is a client that knows JSON and WebSockets, and nothing of package client.
type plain struct {
	t  *testing.T
	ws *websocket.Conn
	id int
}

// begin opens a WebSocket with the token of a role.
func (h *house) begin(t *testing.T, role rpc.Role) *plain {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+h.listener.Web()+"/?token="+h.token(t, role), nil) //nolint:bodyclose // of a connection that was taken over
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &plain{t: t, ws: ws}
}

func (p *plain) send(text string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plain) next() (map[string]any, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	_, text, err := p.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if bytes.HasPrefix(text, []byte("[")) { // the answer to a batch
		return m, nil
	}
	return m, json.Unmarshal(text, &m)
}

// hears returns the next notification of a name.
func (p *plain) hears(name string) map[string]any {
	p.t.Helper()
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", name, err)
		}
		if m["method"] == name {
			return m["params"].(map[string]any)
		}
	}
}

// call sends a request and returns its answer, what else comes before it is passed over.
func (p *plain) call(method, params string) map[string]any {
	p.t.Helper()
	p.id++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, params))
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("waiting for the answer to %s: %v", method, err)
		}
		if m["id"] == float64(p.id) {
			return m
		}
	}
}

// TestWebSocket: with plain JSON and a token from its file somebody is greeted, gives a prompt and
// follows it.
func TestWebSocket(t *testing.T) {
	h := openWeb(t, nil)
	p := h.begin(t, rpc.RoleSubmit)
	if m, err := p.next(); err != nil || m["method"] != "rummy/hello" || m["params"].(map[string]any)["rummyVersion"] != rpc.RummyVersion {
		t.Fatalf("the first message is %v, %v", m, err)
	}
	if m := p.hears("hello"); m["role"] != "submit" {
		t.Errorf("the greeting is %v", m)
	}
	if m := p.call("act", `{"project":"/p/one","prompt":"go"}`); m["result"].(map[string]any)["run"] != "seven" {
		t.Errorf("act: %v", m)
	}
	if m := p.call("journal/watch", `{"run":"7","after":0}`); m["error"] != nil {
		t.Fatalf("watch: %v", m)
	}
	h.store.commit(sdk.JournalRow{Kind: "a", Run: 7, Project: 1})
	if m := p.hears("journal/row"); m["row"].(map[string]any)["seq"] != float64(1) {
		t.Errorf("the row is %v", m)
	}
	if m := p.call("config/reload", `{}`); m["error"] == nil {
		t.Errorf("submit may reload: %v", m)
	}
	if m := p.call("hello", fmt.Sprintf(`{"client":"plain","protocol":"2.0","token":%q}`, h.token(t, rpc.RoleAdmin))); m["result"].(map[string]any)["role"] != "admin" {
		t.Errorf("hello with another token: %v", m)
	}
	if n := h.connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
	if err := p.ws.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	eventually(t, "the connection is gone", func() bool { return h.connections() == 0 })
}

// TestWebSocketOfTheStop: the end of the daemon is told, and is the end of the connection.
func TestWebSocketOfTheStop(t *testing.T) {
	h := openWeb(t, nil)
	p := h.begin(t, rpc.RoleSubmit)
	p.hears("hello")
	h.Farewell()
	p.hears("daemon/stopping")
	go h.Close(context.Background())
	for {
		if _, err := p.next(); err != nil {
			if websocket.CloseStatus(err) != websocket.StatusGoingAway {
				t.Errorf("it ended with %v", err)
			}
			return
		}
	}
}

// TestWebRoles: the file of the token decides what a connection may do.
// spec: wrong_open_socket wrong_accepting
func TestWebRoles(t *testing.T) {
	h := openWeb(t, nil)
	for role, may := range map[rpc.Role][3]bool{rpc.RoleSubmit: {true, false, false}, rpc.RoleApprove: {true, true, false}, rpc.RoleAdmin: {true, true, true}} {
		p := h.begin(t, role)
		for i, call := range [3][2]string{{"act", `{"project":"/p/one","prompt":"x"}`}, {"act", `{"project":"/p/one","prompt":"x","permission_mode":"full"}`}, {"config/reload", `{}`}} {
			if m := p.call(call[0], call[1]); (m["error"] == nil) != may[i] {
				t.Errorf("%s, %s: %v", role, call, m)
			}
		}
		status, m := h.post(t, role, `{"jsonrpc":"2.0","id":0,"method":"config/reload"}`)
		if status != http.StatusOK || (m["error"] == nil) != may[2] || m["id"] != float64(0) {
			t.Errorf("%s by POST: %d, %v", role, status, m)
		}
	}
}

// post sends one message by POST.
func (h *house) post(t *testing.T, role rpc.Role, text string) (int, map[string]any) {
	t.Helper()
	status, body := h.request(t, http.MethodPost, text, map[string]string{"Authorization": "Bearer " + h.token(t, role), "Content-Type": "application/json"})
	var m map[string]any
	if len(body) > 0 {
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
	}
	return status, m
}

func (h *house) request(t *testing.T, method, body string, headers map[string]string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.listener.Web()+"/"+headers["query"], strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	if headers["Host"] != "" {
		r.Host = headers["Host"]
	}
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

// TestWebRefusals: who shows no token, or comes from elsewhere, is told nothing, and nothing is done.
// spec: wrong_open_socket
func TestWebRefusals(t *testing.T) {
	h := openWeb(t, func(c *Config) { c.Limits.WrongToken = time.Millisecond })
	bearer := "Bearer " + h.token(t, rpc.RoleAdmin)
	const act = `{"jsonrpc":"2.0","id":1,"method":"act","params":{"project":"/p/one","prompt":"x"}}`
	for name, c := range map[string]struct {
		method  string
		headers map[string]string
		want    int
	}{
		"no token":             {"POST", nil, 401},
		"wrong token":          {"POST", map[string]string{"Authorization": bearer + "0"}, 401},
		"empty token":          {"POST", map[string]string{"Authorization": "Bearer ", "query": "?token="}, 401},
		"token in a cookie":    {"POST", map[string]string{"Cookie": "token=" + bearer}, 401},
		"a page of elsewhere":  {"POST", map[string]string{"Authorization": bearer, "Origin": "http://example.com"}, 403},
		"a page without name":  {"POST", map[string]string{"Authorization": bearer, "Origin": "null"}, 403},
		"a name from outside":  {"POST", map[string]string{"Authorization": bearer, "Host": "example.com"}, 403},
		"what a form sends":    {"POST", map[string]string{"Authorization": bearer, "Content-Type": "text/plain"}, 415},
		"GET":                  {"GET", map[string]string{"Authorization": bearer}, 426},
		"GET without a token":  {"GET", nil, 401},
		"OPTIONS":              {"OPTIONS", map[string]string{"Authorization": bearer}, 405},
		"PUT":                  {"PUT", map[string]string{"Authorization": bearer}, 405},
		"a WebSocket with one": {"GET", map[string]string{"Authorization": bearer, "Origin": "https://example.com", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}, 403},
	} {
		if c.headers["Content-Type"] == "" && c.headers != nil {
			c.headers["Content-Type"] = "application/json"
		}
		status, body := h.request(t, c.method, act, c.headers)
		if status != c.want || bytes.Contains(body, []byte(strings.TrimPrefix(bearer, "Bearer "))) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if n := len(h.engine.prompts); n != 0 {
		t.Errorf("%d prompts were taken", n)
	}
	if status, m := h.post(t, rpc.RoleSubmit, act); status != 200 || m["result"] == nil {
		t.Errorf("the same with a token: %d %v", status, m)
	}
}

// TestPost: one message, or a batch, is answered; what needs a connection is refused.
func TestPost(t *testing.T) {
	h := openWeb(t, func(c *Config) { c.Limits.Frame = 4096 })
	headers := map[string]string{"query": "?token=" + h.token(t, rpc.RoleApprove), "Content-Type": "application/json; charset=utf-8"}
	for _, c := range []struct {
		text string
		want int
		says string
	}{
		{`{"jsonrpc":"2.0","id":"a","method":"ping"}`, 200, `{"jsonrpc":"2.0","id":"a","result":{}}` + "\n"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","id":2,"method":"nope"}]`, 200, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":`},
		{"\r\n\t " + `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 200, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{`{"jsonrpc":"2.0","method":"ping"}`, 204, ""},
		{"", 204, ""},
		{`{`, 200, `"code":-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"journal/watch"}`, 200, "a WebSocket"},
		{`{"jsonrpc":"2.0","id":1,"method":"run/lend","params":{"run":"7"}}`, 200, "a WebSocket"},
		{`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"c","protocol":"9.0"}}`, 200, "9.0"},
		{strings.Repeat(" ", 5000), 413, "longer than 4096"},
		{strings.Repeat("[", 70) + strings.Repeat("]", 70), 200, "deeper than 64"},
	} {
		status, body := h.request(t, http.MethodPost, c.text, headers)
		if status != c.want || !strings.Contains(string(body), c.says) {
			t.Errorf("%.60s: %d %s", c.text, status, body)
		}
	}
	eventually(t, "no connection is left", func() bool { return h.connections() == 0 })
}

// TestPostGivenUp: a client that goes cancels what it asked for.
func TestPostGivenUp(t *testing.T) {
	h := openWeb(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	h.engine.tool = func(work context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		cancel()
		<-work.Done()
		close(ended)
		return rpc.ToolDone{}, work.Err()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.listener.Web()+"/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"project":"/p","tool":"x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token(t, rpc.RoleSubmit))
	r.Header.Set("Content-Type", "application/json")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		_ = answer.Body.Close()
		t.Error("it was answered")
	}
	<-ended
}

// TestWebFrames: what a WebSocket may bring is bounded, and the client is told.
func TestWebFrames(t *testing.T) {
	for name, c := range map[string]struct {
		kind   websocket.MessageType
		text   string
		says   string
		status websocket.StatusCode
	}{
		"long":  {websocket.MessageText, strings.Repeat("x", 3000), "longer than 2048", websocket.StatusMessageTooBig},
		"bytes": {websocket.MessageBinary, ping, "is a text", websocket.StatusUnsupportedData},
	} {
		t.Run(name, func(t *testing.T) {
			h := openWeb(t, func(c *Config) { c.Limits.Frame = 2048 })
			p := h.begin(t, rpc.RoleSubmit)
			if err := p.ws.Write(t.Context(), c.kind, []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			told := false
			for {
				m, err := p.next()
				if err != nil {
					if websocket.CloseStatus(err) != c.status || !told {
						t.Errorf("it ended with %v, told: %v", err, told)
					}
					break
				}
				told = told || m["error"] != nil && strings.Contains(fmt.Sprint(m["error"]), c.says)
			}
			eventually(t, "the connection is gone", func() bool { return h.connections() == 0 })
		})
	}
}

// TestWebPartial: a message that does not come to its end ends the connection.
func TestWebPartial(t *testing.T) {
	h := openWeb(t, func(c *Config) { c.Limits.Partial = 20 * time.Millisecond })
	p := h.begin(t, rpc.RoleSubmit)
	w, err := p.ws.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte(" "), 64<<10)); err != nil { // more than what is kept back
		t.Fatal(err)
	}
	eventually(t, "the connection is gone", func() bool { return h.connections() == 0 })
}

// TestWebStrangers: a process of another user, or one that descends from a plugin, is not served,
// whatever token it shows; and a process that nobody finds is not either.
func TestWebStrangers(t *testing.T) {
	for name, c := range map[string]struct {
		uid     int
		pids    []int
		descend int
	}{
		"another user":       {4242, []int{77}, 0},
		"a plugin's child":   {-1, []int{5, 77}, 77},
		"nobody can be seen": {-1, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := openWeb(t, func(cfg *Config) {
				cfg.WebUser = func(nc net.Conn) (int, bool, error) {
					if c.uid >= 0 {
						return c.uid, true, nil
					}
					return userOf(nc)
				}
				cfg.WebPeers = func(net.Conn) ([]int, bool, error) { return c.pids, true, nil }
				cfg.Descended = func(pid int) bool { return pid == c.descend }
			})
			for _, role := range []rpc.Role{rpc.RoleSubmit, rpc.RoleAdmin} {
				if _, answer, err := websocket.Dial(t.Context(), "ws://"+h.listener.Web()+"/?token="+h.token(t, role), nil); err == nil || answer != nil && answer.StatusCode != 403 {
					t.Errorf("with the token of %s: %v", role, err)
				}
			}
		})
	}
}

// TestWebPeer: the kernel says which process is at the other end.
func TestWebPeer(t *testing.T) {
	asked := make(chan int, 1)
	h := openWeb(t, func(cfg *Config) {
		cfg.Descended = func(pid int) bool { asked <- pid; return false }
	})
	if status, m := h.post(t, rpc.RoleSubmit, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 200 {
		t.Fatalf("%d %v", status, m)
	}
	wantOwnPID(t, <-asked)
}

// TestWebConnections: as many as there are places, those of WebSockets among them.
func TestWebConnections(t *testing.T) {
	h := openWeb(t, func(c *Config) { c.Limits.Connections = 2 })
	first := h.begin(t, rpc.RoleAdmin)
	first.call("ping", "{}")
	second := h.begin(t, rpc.RoleAdmin)
	second.call("ping", "{}")
	for range reserved {
		h.begin(t, rpc.RoleAdmin).call("ping", "{}")
	}
	p := h.begin(t, rpc.RoleAdmin)
	if m, err := p.next(); err != nil || m["error"] == nil {
		t.Errorf("one too many hears %v, %v", m, err)
	}
}

// TestChannelOnTheWeb: a plugin that is served as a channel has what the Unix socket gives it, and no
// token gives it more.
func TestChannelOnTheWeb(t *testing.T) {
	channels, audit := NewChannels(), &fakeAudit{}
	token, end := channels.Grant(Loan{PID: front, Instance: "chat", Projects: []string{"/p/one"}})
	h := openWeb(t, func(c *Config) {
		c.Audit, c.Channels, c.Limits.WrongToken = audit, channels, time.Millisecond
		c.WebPeers = func(net.Conn) ([]int, bool, error) { return []int{front + 1}, true, nil }
		c.People = fakePeople{"chat/ada": {}}
		c.Descended = func(int) bool { return true }
		c.Within = func(_, ancestor int) bool { return ancestor == front }
	})
	ask := func(token, call string) (int, string) {
		status, text := h.request(t, http.MethodPost, call, map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"})
		return status, string(text)
	}
	for call, says := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"act","params":{"project":"/p/one","prompt":"x","from":{"person":"ada"}}}`:                                                                                `"result"`,
		`{"jsonrpc":"2.0","id":1,"method":"act","params":{"project":"/p/two","prompt":"x"}}`:                                                                                                        "no project of this channel",
		`{"jsonrpc":"2.0","id":1,"method":"config/reload"}`:                                                                                                                                         "role admin",
		fmt.Sprintf(`[{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"c","protocol":"2.0","token":%q}},{"jsonrpc":"2.0","id":2,"method":"config/reload"}]`, h.token(t, rpc.RoleAdmin)): "never has the roles",
	} {
		if status, text := ask(token, call); status != 200 || !strings.Contains(text, says) {
			t.Errorf("%s: %d %s", call, status, text)
		}
	}
	for _, other := range []string{h.token(t, rpc.RoleSubmit), h.token(t, rpc.RoleAdmin), "0" + token} {
		if status, text := ask(other, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 401 {
			t.Errorf("with another token: %d %s", status, text)
		}
	}
	end()
	if status, text := ask(token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 403 {
		t.Errorf("when it is served no more: %d %s", status, text)
	}
}
