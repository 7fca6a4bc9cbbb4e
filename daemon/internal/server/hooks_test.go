package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// listener subscribes to all that the server tells of, as a plugin does.
type listener struct {
	mu     sync.Mutex
	heard  []sdk.SocketRequest
	names  []string
	closed bool
	refuse func(name string, x sdk.SocketRequest) bool
}

// socketHooks are the names of the catalogue that the server tells of.
func socketHooks() (names []string) {
	for _, p := range sdk.Hooks() {
		if strings.HasPrefix(p.Name, "rpc.") || strings.HasPrefix(p.Name, "socket.") {
			names = append(names, p.Name)
		}
	}
	return names
}

func (l *listener) Subscriptions() (subs []sdk.Subscription) {
	for _, name := range socketHooks() {
		sub := sdk.Subscription{Name: name}
		if p, _ := sdk.FindHook(name); p.Kind == sdk.HookFilter && l.closed {
			sub.Failure = sdk.FailClosed
		}
		subs = append(subs, sub)
	}
	return subs
}

func (l *listener) hear(name string, raw json.RawMessage) (x sdk.SocketRequest, err error) {
	err = json.Unmarshal(raw, &x)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard, l.names = append(l.heard, x), append(l.names, name)
	return x, err
}

func (l *listener) Event(_ context.Context, name string, raw json.RawMessage) error {
	_, err := l.hear(name, raw)
	return err
}

func (l *listener) Filter(_ context.Context, name string, raw json.RawMessage) (json.RawMessage, error) {
	x, err := l.hear(name, raw)
	if err == nil && l.refuse != nil && l.refuse(name, x) {
		err = sdk.Errorf(sdk.Permission, "not today")
	}
	x.Method, x.Params, x.Result, x.Raw = "status", json.RawMessage(`{"run":"9"}`), json.RawMessage(`"another"`), "another"
	text, wrong := json.Marshal(x)
	return text, errors.Join(err, wrong)
}

// of are what came under a name, of a method.
func (l *listener) of(name, method string) (all []sdk.SocketRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range l.heard {
		if l.names[i] == name && x.Method == method {
			all = append(all, x)
		}
	}
	return all
}

func openHeard(t *testing.T, l *listener, change func(*Config)) *house {
	t.Helper()
	chains := hook.New(hclog.NewNullLogger())
	if _, err := chains.Subscribe("listener", l); err != nil {
		t.Fatal(err)
	}
	return openWeb(t, func(c *Config) {
		c.Hooks = chains
		if change != nil {
			change(c)
		}
	})
}

// TestEveryHookOfTheSocket: each name that the server tells of comes to who subscribes to it, and what a filter makes
// of a request, or of an answer, changes neither.
func TestEveryHookOfTheSocket(t *testing.T) {
	l := &listener{}
	h := openHeard(t, l, nil)
	p := h.begin(t, rpc.RoleSubmit)
	p.call("init", `{"projectRoot":"/p/one"}`)
	if m := p.call("getRun", `{"run":"seven"}`); m["result"].(map[string]any)["id"] != 7.0 {
		t.Errorf("getRun answers %v", m)
	}
	if m := p.call("getRun", `{"run":"nobody"}`); m["error"] == nil {
		t.Errorf("getRun answers %v", m)
	}
	eventually(t, "the failure is told", func() bool { return len(l.of("rpc.error", "getRun")) == 1 })
	l.mu.Lock()
	for _, name := range socketHooks() {
		if !slices.Contains(l.names, name) {
			t.Errorf("%s never came", name)
		}
	}
	l.mu.Unlock()
	if x := l.of("rpc.request", "getRun")[0]; x.Project != 1 || string(x.Params) != `{"run":"seven"}` || string(x.ID) != "2" {
		t.Errorf("a request is told as %+v", x)
	}
	if x := l.of("rpc.completed", "getRun"); len(x) != 1 || !strings.Contains(string(x[0].Result), `"run":"seven"`) {
		t.Errorf("its end is told as %+v", x)
	}
	if x := l.of("rpc.error", "getRun")[0]; !strings.Contains(x.Error, "nobody") || x.Result != nil {
		t.Errorf("a failure is told as %+v", x)
	}
	if x := l.of("socket.message.raw", ""); len(x) != 3 || x[1].Raw != `{"jsonrpc":"2.0","id":2,"method":"getRun","params":{"run":"seven"}}` {
		t.Errorf("messages are told as %+v", x)
	}
}

// TestRefusingHooks: a closed filter that fails refuses what was asked, or keeps the answer back; none stands between a
// person and what needs a token, and what finds out how things are.
func TestRefusingHooks(t *testing.T) {
	for _, name := range []string{"socket.message.raw", "rpc.request", "rpc.response.result"} {
		for _, closed := range []bool{true, false} {
			l := &listener{closed: closed, refuse: func(of string, _ sdk.SocketRequest) bool { return of == name }}
			h := openHeard(t, l, func(c *Config) { c.Policy = &fakePolicy{open: []sdk.Proposal{{ID: "0001", Run: 7}}} })
			p := h.begin(t, rpc.RoleAdmin)
			m := p.call("act", `{"project":"/p/one","prompt":"x"}`)
			if refused := m["error"] != nil; refused != closed || closed && !strings.Contains(fmt.Sprint(m["error"]), "not today") {
				t.Errorf("%s, closed %v: %v", name, closed, m)
			}
			if n, want := len(h.engine.prompts), name == "rpc.response.result" || !closed; (n == 1) != want {
				t.Errorf("%s, closed %v: %d prompts", name, closed, n)
			}
			for _, call := range [][2]string{{"ping", `{}`}, {"discover", `{}`}, {"status", `{}`}, {"config/reload", `{}`}, {"proposals/list", `{}`}, {"proposals/get", `{"id":"0001"}`}, {"proposals/resolve", `{"id":"0001","hash":"x","answer":"accept"}`}, {"hello", `{"client":"c","protocol":"2.0"}`}} {
				if m := p.call(call[0], call[1]); m["error"] != nil {
					t.Errorf("%s, closed %v, %s: %v", name, closed, call[0], m)
				}
			}
			if closed { // what wants no answer has none
				p.send(`{"jsonrpc":"2.0","method":"act","params":{"project":"/p/one","prompt":"y"}}`)
				p.send(`[{"jsonrpc":"2.0","method":"act","params":{"project":"/p/one","prompt":"y"}},{"jsonrpc":"2.0","id":"b","method":"getRuns"}]`)
				if m := p.call("ping", `{}`); m["error"] != nil {
					t.Error(m)
				}
			}
		}
	}
}

// TestHooksHearNoSecrets: neither tokens nor keys, whatever they are given to, and of all else what fits.
func TestHooksHearNoSecrets(t *testing.T) {
	l := &listener{}
	const known, fresh = "known-secret-0123456789", "fresh-secret-0123456789"
	h := openHeard(t, l, func(c *Config) {
		c.Redact = func(text json.RawMessage) json.RawMessage {
			return json.RawMessage(strings.ReplaceAll(string(text), known, "hidden"))
		}
		c.Limits.WrongToken = 1
	})
	p := h.begin(t, rpc.RoleAdmin)
	for _, call := range [][2]string{
		{"hello", `{"client":"c","protocol":"2.0","token":"` + fresh + `"}`},
		{"auth/login", `{"of":"x","key":"` + fresh + `"}`}, {"auth/give", `{"keys":{"X":"` + fresh + `"}}`}, {"auth/logout", `{"of":"` + fresh + `"}`},
		{"run/lend", `{"run":"7","servers":[{"name":"s","command":"c","env":{"K":"` + fresh + `"}}]}`}, {"buffer/give", `{"id":1,"text":"` + fresh + `"}`},
		{"act", `{"project":"/p/one","prompt":"` + known + `"}`}, {"getRun", `{"run":"` + known + `"}`},
	} {
		p.call(call[0], call[1])
	}
	p.send(`[{"jsonrpc":"2.0","id":"a","method":"getRuns"},{"jsonrpc":"2.0","id":"b","method":"auth/give","params":{"keys":{"X":"` + fresh + `"}}}]`)
	long := strings.Repeat("long ", 100_000)
	p.call("act", `{"project":"/p/one","prompt":"`+long+`"}`)
	p.call("getRun", `{"run":"`+long+`"}`)
	eventually(t, "all is told", func() bool { return len(l.of("rpc.error", "getRun")) == 2 })
	l.mu.Lock()
	heard, names := slices.Clone(l.heard), slices.Clone(l.names)
	l.mu.Unlock()
	for i, x := range heard {
		text, err := json.Marshal(x)
		if err != nil || len(text) > 3*toldBytes || strings.Contains(string(text), fresh) || strings.Contains(string(text), known) {
			t.Errorf("%s is told of %s with %d bytes: %.300s", names[i], x.Method, len(text), text)
		}
	}
	if x := l.of("rpc.request", "act")[1]; x.Params != nil || x.Left < len(long) {
		t.Errorf("a long prompt is told with %d bytes, and %d are left out", len(x.Params), x.Left)
	}
	if len(l.of("rpc.started", "auth/give")) != 2 {
		t.Error("that keys are given is not told")
	}
}

// TestSecretiveMethods: a parameter that by its name may hold what nobody must see is of a method of which plugins
// are told no parameters.
func TestSecretiveMethods(t *testing.T) {
	secret := regexp.MustCompile(`(?i)token|key|secret|password|env|header|credential`)
	var find func(method string, x reflect.Type, seen map[reflect.Type]bool)
	find = func(method string, x reflect.Type, seen map[reflect.Type]bool) {
		for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice || x.Kind() == reflect.Map {
			x = x.Elem()
		}
		if x.Kind() != reflect.Struct || seen[x] {
			return
		}
		seen[x] = true
		for _, f := range reflect.VisibleFields(x) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			oneOfAPrompt := name == "key" && slices.Contains([]string{"ask", "act", "run/inject"}, method)
			if secret.MatchString(name) && !secretive(method) && !oneOfAPrompt {
				t.Errorf("%s takes %s", method, name)
			}
			find(method, f.Type, seen)
		}
	}
	h := open(t, nil)
	for name, m := range h.methods {
		find(name, m.params, map[reflect.Type]bool{})
	}
}

// TestHooksWaitForNobody: a plugin that does not answer what it is only told of keeps no client waiting, and no more waits for it
// than there is room for.
func TestHooksWaitForNobody(t *testing.T) {
	chains := hook.New(hclog.NewNullLogger())
	busy := make(chan struct{})
	chains.RPCStarted.On(10, "slow", func(ctx context.Context, _ sdk.SocketRequest) error {
		<-busy
		return nil
	})
	h := open(t, func(c *Config) { c.Hooks = chains })
	c := h.client(t)
	for range 3 * toldWait {
		if err := c.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(h.hooks.queue); n > toldWait {
		t.Errorf("%d wait", n)
	}
	close(busy)
}
