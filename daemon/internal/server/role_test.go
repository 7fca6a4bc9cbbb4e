package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// needs is the role of every method. A method that comes later is put here by
// somebody who thought about it.
var needs = map[rpc.Role][]string{
	rpc.RoleObserve: {
		"hello", "ping", "discover", "status", "getRuns", "getRun", "getEntries", "getModels", "run/changes", "run/packet", "tools/list", "plugins/list",
		"config/show", "config/mistakes", "agents/list", "agents/show", "prompts/list", "prompts/files", "prompts/cassette", "project/files", "project/read", "skills/list", "skills/info", "skills/explain", "skills/match", "skills/trust", "proposals/list", "proposals/get",
		"getConstraints", "project/tree", "rules/list", "policy/explain", "audit/list", "audit/verify", "usage/list", "journal/read", "journal/watch", "journal/unwatch", "people/list", "workspace/read",
	},
	rpc.RoleSubmit: {
		"ask", "act", "startRun", "run/abort", "run/release", "prompts/take", "run/resume", "run/compact", "run/fork", "run/undo", "run/redo", "run/reset", "run/leave", "run/delete", "run/rename", "run/config", "tools/call", "tools/cancel", "config/check", "auth/give",
		"set", "get", "rm", "cp", "mv", "update", "run/inject", "stream", "stream/completed", "stream/aborted", "stream/cancel", "project/scan", "init", "store", "channel/ticket", "channel/answer", "channels/claim", "workspace/write",
	},
	rpc.RoleApprove: {"proposals/resolve", "run/resolve", "project/constrain", "rules/remove", "run/lend", "buffer/give"},
	rpc.RoleAdmin:   {"stop", "config/reload", "plugins/reload", "plugins/dev", "skills/enable", "skills/create", "store/backup", "models/pull", "auth/login", "auth/logout", "auth/list", "addModel", "removeModel", "people/add", "memory/learning", "people/remove", "channels/pair"},
}

// TestEveryMethodNamesItsRole: the table, and what discover says of it.
func TestEveryMethodNamesItsRole(t *testing.T) {
	h := open(t, nil)
	var told Catalogue
	if err := h.client(t).Call(context.Background(), rpc.MethodDiscover, nil, &told); err != nil {
		t.Fatal(err)
	}
	known := 0
	for role, names := range needs {
		for _, name := range names {
			known++
			if m := h.methods[name]; m.role != role || told.Methods[name].Role != role {
				t.Errorf("%s needs %q, discover says %q, want %q", name, m.role, told.Methods[name].Role, role)
			}
		}
	}
	if known != len(h.methods) {
		t.Errorf("there are %d methods, and %d are known here", len(h.methods), known)
	}
}

// TestEveryParameterIsClassified: somebody said of each parameter of each method
// whether it widens what a run may do and what it names; none hides in a nested
// object, and what nobody classified is held for one that widens.
func TestEveryParameterIsClassified(t *testing.T) {
	h := open(t, nil)
	var told Catalogue
	if err := h.client(t).Call(context.Background(), rpc.MethodDiscover, nil, &told); err != nil {
		t.Fatal(err)
	}
	for name, m := range h.methods {
		for _, f := range m.fields {
			at := m.params.FieldByIndex(f.index)
			if f.widens() != (f.access == rpc.AccessApprove) {
				t.Errorf("%s has the parameter %q: does it widen what a run may do, and what does it name? say it by the tag access", name, f.name)
			}
			if at.Type.Kind() == reflect.Struct && at.Type.String() != "time.Time" && !m.role.NeedsToken() {
				t.Errorf("%s has an object as parameter %q, in which a widening could hide", name, f.name)
			}
			if names := f.access == rpc.AccessProject || f.access == rpc.AccessRun || f.access == rpc.AccessProposal; names && at.Type.Kind() != reflect.String {
				t.Errorf("%s: %q names a %s and is no text", name, f.name, f.access)
			}
			if f.widens() != slices.Contains(told.Methods[name].Widens, f.name) {
				t.Errorf("%s: discover does not tell that %q widens", name, f.name)
			}
		}
	}
	type later struct {
		Project string `json:"project" access:"project"`
		Wide    bool   `json:"wide"`
		Nested  []int  `json:"nested" access:"fre"`
	}
	fields := fieldsOf(reflect.TypeFor[later]())
	for name, p := range map[string]later{"": {Project: "/p", Nested: []int{}}, "wide": {Wide: true}, "nested": {Nested: []int{1}}} {
		if by := widened(fields, reflect.ValueOf(p)); by != name {
			t.Errorf("%+v widens by %q, want %q", p, by, name)
		}
	}
}

// TestLimitsFitTheParameters: what holds a channel to its projects looks at every
// parameter that names something of one.
func TestLimitsFitTheParameters(t *testing.T) {
	h := open(t, nil)
	looks := map[uintptr][]string{}
	for _, l := range []struct {
		limit   limit
		classes []string
	}{
		{anywhere, nil}, {inProject, []string{rpc.AccessProject}}, {ofProposal, []string{rpc.AccessProposal}},
		{ofRun, []string{rpc.AccessProject, rpc.AccessRun}}, {ofEntry, []string{rpc.AccessProject, rpc.AccessRun}}, {ofEntries, []string{rpc.AccessProject, rpc.AccessRun}}, {ofJournal, []string{rpc.AccessProject, rpc.AccessRun}}, {ofRunOrProject, []string{rpc.AccessProject, rpc.AccessRun}},
	} {
		looks[reflect.ValueOf(l.limit).Pointer()] = l.classes
	}
	for name, hold := range channelMethods {
		var classes []string
		for _, f := range h.methods[name].fields {
			within := f.access == rpc.AccessAlias || f.access == rpc.AccessOwner // in the project, which has to be named
			if f.access != rpc.AccessFree && !f.widens() && !within {
				classes = append(classes, f.access)
			}
		}
		slices.Sort(classes)
		if want := looks[reflect.ValueOf(hold).Pointer()]; !slices.Equal(classes, want) {
			t.Errorf("%s has parameters that name %q, and what holds a channel looks at %q", name, classes, want)
		}
	}
}

// parameters are enough to call each method.
func parameters(m method) string {
	p := map[string]any{}
	for _, f := range fieldsOf(m.params) {
		if f.required {
			p[f.name] = "x"
		}
		switch kind := m.params.FieldByIndex(f.index).Type.Kind(); {
		case !f.required:
		case kind == reflect.Int || kind == reflect.Int64:
			p[f.name] = 1
		case kind == reflect.Slice: // of bytes
			p[f.name] = []byte("x")
		}
	}
	for name, v := range map[string]any{"project": "/p/one", "run": "7", "watch": 1, "enabled": true} {
		if _, ok := p[name]; ok {
			p[name] = v
		}
	}
	if _, ok := p["protocol"]; ok {
		p["protocol"] = rpc.Protocol
	}
	text, _ := json.Marshal(p) // of texts
	return string(text)
}

// TestRolesOfMethods calls every method with every role: what the role does not
// allow is refused, and what it does is not refused for its role.
// spec: wrong_roots
func TestRolesOfMethods(t *testing.T) {
	audit := &fakeAudit{}
	h := open(t, func(c *Config) { c.Audit = audit; c.Daemon = &fakeDaemon{stopped: make(chan struct{})} })
	for _, has := range []rpc.Role{rpc.RoleObserve, rpc.RoleSubmit, rpc.RoleApprove, rpc.RoleAdmin} {
		h.calm() // a minute has fewer events than all roles cause
		for name, m := range h.methods {
			if name == rpc.MethodHello {
				continue
			}
			before := audit.count()
			c := h.as(t, has)
			err := c.Call(context.Background(), name, json.RawMessage(parameters(m)), nil)
			_ = c.Close()
			var said *rpc.Error
			refused := errors.As(err, &said) && said.Code == rpc.CodeRole
			if refused == has.Allows(m.role) {
				t.Errorf("%s with the role %s: %v", name, has, err)
			}
			if refused && sdk.OutcomeOf(err) != sdk.Permission {
				t.Errorf("%s with the role %s: outcome %s", name, has, sdk.OutcomeOf(err))
			}
			want := 0
			if refused && m.role.NeedsToken() {
				want = 1
			}
			if got := audit.count() - before; got != want {
				t.Errorf("%s with the role %s: %d security events, want %d", name, has, got, want)
			}
		}
	}
}

// as is a client with a role.
func (h *house) as(t *testing.T, role rpc.Role) *client.Client {
	t.Helper()
	c := &client.Client{Socket: h.path, Role: role}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (f *fakeAudit) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.events)
}

func (f *fakeAudit) has(event, detail string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, e := range f.events {
		if e == event && strings.Contains(f.details[i], detail) {
			return true
		}
	}
	return false
}

// TestWideningNeedsApprove: each of them, by whichever method.
func TestWideningNeedsApprove(t *testing.T) {
	for name, call := range map[string]struct {
		method, params string
		widens         bool
	}{
		"full":                  {"act", `{"project":"/p/one","prompt":"x","permission_mode":"full"}`, true},
		"full, asked":           {"ask", `{"project":"/p/one","prompt":"x","permission_mode":"full"}`, true},
		"yolo":                  {"act", `{"project":"/p/one","prompt":"x","yolo":true}`, true},
		"attend a prompt":       {"act", `{"project":"/p/one","prompt":"x","attend":true}`, true},
		"attend a watch":        {"journal/watch", `{"run":"7","attend":true}`, true},
		"trust":                 {"skills/trust", `{"project":"/p/one","accept":{"a":"b"}}`, true},
		"trust taken back":      {"skills/trust", `{"project":"/p/one","revoke":true,"names":["a"]}`, true},
		"trust an agent":        {"skills/trust", `{"project":"/p/one","agents":true,"accept":{"a":"b"}}`, true},
		"what agents would be":  {"skills/trust", `{"project":"/p/one","agents":true}`, false},
		"follow a folder":       {"skills/trust", `{"project":"/p/one","instructions":true,"follow":true}`, true},
		"follow it no more":     {"skills/trust", `{"project":"/p/one","instructions":true,"revoke":true}`, true},
		"what a folder says":    {"skills/trust", `{"project":"/p/one","instructions":true}`, false},
		"resolve":               {"proposals/resolve", `{"id":"x","hash":"y","answer":"accept"}`, true},
		"resolve and remember":  {"proposals/resolve", `{"id":"x","hash":"y","answer":"accept","remember":"tool"}`, true},
		"forget":                {"rules/remove", `{"id":"one"}`, true},
		"restricted":            {"act", `{"project":"/p/one","prompt":"x","permission_mode":"restricted"}`, false},
		"interactive":           {"act", `{"project":"/p/one","prompt":"x","permission_mode":"interactive"}`, false},
		"no yolo":               {"act", `{"project":"/p/one","prompt":"x","yolo":false,"attend":false}`, false},
		"an empty answer":       {"skills/trust", `{"project":"/p/one","accept":{}}`, false},
		"what would be trusted": {"skills/trust", `{"project":"/p/one"}`, false},
		"a watch":               {"journal/watch", `{"run":"7"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			audit := &fakeAudit{}
			h := open(t, func(c *Config) { c.Audit = audit })
			ctx := context.Background()
			err := h.as(t, "").Call(ctx, call.method, json.RawMessage(call.params), nil)
			var said *rpc.Error
			if refused := errors.As(err, &said) && said.Code == rpc.CodeRole; refused != call.widens {
				t.Errorf("with submit: %v", err)
			}
			if audit.has(EventRefusedApproval, call.method) != call.widens {
				t.Errorf("the audit has %v", audit.events)
			}
			if call.widens && len(h.engine.prompts) > 0 {
				t.Error("it was done all the same")
			}
			for _, role := range []rpc.Role{rpc.RoleApprove, rpc.RoleAdmin} {
				if err := h.as(t, role).Call(ctx, call.method, json.RawMessage(call.params), nil); err != nil {
					t.Errorf("with %s: %v", role, err)
				}
			}
		})
	}
}

// TestHello: what a connection may do after it, and what of it is a security
// event.
func TestHello(t *testing.T) {
	type step struct {
		token rpc.Role // whose token; "wrong" is none
		role  rpc.Role
		want  rpc.Role // "" is refused
		event string
	}
	for name, steps := range map[string][]step{
		"nothing":            {{"", "", rpc.RoleSubmit, ""}},
		"submit":             {{"", rpc.RoleSubmit, rpc.RoleSubmit, ""}},
		"less":               {{"", rpc.RoleObserve, rpc.RoleObserve, ""}},
		"less, for good":     {{"", rpc.RoleObserve, rpc.RoleObserve, ""}, {"", "", rpc.RoleObserve, ""}, {"", rpc.RoleSubmit, "", ""}},
		"approve":            {{rpc.RoleApprove, "", rpc.RoleApprove, ""}, {"", "", rpc.RoleApprove, ""}},
		"admin":              {{rpc.RoleAdmin, "", rpc.RoleAdmin, ""}},
		"less than admin":    {{rpc.RoleAdmin, rpc.RoleApprove, rpc.RoleApprove, ""}, {"", rpc.RoleAdmin, "", EventRefusedAdmin}},
		"up after less":      {{"", rpc.RoleObserve, rpc.RoleObserve, ""}, {rpc.RoleApprove, "", rpc.RoleApprove, ""}},
		"claimed":            {{"", rpc.RoleApprove, "", EventRefusedApproval}, {"", "", rpc.RoleSubmit, ""}},
		"claimed admin":      {{"", rpc.RoleAdmin, "", EventRefusedAdmin}},
		"more than approve":  {{rpc.RoleApprove, rpc.RoleAdmin, "", EventRefusedAdmin}, {"", "", rpc.RoleSubmit, ""}},
		"wrong":              {{"wrong", "", "", EventWrongToken}, {"", "", rpc.RoleSubmit, ""}},
		"wrong, but observe": {{"wrong", rpc.RoleObserve, "", EventWrongToken}},
		"wrong after right":  {{rpc.RoleApprove, "", rpc.RoleApprove, ""}, {"wrong", "", "", EventWrongToken}, {"", "", rpc.RoleApprove, ""}},
		"no such role":       {{"", "root", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			audit := &fakeAudit{}
			h := open(t, func(c *Config) { c.Audit = audit; c.Limits.WrongToken = 1 })
			r, events := h.dial(t), 0
			for _, s := range steps {
				token := strings.Repeat("0", 64)
				switch s.token {
				case "wrong":
				case "":
					token = ""
				default:
					token = h.token(t, s.token)
				}
				r.send(hello(token, s.role))
				m := r.answer()
				var got rpc.Hello
				if m.Error == nil {
					if err := json.Unmarshal(m.Result, &got); err != nil {
						t.Fatal(err)
					}
				}
				if got.Role != s.want {
					t.Errorf("%+v: has %q, %v", s, got.Role, m.Error)
				}
				if s.event != "" {
					events++
				}
				if audit.count() != events || s.event != "" && !audit.has(s.event, fmt.Sprintf("pid %d", os.Getpid())) {
					t.Errorf("%+v: the audit has %v", s, audit.events)
				}
			}
		})
	}
}

// TestWrongTokensEndTheConnection: after the third one nothing is taken from it
// any more, the right one neither. Others are not kept waiting.
func TestWrongTokensEndTheConnection(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.WrongToken = 1 })
	r := h.dial(t)
	for range wrongTokens {
		r.send(hello(strings.Repeat("f", 64), ""))
		r.wantError(rpc.CodeRole, "none of this daemon's")
	}
	_, _ = fmt.Fprint(r.conn, hello(h.token(t, rpc.RoleAdmin), "")) // it may be closed already
	for {
		m, err := r.next()
		if err != nil {
			break
		}
		if m.Result != nil {
			t.Errorf("it was given %s", m.Result)
		}
	}
	if got, err := h.as(t, rpc.RoleAdmin).Hello(context.Background()); err != nil || got.Role != rpc.RoleAdmin {
		t.Errorf("another connection: %+v %v", got, err)
	}
}

// TestAlarmIsBounded: what a peer causes without end is counted and not all
// written down.
func TestAlarmIsBounded(t *testing.T) {
	audit := &fakeAudit{}
	h := open(t, func(c *Config) { c.Audit = audit })
	r := h.dial(t)
	for range 3 * eventsPerMinute {
		r.send(`{"jsonrpc":"2.0","id":1,"method":"stop"}` + "\n")
		r.wantError(rpc.CodeRole, "admin")
	}
	if audit.count() != eventsPerMinute {
		t.Errorf("%d events were written down", audit.count())
	}
	h.alarm.mu.Lock()
	h.alarm.since = h.alarm.since.Add(-time.Minute) // a minute has passed
	h.alarm.mu.Unlock()
	r.send(`{"jsonrpc":"2.0","id":1,"method":"stop"}` + "\n")
	r.wantError(rpc.CodeRole, "admin")
	if !audit.has(EventRefusedAdmin, fmt.Sprintf("%d of the kind", 2*eventsPerMinute)) {
		t.Errorf("the ones that were left out are not told of")
	}
}

// TestProjectOfTheSocket: no run works where it could read the tokens.
func TestProjectOfTheSocket(t *testing.T) {
	h := open(t, nil)
	dir := filepath.Dir(h.path)
	above := filepath.Dir(dir)
	link := t.TempDir() + "/link"
	must(t, os.Symlink(above, link))
	ctx := context.Background()
	for project, allowed := range map[string]bool{dir: false, above: false, "/": false, link: false, dir + "/p": false, t.TempDir(): true, dir + "x": true} {
		_, act := h.client(t).Act(ctx, rpc.Prompt{Project: project, Prompt: "x"})
		_, start := h.client(t).StartRun(ctx, rpc.StartRun{Project: project, Run: "y"})
		_, call := h.client(t).CallTool(ctx, rpc.ToolCall{Project: project, Tool: "x"})
		for _, err := range []error{act, start, call} {
			if (err == nil || !strings.Contains(err.Error(), "no run may reach it")) != allowed {
				t.Errorf("%s: %v", project, err)
			}
		}
	}
}
