package sdktest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/match"
)

// Daemon is the daemon's services in memory, for tests of what calls them. What
// a field does not say answers as a daemon does that grants or has nothing. Its
// zero value is ready.
type Daemon struct {
	// Tools are what Invoke finds, by name.
	Tools map[string]func(ctx context.Context, arguments json.RawMessage) (sdk.ToolResult, error)
	// Answer is the model: the text of a completion, sent in two pieces.
	Answer func(ctx context.Context, req sdk.Request) (string, error)
	// Secrets are what Secret finds, by name.
	Secrets map[string]string

	mu      sync.Mutex
	asked   []sdk.Request
	called  []string
	entries map[string]sdk.Entry
	login   string
}

// Asked are the requests for completions so far.
func (d *Daemon) Asked() []sdk.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

// Called are the names of the tools that were invoked so far.
func (d *Daemon) Called() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.called)
}

// Entry implements host.Host.
func (d *Daemon) Entry(_ context.Context, path string) (sdk.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.entries[path]; ok {
		return e, nil
	}
	return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "%s is not in view", path)
}

// Entries implements host.Host.
func (d *Daemon) Entries(_ context.Context, pattern string) ([]sdk.Entry, error) {
	p, err := match.Parse(pattern)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []sdk.Entry
	for path, e := range d.entries {
		fits, err := p.Match(path)
		if err != nil {
			return nil, err
		}
		if fits {
			found = append(found, e)
		}
	}
	return found, nil
}

// Write implements host.Host.
func (d *Daemon) Write(_ context.Context, writes ...sdk.Write) ([]sdk.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.entries == nil {
		d.entries = map[string]sdk.Entry{}
	}
	var written []sdk.Entry
	for _, w := range writes {
		e := sdk.Entry{Path: w.Path, Writer: sdk.WriterPlugin}
		if w.Body != nil {
			e.Body = *w.Body
		}
		d.entries[w.Path] = e
		written = append(written, e)
	}
	return written, nil
}

// Do implements host.Host. It knows set, get, rm, cp and mv of one path each, and update.
func (d *Daemon) Do(ctx context.Context, calls ...sdk.EntryCall) ([]sdk.EntryDone, error) {
	var done []sdk.EntryDone
	for _, c := range calls {
		from, err := d.Entry(ctx, c.Path)
		path, body := c.Path, c.Body
		switch c.Verb {
		case sdk.VerbUpdate:
			path, err = sdk.UpdatePath(0), nil
		case sdk.VerbSet:
			if err = nil; body == nil {
				body = &from.Body
			} else if c.Append {
				body = new(from.Body + *body)
			}
		case sdk.VerbCopy, sdk.VerbMove:
			path, body = c.To, &from.Body
		}
		if err != nil {
			return nil, err
		}
		written := []sdk.Entry{from}
		if c.Verb != sdk.VerbGet && c.Verb != sdk.VerbRemove {
			if written, err = d.Write(ctx, sdk.Write{Path: path, Body: body}); err != nil {
				return nil, err
			}
		}
		if c.Verb == sdk.VerbRemove || c.Verb == sdk.VerbMove {
			d.mu.Lock()
			delete(d.entries, c.Path)
			d.mu.Unlock()
		}
		done = append(done, sdk.EntryDone{Text: written[0].Body, Entries: written})
	}
	return done, nil
}

// Invoke implements host.Host.
func (d *Daemon) Invoke(ctx context.Context, tool string, arguments []byte) (sdk.ToolResult, error) {
	d.mu.Lock()
	d.called = append(d.called, tool)
	d.mu.Unlock()
	do, ok := d.Tools[tool]
	if !ok {
		return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "there is no tool %q", tool)
	}
	return do(ctx, arguments)
}

// Complete implements host.Host.
func (d *Daemon) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	d.mu.Lock()
	d.asked = append(d.asked, req)
	d.mu.Unlock()
	if d.Answer == nil {
		return sdk.Errorf(sdk.Permission, "the plugin is not granted %q", sdk.GrantModels)
	}
	text, err := d.Answer(ctx, req)
	if err != nil {
		return err
	}
	half := len(text) / 2
	for _, delta := range []sdk.Delta{{Text: text[:half]}, {Text: text[half:]}, {Finish: &sdk.Finish{Reason: "stop"}}} {
		if err := send(delta); err != nil {
			return err
		}
	}
	return nil
}

// Secret implements host.Host.
func (d *Daemon) Secret(_ context.Context, name string) (string, error) {
	if v, ok := d.Secrets[name]; ok {
		return v, nil
	}
	return "", sdk.Errorf(sdk.Permission, "the block does not name the secret %q", name)
}

// Login implements host.Host.
func (d *Daemon) Login(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.login == "" {
		return "", sdk.Errorf(sdk.NotFound, "nobody has logged in")
	}
	return d.login, nil
}

// KeepLogin implements host.Host.
func (d *Daemon) KeepLogin(_ context.Context, was, now string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.login == "":
		return sdk.Errorf(sdk.NotFound, "nobody is logged in any more")
	case d.login != was:
		return sdk.Errorf(sdk.Conflict, "another login is kept by now")
	}
	d.login = now
	return nil
}

// SetLogin has a person log in, or with an empty text out.
func (d *Daemon) SetLogin(login string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.login = login
}

// Log implements host.Host. It keeps nothing.
func (d *Daemon) Log(context.Context, string, string, map[string]string) error { return nil }

var _ host.Host = (*Daemon)(nil)
