package callback

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/metadata"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// daemon is one that keeps what it was asked, and answers little.
type daemon struct {
	asked  []string
	caller sdk.Caller
	ctx    context.Context
	wrote  []sdk.Write
}

func (d *daemon) note(ctx context.Context, c sdk.Caller, what string) {
	d.asked, d.caller, d.ctx = append(d.asked, what), c, ctx
}

func (d *daemon) Entry(ctx context.Context, c sdk.Caller, path string) (sdk.Entry, error) {
	if path == "known://panics" {
		panic("by mistake")
	}
	d.note(ctx, c, "entry "+path)
	return sdk.Entry{Path: path}, nil
}

func (d *daemon) Entries(ctx context.Context, c sdk.Caller, glob string) ([]sdk.Entry, error) {
	d.note(ctx, c, "entries "+glob)
	return []sdk.Entry{{Path: "known://a"}, {Path: "log://turn_1/x"}, {Path: "mine://b"}}, nil
}

func (d *daemon) Write(ctx context.Context, c sdk.Caller, writes []sdk.Write) ([]sdk.Entry, error) {
	d.note(ctx, c, "write")
	d.wrote = writes
	return nil, nil
}

func (d *daemon) Do(ctx context.Context, c sdk.Caller, calls []sdk.EntryCall, within func(string) bool) ([]sdk.EntryDone, error) {
	d.note(ctx, c, fmt.Sprintf("do %s %s, log %v, mine %v", calls[0].Verb, calls[0].Path, within("log://x"), within("mine://x")))
	return make([]sdk.EntryDone, len(calls)), nil
}

func (d *daemon) Invoke(ctx context.Context, c sdk.Caller, tool string, _ []byte) (sdk.ToolResult, error) {
	d.note(ctx, c, "invoke "+tool)
	return sdk.ToolResult{Success: true}, nil
}

func (d *daemon) Complete(ctx context.Context, c sdk.Caller, req sdk.Request, _ func(sdk.Delta) error) error {
	d.note(ctx, c, "complete "+req.Model+" for "+req.Run)
	return nil
}

func (d *daemon) Secret(ctx context.Context, c sdk.Caller, name string) (string, error) {
	d.note(ctx, c, "secret "+name)
	return "value of " + name, nil
}

func (d *daemon) Login(ctx context.Context, key string) (string, error) {
	d.note(ctx, sdk.Caller{}, "login "+key)
	return "login of " + key, nil
}

func (d *daemon) KeepLogin(ctx context.Context, key, was, now string) error {
	d.note(ctx, sdk.Caller{}, "keep "+key+" "+was+" "+now)
	return nil
}

// clock is the silence of a call.
type clock struct{ held, letGo, paused, wentOn int }

func (c *clock) Hold() func() { c.held++; return func() { c.letGo++ } }

func (c *clock) Pause() func() { c.paused++; return func() { c.wentOn++ } }

// desk is one process of a plugin with what it is told.
type desk struct {
	*Process
	*daemon
	calls   *Calls
	refused []string
	redacts []string
}

// open gives a process a block and a manifest that declares a little of everything.
func open(grants ...string) *desk {
	d := &desk{daemon: &daemon{}}
	d.calls = New(Config{
		Services: d.daemon, Redact: func(secret string) { d.redacts = append(d.redacts, secret) },
		Refused: func(instance, detail string) { d.refused = append(d.refused, instance+": "+detail) },
		Tool: func(name string) (string, string, error) {
			if name == "nothing" {
				return "", "", sdk.Errorf(sdk.NotFound, "there is no tool")
			}
			return name, "other__" + name, nil
		},
	})
	d.Process = d.calls.Plugin("p", hclog.NewNullLogger()).Process()
	d.Allow(inspect.Spec{Instance: "p", Grants: grants, Secrets: []string{"KEY"}}, &sdk.Manifest{
		Calls:   sdk.Calls{Tools: []string{"grep", "nothing"}, Schemes: []string{"known"}, Secrets: []string{"KEY"}},
		Schemes: []sdk.Scheme{{Name: "mine"}},
	})
	return d
}

// of is the context of a request that the plugin makes while it serves a call.
func of(call string) context.Context {
	out := host.Outgoing(host.WithCall(context.Background(), call))
	md, _ := metadata.FromOutgoingContext(out)
	return host.Incoming(metadata.NewIncomingContext(context.Background(), md))
}

// ask asks for each service once, and answers what went wrong with each.
func (d *desk) ask(ctx context.Context) map[string]error {
	all := map[string]error{}
	_, all["entry"] = d.Process.Entry(ctx, "known://a")
	_, all["entries"] = d.Process.Entries(ctx, "*://**")
	_, all["write"] = d.Process.Write(ctx, sdk.Write{Path: "mine://a", Writer: sdk.WriterSystem})
	_, all["do"] = d.Process.Do(ctx, sdk.EntryCall{Verb: sdk.VerbGet, Path: "*://**"})
	_, all["invoke"] = d.Process.Invoke(ctx, "grep", nil)
	all["complete"] = d.Process.Complete(ctx, sdk.Request{}, nil)
	_, all["secret"] = d.Process.Secret(ctx, "KEY")
	return all
}

var every = []string{sdk.GrantEntries, sdk.GrantTools, sdk.GrantModels, sdk.GrantSecrets}

// TestServices: what is granted reaches the daemon as the call's, which is not silent
// meanwhile; what is written is the plugin's, and what is found within its reach.
func TestServices(t *testing.T) {
	d, c := open(every...), &clock{}
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one", Run: "run", Depth: 2}, c)()
	for service, err := range d.ask(of("one")) {
		if err != nil {
			t.Errorf("%s: %v", service, err)
		}
	}
	want := []string{"entry known://a", "entries *://**", "write", "do get *://**, log false, mine true", "invoke grep", "complete  for run", "secret KEY"}
	if !reflect.DeepEqual(d.asked, want) || d.caller.Run != "run" || d.caller.Call != "one" {
		t.Errorf("asked %q by %+v", d.asked, d.caller)
	}
	if len(d.wrote) != 1 || d.wrote[0].Writer != sdk.WriterPlugin {
		t.Errorf("wrote %+v", d.wrote)
	}
	if c.held != 6 || c.letGo != 6 { // a secret needs no call
		t.Errorf("held %d, let go of %d", c.held, c.letGo)
	}
	for _, pattern := range []string{"*://**", "/^(known|mine):/"} {
		found, err := d.Process.Entries(of("one"), pattern)
		if err != nil || len(found) != 2 || found[1].Path != "mine://b" {
			t.Errorf("%s: %+v %v", pattern, found, err)
		}
	}
	if len(d.refused) != 0 || !reflect.DeepEqual(d.redacts, []string{"value of KEY"}) {
		t.Errorf("refused %q, redacts %q", d.refused, d.redacts)
	}
	if n := Depth(d.ctx); n != 2 { // as deep as the call that it serves
		t.Errorf("depth %d", n)
	}
}

// TestPanicEndsTheRequestAlone: the daemon, and whatever else it works on, goes on.
func TestPanicEndsTheRequestAlone(t *testing.T) {
	d, c := open(every...), &clock{}
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one", Run: "run"}, c)()
	if _, err := d.Process.Entry(of("one"), "known://panics"); sdk.OutcomeOf(err) != sdk.Internal || c.held != c.letGo {
		t.Errorf("%v; held %d, let go of %d", err, c.held, c.letGo)
	}
	if _, err := d.Process.Entry(of("one"), "known://a"); err != nil {
		t.Error(err)
	}
}

// TestLogin: a block has one login or none, which needs no call.
func TestLogin(t *testing.T) {
	d := open()
	if _, err := d.Process.Login(t.Context()); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("of a block that has none: %v", err)
	}
	if err := d.Process.KeepLogin(t.Context(), "a", "b"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("kept for a block that has none: %v", err)
	}
	d.Allow(inspect.Spec{Instance: "p", Login: "mcp.p"}, &sdk.Manifest{})
	if v, err := d.Process.Login(t.Context()); v != "login of mcp.p" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if err := d.Process.KeepLogin(t.Context(), "a", "b"); err != nil {
		t.Error(err)
	}
	if want := []string{"login mcp.p", "keep mcp.p a b"}; !reflect.DeepEqual(d.asked, want) || len(d.refused) != 0 {
		t.Errorf("asked %q, refused %q", d.asked, d.refused)
	}
}

// TestFilterReads: within a filter that is asked about a prompt a plugin reads what is of its own schemes, and nothing else.
func TestFilterReads(t *testing.T) {
	d := open(every...)
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one", Reads: 7}, &clock{})()
	for service, err := range d.ask(of("one")) {
		if (service == "secret") != (err == nil) {
			t.Errorf("%s: %v", service, err)
		}
	}
	d.asked = nil
	if _, err := d.Process.Entry(of("one"), "mine://a"); err != nil {
		t.Error(err)
	}
	if _, err := d.Process.Entries(of("one"), "mine://**"); err != nil || len(d.asked) != 2 {
		t.Errorf("%v, asked %q", err, d.asked)
	}
	if _, err := d.Process.Entries(of("one"), "/mine/"); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("by a pattern that names no scheme: %v", err)
	}
}

// TestNothingGranted: each service needs its grant, and every refusal is told.
func TestNothingGranted(t *testing.T) {
	d := open()
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one"}, &clock{})()
	for service, err := range d.ask(of("one")) {
		if sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s: %v", service, err)
		}
	}
	if len(d.asked) != 0 || len(d.refused) != 7 || !strings.HasPrefix(d.refused[0], `p: the plugin p is not granted "entries"`) {
		t.Errorf("asked %q, refused %q", d.asked, d.refused)
	}
	if New(Config{}).Plugin("p", hclog.NewNullLogger()).Process() != nil {
		t.Error("a daemon that offers nothing has a process that may ask")
	}
	(*Process)(nil).Allow(inspect.Spec{}, &sdk.Manifest{}) // it has nothing to allow
}

// TestRunsNeedTheirOwnGrant, whatever verb names them and however, and the scheme among those that are declared.
func TestRunsNeedTheirOwnGrant(t *testing.T) {
	for name, c := range map[string]struct {
		grants  []string
		schemes []string
		may     bool
	}{
		"entries alone":   {[]string{sdk.GrantEntries}, []string{"run"}, false},
		"runs alone":      {[]string{sdk.GrantRuns}, []string{"run"}, false},
		"both":            {[]string{sdk.GrantEntries, sdk.GrantRuns}, []string{"run"}, true},
		"not declared":    {[]string{sdk.GrantEntries, sdk.GrantRuns}, []string{"known"}, false},
		"all that is old": {[]string{sdk.GrantEntries, sdk.GrantTools, sdk.GrantModels, sdk.GrantSecrets, sdk.GrantProject}, []string{"run"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(c.grants...)
			d.Allow(inspect.Spec{Instance: "p", Grants: c.grants}, &sdk.Manifest{Calls: sdk.Calls{Schemes: append(c.schemes, "known")}})
			defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one"}, &clock{})()
			body := "go"
			for _, call := range []sdk.EntryCall{
				{Verb: sdk.VerbSet, Path: "run://a", Body: &body}, {Verb: sdk.VerbGet, Path: "RUN://a"}, {Verb: sdk.VerbGet, Path: "run://*"},
				{Verb: sdk.VerbMove, Path: "run://a", To: "run://b"}, {Verb: sdk.VerbMove, Path: "known://a", To: "run://b"}, {Verb: sdk.VerbRemove, Path: "run://a"},
			} {
				_, err := d.Process.Do(of("one"), call)
				if (err == nil) != c.may || err != nil && sdk.OutcomeOf(err) != sdk.Permission {
					t.Errorf("%s %s: %v", call.Verb, call.Path, err)
				}
			}
		})
	}
}

// TestNobodysCall: a service belongs to a call that the plugin itself serves now.
func TestNobodysCall(t *testing.T) {
	d := open(every...)
	end := d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "over"}, &clock{})
	end()
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "another", Call: "theirs"}, &clock{})()
	for _, call := range []string{"over", "theirs", "no such", ""} {
		for service, err := range d.ask(of(call)) {
			if want := sdk.Validation; service != "secret" && sdk.OutcomeOf(err) != want || service == "secret" && err != nil {
				t.Errorf("%s for %q: %v", service, call, err)
			}
		}
	}
	if len(d.refused) != 0 {
		t.Errorf("refused %q", d.refused) // they are mistakes, and nobody's business
	}
	if _, err := d.Process.Invoke(of("over"), "nothing", nil); err == nil {
		t.Error("a tool that is not there was invoked")
	}
}

// TestServiceEndsWithItsCall: it has the call's deadline, and is aborted with it.
func TestServiceEndsWithItsCall(t *testing.T) {
	d := open(every...)
	call, abort := context.WithTimeout(t.Context(), time.Hour)
	defer d.calls.Begin(call, sdk.Caller{Instance: "p", Call: "one"}, &clock{})()
	checked := false
	d.calls.cfg.Services = seeing{d.daemon, func(ctx context.Context) {
		checked = true
		deadline, _ := call.Deadline()
		if have, ok := ctx.Deadline(); !ok || !have.Equal(deadline) {
			t.Errorf("its deadline is %v, the call's %v", have, deadline)
		}
		abort()
		<-ctx.Done()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("it ended with %v", ctx.Err())
		}
	}}
	if _, err := d.Process.Entry(of("one"), "known://a"); err != nil || !checked {
		t.Errorf("%v, asked %v", err, checked)
	}
}

// seeing looks at the context of a service.
type seeing struct {
	*daemon
	see func(context.Context)
}

func (s seeing) Entry(ctx context.Context, _ sdk.Caller, _ string) (sdk.Entry, error) {
	s.see(ctx)
	return sdk.Entry{}, nil
}

// TestBelow: calls call each other eight deep, and no deeper.
func TestBelow(t *testing.T) {
	ctx := context.Background()
	for n := range maxDepth {
		if Depth(ctx) != n {
			t.Fatalf("depth %d, want %d", Depth(ctx), n)
		}
		var err error
		if ctx, err = Below(ctx, "the call"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Below(ctx, "the call of x"); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "8 deep: the call of x is refused") {
		t.Error(err)
	}
}

// TestLogLevels: a plugin's lines have its levels, a level that there is not is information,
// and what is too much is dropped.
func TestLogLevels(t *testing.T) {
	var out strings.Builder
	d := open()
	p := d.calls.Plugin("p", hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace, DisableTime: true})).Process()
	for _, level := range []string{"debug", "error", "off", "no such"} {
		if err := p.Log(t.Context(), level, "m", map[string]string{"b": "2", "a": "1"}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "[DEBUG] m: a=1 b=2\n[ERROR] m: a=1 b=2\n[INFO]  m: a=1 b=2\n[INFO]  m: a=1 b=2\n"; got != want {
		t.Errorf("logged %q", got)
	}
	for range 1000 {
		_ = p.Log(t.Context(), "info", "m", nil)
	}
	if n := strings.Count(out.String(), "\n"); n > 210 {
		t.Errorf("%d lines", n)
	}
}

// TestAskUser: a plugin that declares it and is granted it asks people, so often for one call, and
// meanwhile the time of the call stands still.
func TestAskUser(t *testing.T) {
	d, c := open(sdk.GrantTools), &clock{}
	if d.Process.Asks() {
		t.Error("it may ask, and does not declare it")
	}
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one"}, c)()
	if _, err := d.Process.Invoke(of("one"), sdk.ToolAskUser, nil); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), `calls: {"tools": ["ask_user"]}`) {
		t.Errorf("undeclared: %v", err)
	}
	declared := &sdk.Manifest{Calls: sdk.Calls{Tools: []string{sdk.ToolAskUser}}}
	d.Allow(inspect.Spec{Instance: "p"}, declared)
	if _, err := d.Process.Invoke(of("one"), sdk.ToolAskUser, nil); sdk.OutcomeOf(err) != sdk.Permission || d.Process.Asks() {
		t.Errorf("without the grant: %v", err)
	}
	d.Allow(inspect.Spec{Instance: "p", Grants: []string{sdk.GrantTools}}, declared)
	if !d.Process.Asks() || (*Process)(nil).Asks() {
		t.Error("it may ask, and Asks says otherwise")
	}
	for range questionsPerCall {
		if _, err := d.Process.Invoke(of("one"), sdk.ToolAskUser, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Process.Invoke(of("one"), sdk.ToolAskUser, nil); sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Errorf("once more: %v", err)
	}
	if c.paused != questionsPerCall || c.wentOn != c.paused || len(d.asked) != questionsPerCall {
		t.Errorf("paused %d, went on %d, asked %d", c.paused, c.wentOn, len(d.asked))
	}
}
