// Package callback is what plugins ask of the daemon while they serve a call: on whose
// behalf it is asked, whether the plugin declares it and its block allows it, and how often.
package callback

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// Services are what plugins may call back; package daemon fills them in. The
// caller's grant was checked, and that the call is one that the plugin serves now.
// ctx ends with that call.
type Services interface {
	Entry(ctx context.Context, c sdk.Caller, path string) (sdk.Entry, error)
	Entries(ctx context.Context, c sdk.Caller, pattern string) ([]sdk.Entry, error)
	// Write gets writes whose writer is plugin, whatever the plugin said.
	Write(ctx context.Context, c sdk.Caller, writes []sdk.Write) ([]sdk.Entry, error)
	// Do uses verbs on entries; within reports whether a path is within the caller's reach.
	Do(ctx context.Context, c sdk.Caller, calls []sdk.EntryCall, within func(path string) bool) ([]sdk.EntryDone, error)
	// Invoke must pass ctx on to Supervisor.Invoke: it carries how deep calls go.
	Invoke(ctx context.Context, c sdk.Caller, tool string, arguments []byte) (sdk.ToolResult, error)
	Complete(ctx context.Context, c sdk.Caller, req sdk.Request, send func(sdk.Delta) error) error
	// Secret gets names that the caller's block lists. The caller's Call is
	// empty when it is asked for during Configure.
	Secret(ctx context.Context, c sdk.Caller, name string) (string, error)
	// Login gets the key of the login of the caller's block, and so does KeepLogin.
	Login(ctx context.Context, key string) (string, error)
	KeepLogin(ctx context.Context, key, was, now string) error
}

// Config is what the daemon is for callbacks.
type Config struct {
	Services Services // nil offers nothing
	// Tool is the bare and the full name of a tool.
	Tool func(name string) (bare, full string, err error)
	// Refused is told, not more often than people can read, what a plugin asked for
	// and did not get: it is not granted, or it is more than the plugin's quota.
	Refused func(instance, detail string)
	Redact  func(secret string)
}

// Plugin is what one instance asks for, through all its processes: a plugin that crashes
// has no fuller quota.
type Plugin struct {
	calls *Calls
	name  string
	log   hclog.Logger
	limit *process.Limit // of what it logs

	services meter
	refusals meter
}

// Plugin is an instance that has asked for nothing yet.
func (t *Calls) Plugin(instance string, log hclog.Logger) *Plugin {
	return &Plugin{calls: t, name: instance, log: log, limit: process.NewLimit(log)}
}

// Process is the daemon as one process of a plugin sees it.
type Process struct {
	*Plugin
	may atomic.Pointer[reach] // what it was started with
}

// Process is one that may ask for nothing; nil where the daemon offers nothing.
func (p *Plugin) Process() *Process {
	if p.calls.cfg.Services == nil {
		return nil
	}
	return &Process{Plugin: p}
}

// Allow says what the process may ask for, before it learns where: what its manifest
// declares and its block allows. Nothing is allowed for nil.
func (b *Process) Allow(spec inspect.Spec, m *sdk.Manifest) {
	if b != nil {
		r := newReach(spec, m)
		b.may.Store(&r)
	}
}

// Asks reports whether the plugin may ask people something: a call of it has no end that is
// known when it begins.
func (b *Process) Asks() bool {
	return b != nil && b.reach().granted(sdk.GrantTools) == nil && b.reach().tool(sdk.ToolAskUser, sdk.ToolAskUser) == nil
}

// reach is nothing before Allow.
func (b *Process) reach() *reach {
	if r := b.may.Load(); r != nil {
		return r
	}
	return &reach{}
}

// served is answered for a call that may do more than read.
func served[T any](ctx context.Context, b *Process, grant string, allowed func(*running) error, do func(context.Context, sdk.Caller) (T, error)) (out T, err error) {
	return answered(ctx, b, grant, func(r *running) error {
		if r.Reads != 0 {
			return b.reach().refuse("was asked about a prompt by a filter, within which it reads entries of its own schemes and does nothing else")
		}
		return allowed(r)
	}, do)
}

// looked is answered for a reading of entries, which a filter may do within the schemes of its plugin.
func looked[T any](ctx context.Context, b *Process, named string, allowed func() error, do func(context.Context, sdk.Caller) (T, error)) (out T, err error) {
	return answered(ctx, b, sdk.GrantEntries, func(r *running) error {
		if r.Reads != 0 && !slices.Contains(b.reach().own, sdk.SchemeOf(named)) {
			return b.reach().refuse("was asked about a prompt by a filter, within which it reads entries of its own schemes alone, and %s is none", clip(named))
		}
		return allowed()
	}, do)
}

// answered counts a request, checks the grant, finds the call that it serves, asks allowed
// about the rest, and does it. Its context ends when the request does or the call, whose
// deadline it has; until it is done the call may be silent. A panic ends the request alone.
func answered[T any](ctx context.Context, b *Process, grant string, allowed func(*running) error, do func(context.Context, sdk.Caller) (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.log.Error("a panic ended a request of the plugin", "panic", p, "stack", string(debug.Stack()))
			err = sdk.Errorf(sdk.Internal, "an internal error ended the request: %v", p)
		}
	}()
	r, err := b.serves(ctx, grant)
	if err == nil {
		err = allowed(r)
	}
	if err != nil {
		return out, b.refused(err)
	}
	ctx, done := tie(deeper(ctx, r.Depth), r.ctx)
	defer done()
	defer r.silence.Hold()()
	return do(ctx, r.Caller)
}

func (b *Process) serves(ctx context.Context, grant string) (*running, error) {
	if err := b.within(time.Now()); err != nil {
		return nil, err
	}
	if err := b.reach().granted(grant); err != nil {
		return nil, err
	}
	return b.calls.find(b.name, host.Call(ctx))
}

// tie makes a request end with the call that it serves: it runs out of time when
// the call does, and is aborted when the call is.
//
// Both sides watch the deadline: what breaks off just before it has run out of
// time as well, and the timer is left to say so.
func tie(ctx, call context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := call.Deadline()
	if !bounded {
		tied, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(call, cancel)
		return tied, func() { stop(); cancel() }
	}
	tied, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	aborted := func() {
		if time.Until(deadline) > nearDeadline {
			cancel()
		}
	}
	stop, stopCall := context.AfterFunc(ctx, aborted), context.AfterFunc(call, aborted)
	return tied, func() { stop(); stopCall(); cancel() }
}

// nearDeadline is how far two timers for the same moment may be apart.
const nearDeadline = 50 * time.Millisecond

// refused tells of a refusal that somebody may want to know of: what is not
// granted, and too much of what is.
func (b *Process) refused(err error) error {
	switch sdk.OutcomeOf(err) {
	case sdk.Permission, sdk.Unavailable:
		if b.refusals.take(refusalsPerMinute, time.Now()) == 0 {
			b.calls.cfg.Refused(b.name, err.Error())
		}
	}
	return err
}

// Entry implements host.Host.
func (b *Process) Entry(ctx context.Context, path string) (sdk.Entry, error) {
	return looked(ctx, b, path, func() error { return b.reach().scheme(path) }, func(ctx context.Context, c sdk.Caller) (sdk.Entry, error) {
		return b.calls.cfg.Services.Entry(ctx, c, path)
	})
}

// Entries implements host.Host. It finds nothing of schemes out of reach.
func (b *Process) Entries(ctx context.Context, pattern string) ([]sdk.Entry, error) {
	return looked(ctx, b, pattern, func() error { return b.reach().target(pattern) }, func(ctx context.Context, c sdk.Caller) ([]sdk.Entry, error) {
		found, err := b.calls.cfg.Services.Entries(ctx, c, pattern)
		return slices.DeleteFunc(found, func(e sdk.Entry) bool { return !b.reach().sees(e) }), err
	})
}

// Write implements host.Host. The writer is plugin, whatever the plugin says.
func (b *Process) Write(ctx context.Context, writes ...sdk.Write) ([]sdk.Entry, error) {
	return served(ctx, b, sdk.GrantEntries, func(*running) error {
		for n, w := range writes {
			if err := b.reach().scheme(w.Path); err != nil {
				return err
			}
			writes[n].Writer = sdk.WriterPlugin
		}
		return nil
	}, func(ctx context.Context, c sdk.Caller) ([]sdk.Entry, error) {
		return b.calls.cfg.Services.Write(ctx, c, writes)
	})
}

// Keep takes the entries that the result of a call brings (sdk.ToolResult.Writes), for which what
// the block allows holds as for Write. They are plain writes: nothing else of them counts. The error names
// the right that is missing.
func (b *Process) Keep(writes []sdk.Write) ([]sdk.Write, error) {
	if b == nil || len(writes) == 0 {
		return nil, nil
	}
	if err := b.reach().granted(sdk.GrantEntries); err != nil {
		return nil, b.refused(err)
	}
	if len(writes) > sdk.MostWrites {
		return nil, sdk.Errorf(sdk.Overflow, "a call may bring %d entries, and this one brings %d", sdk.MostWrites, len(writes))
	}
	kept := make([]sdk.Write, len(writes))
	for n, w := range writes {
		if err := b.reach().scheme(w.Path); err != nil {
			return nil, b.refused(err)
		}
		kept[n] = sdk.Write{Path: w.Path, Body: w.Body, Attributes: w.Attributes, Visibility: w.Visibility, State: sdk.StateResolved, Writer: sdk.WriterPlugin}
	}
	return kept, nil
}

// Do implements host.Host. Patterns find nothing of schemes out of reach.
func (b *Process) Do(ctx context.Context, calls ...sdk.EntryCall) ([]sdk.EntryDone, error) {
	return served(ctx, b, sdk.GrantEntries, func(*running) error {
		for _, c := range calls {
			for _, target := range targets(c) {
				if err := b.reach().verb(target); err != nil {
					return err
				}
				if sdk.SchemeOf(target) != "run" {
					continue
				}
				if err := b.reach().granted(sdk.GrantRuns); err != nil {
					return err
				}
			}
		}
		return nil
	}, func(ctx context.Context, c sdk.Caller) ([]sdk.EntryDone, error) {
		return b.calls.cfg.Services.Do(ctx, c, calls, func(path string) bool { return b.reach().finds(path) })
	})
}

// targets are what a use of a verb names.
func targets(c sdk.EntryCall) []string {
	switch c.Verb {
	case sdk.VerbUpdate:
		return []string{sdk.UpdatePath(0)}
	case sdk.VerbCopy, sdk.VerbMove:
		return []string{c.Path, c.To}
	default:
		return []string{c.Path}
	}
}

// Invoke implements host.Host. While a person thinks about a question the call may take
// its time.
func (b *Process) Invoke(ctx context.Context, tool string, arguments []byte) (sdk.ToolResult, error) {
	pause := func() (goOn func()) { return func() {} }
	return served(ctx, b, sdk.GrantTools, func(r *running) error {
		if tool == sdk.ToolAskUser {
			if err := b.reach().tool(tool, tool); err != nil {
				return err
			}
			pause = r.silence.Pause
			return b.asksPerson(r)
		}
		bare, full, err := b.calls.cfg.Tool(tool)
		if err != nil {
			return err
		}
		return b.reach().tool(bare, full)
	}, func(ctx context.Context, c sdk.Caller) (sdk.ToolResult, error) {
		defer pause()()
		return b.calls.cfg.Services.Invoke(ctx, c, tool, arguments)
	})
}

// Complete implements host.Host.
func (b *Process) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	_, err := served(ctx, b, sdk.GrantModels, func(r *running) error {
		if err := b.reach().model(r.Model, req.Model); err != nil {
			return err
		}
		return b.asks(r)
	}, func(ctx context.Context, c sdk.Caller) (struct{}, error) {
		req.Run = c.Run
		return struct{}{}, b.calls.cfg.Services.Complete(ctx, c, req, send)
	})
	return err
}

// Secret implements host.Host. It needs no call: a plugin may ask when it is
// configured.
func (b *Process) Secret(ctx context.Context, name string) (string, error) {
	if err := b.mayKnow(name); err != nil {
		return "", b.refused(err)
	}
	c := sdk.Caller{Instance: b.name}
	if r, err := b.calls.find(b.name, host.Call(ctx)); err == nil {
		var done context.CancelFunc
		ctx, done = tie(ctx, r.ctx)
		defer done()
		c = r.Caller
	}
	v, err := b.calls.cfg.Services.Secret(ctx, c, name)
	if err == nil {
		b.calls.cfg.Redact(v)
	}
	return v, err
}

func (b *Process) mayKnow(secret string) error {
	if err := b.within(time.Now()); err != nil {
		return err
	}
	if err := b.reach().granted(sdk.GrantSecrets); err != nil {
		return err
	}
	return b.reach().secret(secret)
}

// Login implements host.Host. It needs no grant and no call: the block has one login, or none.
func (b *Process) Login(ctx context.Context) (string, error) {
	key, err := b.login()
	if err != nil {
		return "", err
	}
	return b.calls.cfg.Services.Login(ctx, key)
}

// KeepLogin implements host.Host.
func (b *Process) KeepLogin(ctx context.Context, was, now string) error {
	key, err := b.login()
	if err != nil {
		return err
	}
	return b.calls.cfg.Services.KeepLogin(ctx, key, was, now)
}

// login is the key of the block's login.
func (b *Process) login() (string, error) {
	if err := b.within(time.Now()); err != nil {
		return "", b.refused(err)
	}
	if key := b.reach().spec.Login; key != "" {
		return key, nil
	}
	return "", sdk.Errorf(sdk.NotFound, "the block of this plugin is none that a person logs in for")
}

// Log implements host.Host. It needs no grant; like standard error, it is
// limited.
func (b *Process) Log(_ context.Context, level, message string, fields map[string]string) error {
	if !b.limit.Admit(len(message)) {
		return nil
	}
	args := make([]any, 0, 2*len(fields))
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		args = append(args, k, fields[k])
	}
	l := hclog.LevelFromString(level)
	if l == hclog.NoLevel || l > hclog.Error {
		l = hclog.Info
	}
	b.log.Log(l, message, args...)
	return nil
}

var _ host.Host = (*Process)(nil)
