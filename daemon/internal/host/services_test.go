package host

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// fakeDaemon is what package daemon is to the host.
type fakeDaemon struct {
	s     *Supervisor
	all   []sdk.Entry // what Entries finds; as many as the glob has bytes when there are none
	ended chan error
	began chan struct{}            // filled when a service waits for the end of its call
	turn  func(tool string) string // which tool is invoked instead
	slow  time.Duration            // what Entry takes
}

// wait lasts as long as the call.
func (f *fakeDaemon) wait(ctx context.Context) error {
	if f.began != nil {
		f.began <- struct{}{}
	}
	<-ctx.Done()
	f.ended <- ctx.Err()
	return ctx.Err()
}

func (f *fakeDaemon) Entry(ctx context.Context, c sdk.Caller, path string) (sdk.Entry, error) {
	if path == "wait" {
		return sdk.Entry{}, f.wait(ctx)
	}
	time.Sleep(f.slow)
	if path != "known" && !strings.HasPrefix(path, "known://") {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "no %s", path)
	}
	return sdk.Entry{Path: path, Body: fmt.Sprintf("%s %s %d", c.Instance, c.Run, c.Depth)}, nil
}

func (f *fakeDaemon) Entries(_ context.Context, _ sdk.Caller, glob string) ([]sdk.Entry, error) {
	if f.all != nil {
		return slices.Clone(f.all), nil
	}
	return make([]sdk.Entry, len(glob)), nil
}

func (f *fakeDaemon) Write(_ context.Context, _ sdk.Caller, ws []sdk.Write) ([]sdk.Entry, error) {
	return []sdk.Entry{{Path: ws[0].Path, Writer: ws[0].Writer}}, nil
}

func (f *fakeDaemon) Do(_ context.Context, c sdk.Caller, calls []sdk.EntryCall, _ func(string) bool) ([]sdk.EntryDone, error) {
	var done []sdk.EntryDone
	for _, call := range calls {
		done = append(done, sdk.EntryDone{
			Text: string(call.Verb) + " by " + c.Instance, Entries: []sdk.Entry{{Path: call.Path, Body: *call.Body, Version: 1}}, Overwrote: call.Append, Left: 2,
		})
	}
	return done, nil
}

func (f *fakeDaemon) Invoke(ctx context.Context, c sdk.Caller, tool string, arguments []byte) (sdk.ToolResult, error) {
	if f.turn != nil {
		tool = f.turn(tool)
		arguments = []byte(`{"service":"invoke","name":"` + tool + `"}`)
	}
	return f.s.Invoke(ctx, sdk.Invocation{Tool: tool, Arguments: arguments, Run: c.Run}, newOut())
}

func (f *fakeDaemon) Complete(ctx context.Context, c sdk.Caller, req sdk.Request, send func(sdk.Delta) error) error {
	if req.Model == "" && f.began != nil {
		return f.wait(ctx)
	}
	if req.Model == "bad" {
		return &sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}
	}
	if err := send(sdk.Delta{Text: req.Run + c.Run}); err != nil {
		return err
	}
	return send(sdk.Delta{Finish: &sdk.Finish{Reason: "stop"}})
}

func (f *fakeDaemon) Secret(_ context.Context, _ sdk.Caller, name string) (string, error) {
	return "value of " + name, nil
}

func (f *fakeDaemon) Login(_ context.Context, key string) (string, error) {
	return "login of " + key, nil
}

func (f *fakeDaemon) KeepLogin(_ context.Context, key, was, now string) error {
	return sdk.Errorf(sdk.Conflict, "%s is %s, not %s", key, now, was)
}

// spec: plugin_convention plugin_system
func TestServices(t *testing.T) {
	daemon := &fakeDaemon{ended: make(chan error, 1)}
	granted, poor := spec("granted", ""), asking(spec("poor", ""))
	granted = asking(granted, sdk.GrantEntries, sdk.GrantTools, sdk.GrantModels, sdk.GrantSecrets)
	granted.Secrets, granted.Models = []string{"TOKEN"}, []string{"good", "bad"}
	granted.Body = body(t, `secret = "TOKEN"`)
	r := newRig(t, func(c *Config) { c.Services = daemon })
	daemon.s = r.Supervisor
	for _, d := range r.start(context.Background(), []inspect.Spec{granted, poor}) {
		if !d.Warning() {
			t.Fatal(d)
		}
	}
	for _, c := range []struct {
		service, name, want string
		outcome             sdk.Outcome
	}{
		{"entry", "known", "granted run 1", ""},
		{"entry", "other", "", sdk.NotFound},
		{"entries", "abc", "3", ""},
		{"write", "fact://x", "plugin", ""},
		{"do", "fact://x", fmt.Sprint([]sdk.EntryDone{
			{Text: "set by granted", Entries: []sdk.Entry{{Path: "fact://x", Body: "do", Version: 1}}, Overwrote: true, Left: 2},
			{Text: "get by granted", Entries: []sdk.Entry{{Path: "fact://x", Body: "fact://x", Version: 1}}, Left: 2},
		}), ""},
		{"invoke", "noop", "", sdk.Validation}, // back's arguments are none of noop's
		{"complete", "good", "runrun", ""},
		{"secret", "TOKEN", "value of TOKEN", ""},
		{"secret", "OTHER", "", sdk.Permission},
		{"log", "hello from inside", "logged", ""},
		{"other", "made-up", "", sdk.Validation},
	} {
		arguments, err := json.Marshal(map[string]string{"service": c.service, "name": c.name})
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.call(t, "granted__back", string(arguments))
		if sdk.OutcomeOf(err) != c.outcome && err != nil || err == nil && (c.outcome != "" || res.Output != c.want) {
			t.Errorf("%s %s: %+v %v", c.service, c.name, res, err)
		}
		if c.service == "log" || c.service == "other" {
			continue
		}
		_, err = r.call(t, "poor__back", string(arguments))
		wantOutcome(t, err, sdk.Permission)
	}
	if text := r.log.String(); !strings.Contains(text, "hello from inside: k=v") {
		t.Error("the plugin's line is not in the log")
	}
	_, err := r.call(t, "granted__back", `{"service":"complete","name":"bad"}`)
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("the completion's error is lost: %v", err)
	}
	var about struct{ Config struct{ Key string } }
	if err := json.Unmarshal(r.mustCall(t, "granted__about", ``).Structured, &about); err != nil || about.Config.Key != "value of TOKEN" {
		t.Errorf("the secret of Configure: %+v %v", about, err)
	}
}

// TestServicesByAddress: a plugin in another language shows its token, and
// nobody but the plugin is heard at all.
func TestServicesByAddress(t *testing.T) {
	r := started(t, func(c *Config) { c.Services = &fakeDaemon{} }, spec("rogue", "rogue"))
	if res := r.mustCall(t, "direct", ``); res.Output != "rogue run 1" {
		t.Errorf("with the token: %q", res.Output)
	}
	if res := r.mustCall(t, "tokenless", ``); !strings.Contains(res.Output, "permission") || !strings.Contains(res.Output, host.TokenKey) {
		t.Errorf("without the token: %q", res.Output)
	}
	i, err := r.instance("rogue")
	if err != nil {
		t.Fatal(err)
	}
	l, err := i.ready(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("unix:"+l.at.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(context.Background(), host.TokenKey, l.at.Token)
	if err := host.NewClient(conn).Log(ctx, "error", "intruder", nil); err == nil || strings.Contains(r.log.String(), "intruder") {
		t.Errorf("another process was heard: %v", err)
	}
}

// TestDepth: tools that call each other end.
func TestDepth(t *testing.T) {
	daemon := &fakeDaemon{}
	s := asking(spec("fault", ""), sdk.GrantTools)
	r := newRig(t, func(c *Config) { c.Services = daemon })
	daemon.s = r.Supervisor
	r.start(context.Background(), []inspect.Spec{s})
	_, err := r.call(t, "back", `{"service":"invoke","name":"back"}`)
	wantOutcome(t, err, sdk.Validation)
	if !strings.Contains(err.Error(), "8 deep") {
		t.Error(err)
	}
}

// TestServiceEndsWithCall: what a plugin asked for ends when its call does.
func TestServiceEndsWithCall(t *testing.T) {
	daemon := &fakeDaemon{ended: make(chan error, 1)}
	r := started(t, func(c *Config) { c.Services = daemon })
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := r.Invoke(ctx, sdk.Invocation{Tool: "back", Arguments: json.RawMessage(`{"service":"wait"}`)}, newOut()); err != nil {
		wantOutcome(t, err, sdk.Timeout)
	}
	select {
	case <-daemon.ended:
	case <-time.After(time.Minute):
		t.Fatal("the service still runs")
	}
}

// spec: plugin_convention
func TestHooks(t *testing.T) {
	r := started(t, nil, spec("fault", ""), spec("rogue", "rogue"))
	hooks := r.Hooks()
	if len(hooks) != 1 || hooks[0].Instance != "fault" {
		t.Fatalf("hooks %v", hooks)
	}
	h := hooks[0]
	subs := h.Subscriptions()
	if !slices.Equal(subs, []sdk.Subscription{{Name: "turn.verdict", Priority: 10, Failure: sdk.FailClosed}}) {
		t.Errorf("subscriptions %v", subs)
	}
	v, err := h.Filter(context.Background(), "turn.verdict", json.RawMessage(`"x"`))
	if err != nil || string(v) != `"turn.verdict \"x\""` {
		t.Errorf("%s %v", v, err)
	}
	wantOutcome(t, h.Event(context.Background(), "run.created", nil), sdk.NotFound)
	_, err = h.Filter(context.Background(), "turn.verdict", json.RawMessage(`"die"`))
	wantOutcome(t, err, sdk.PluginCrashed)
	if _, err := h.Filter(context.Background(), "turn.verdict", json.RawMessage(`1`)); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

// thinking is a daemon whose person takes their time.
type thinking struct {
	*fakeDaemon
	takes time.Duration
}

func (d thinking) Invoke(ctx context.Context, _ sdk.Caller, tool string, _ []byte) (sdk.ToolResult, error) {
	if tool != sdk.ToolAskUser {
		return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "no %s", tool)
	}
	select {
	case <-time.After(d.takes):
		return sdk.ToolResult{Success: true, Output: "thought"}, nil
	case <-ctx.Done():
		return sdk.ToolResult{}, ctx.Err()
	}
}

// TestQuestionsTakeNoTime: a call may take its time while a person thinks, however long that is, and no
// longer than its time otherwise.
func TestQuestionsTakeNoTime(t *testing.T) {
	const limit = 3 * time.Second
	r := started(t, func(c *Config) { c.Services = thinking{&fakeDaemon{}, limit + 200*time.Millisecond} }, asking(spec("fault", ""), sdk.GrantTools))
	res, err := r.Invoke(t.Context(), sdk.Invocation{Tool: "back", Arguments: json.RawMessage(`{"service":"invoke","name":"ask_user"}`), Deadline: time.Now().Add(limit)}, newOut())
	if err != nil || res.Output != "thought" {
		t.Errorf("%+v %v", res, err)
	}
	_, err = r.Invoke(t.Context(), sdk.Invocation{Tool: "wait", Deadline: time.Now().Add(100 * time.Millisecond)}, newOut())
	wantOutcome(t, err, sdk.Timeout)
}

// TestRepeatAfterAQuestion: a call whose plugin crashed once a person had thought has its time again for
// what is left of it, and so has the person.
func TestRepeatAfterAQuestion(t *testing.T) {
	const limit = 3 * time.Second
	s := asking(spec("fault", ""), sdk.GrantTools)
	s.SHA256 = sha256Of(t, faultBinary)
	r := started(t, func(c *Config) { c.Services = thinking{&fakeDaemon{}, limit + 200*time.Millisecond} }, s)
	arguments, err := json.Marshal(map[string]any{"path": filepath.Join(t.TempDir(), "mark"), "asks": true})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Invoke(t.Context(), sdk.Invocation{Tool: "crash_once", Arguments: arguments, Deadline: time.Now().Add(limit)}, newOut())
	if err != nil || res.Output != "second time" {
		t.Errorf("%+v %v", res, err)
	}
}
