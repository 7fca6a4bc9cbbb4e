package sdktest

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Block is what the operator's block of a plugin says, and the daemon behind it.
type Block struct {
	Settings string // the plugin's own attributes, a JSON object; the others take their defaults
	// Grants are what the block grants. A service that is not among them answers
	// permission, and without the grant project no call has a project, as in the daemon.
	Grants []string
	Daemon *Daemon // what the grants reach; nil has nothing
}

// Plugin is a plugin that was configured by a block. Its methods are the suites of
// this package for the kinds that its Options have; calls reach the daemon as far as
// the block grants it.
type Plugin struct {
	t       *testing.T
	options plugin.Options
	host    host.Host
	granted []string
}

// Configure configures a plugin as the daemon does: it fills Options.Config with the
// settings and the defaults, and calls Options.Configure. A refusal fails the test;
// who wants to see one uses [plugin.Decode] and calls Configure itself.
func Configure(t *testing.T, o plugin.Options, b Block) *Plugin {
	t.Helper()
	if b.Daemon == nil {
		b.Daemon = &Daemon{}
	}
	p := &Plugin{t: t, options: o, host: granted{b.Daemon, b.Grants, o.Calls}, granted: b.Grants}
	config := json.RawMessage(b.Settings)
	if b.Settings == "" {
		config = json.RawMessage("{}")
	}
	if err := known(o.Config, config); err != nil {
		t.Fatalf("the settings of the block: %v", err)
	}
	if o.Config != nil {
		if err := plugin.Decode(config, o.Config); err != nil {
			t.Fatalf("the settings of the block: %v", err)
		}
	}
	if o.Configure == nil {
		return p
	}
	s := sdk.Settings{Instance: o.Name, Generation: 1, Config: config, DataDir: t.TempDir(), SocketDir: t.TempDir(), Prefix: t.TempDir()}
	if slices.Contains(b.Grants, sdk.GrantSandbox) {
		s.Sandbox = &sdk.Sandbox{}
	}
	if err := o.Configure(host.With(soon(t), p.host), s); err != nil {
		t.Fatalf("the plugin refuses its configuration: %v", err)
	}
	return p
}

// known refuses what the daemon refuses of a block where it stands.
func known(config any, settings json.RawMessage) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(settings, &values); err != nil {
		return sdk.Errorf(sdk.Validation, "the settings of the block are no JSON object: %w", err)
	}
	var declared *sdk.ConfigSchema
	if config != nil {
		var err error
		if declared, err = plugin.Schema(config); err != nil {
			return err
		}
	}
	return declared.CheckValues(values)
}

// Tool is the suite [Tool] for the plugin's tools.
func (p *Plugin) Tool(calls ...Call) {
	p.t.Helper()
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Project = p.told(calls[i].Project)
	}
	testTool(p.t, p.options.Tool, serving(p.host), calls)
}

// told is what the plugin is told of a call's project.
func (p *Plugin) told(project string) string {
	if slices.Contains(p.granted, sdk.GrantProject) || slices.Contains(p.granted, sdk.GrantSandbox) {
		return project
	}
	return ""
}

// Skill is the suite [Skill] for the plugin's code skills.
func (p *Plugin) Skill(executions ...Execution) {
	p.t.Helper()
	executions = slices.Clone(executions)
	for i := range executions {
		executions[i].Project = p.told(executions[i].Project)
	}
	Skill(p.t, p.options.Skill, p.host, executions...)
}

// Agent is the suite [Agent] for the plugin's agents and judgements.
func (p *Plugin) Agent(works ...Judged) {
	p.t.Helper()
	works = slices.Clone(works)
	for i := range works {
		works[i].Project = p.told(works[i].Project)
	}
	Agent(p.t, p.options.Agent, p.host, works...)
}

// Provider is the suite [Provider] for the plugin's models.
func (p *Plugin) Provider(requests ...sdk.Request) {
	p.t.Helper()
	Provider(p.t, p.options.Provider, requests...)
}

// Hook is the suite [Hook] for the plugin's subscriptions.
func (p *Plugin) Hook(heard ...Heard) {
	p.t.Helper()
	testHook(p.t, p.options.Hook, serving(p.host), heard)
}

// serving is WithHost for calls of both forms.
func serving(h host.Host) []grpc.ServerOption {
	return []grpc.ServerOption{WithHost(h), grpc.ChainUnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			return next(host.With(host.Incoming(ctx), h), req)
		})}
}

// granted is a daemon as a block grants it.
type granted struct {
	host.Host
	grants []string
	calls  sdk.Calls // what the plugin declares that it calls
}

// undeclared refuses what the plugin does not declare, as the daemon does whatever a block
// grants. field is of sdk.Calls.
func (g granted) undeclared(field string, declared []string, name string) error {
	_, bare, qualified := strings.Cut(name, "__")
	if slices.ContainsFunc(declared, func(pattern string) bool {
		is, _ := path.Match(pattern, name)
		short, _ := path.Match(pattern, bare)
		return is || qualified && short
	}) {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "the plugin does not declare that it calls %s: add Calls: sdk.Calls{%s: []string{%q}} to its Options", name, field, name)
}

func (g granted) lacks(grant string) error {
	if slices.Contains(g.grants, grant) {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "the plugin is not granted %q: write into its block grants = [%q]", grant, grant)
}

// Entry implements host.Host.
func (g granted) Entry(ctx context.Context, path string) (sdk.Entry, error) {
	if err := g.lacks(sdk.GrantEntries); err != nil {
		return sdk.Entry{}, err
	}
	return g.Host.Entry(ctx, path)
}

// Entries implements host.Host.
func (g granted) Entries(ctx context.Context, glob string) ([]sdk.Entry, error) {
	if err := g.lacks(sdk.GrantEntries); err != nil {
		return nil, err
	}
	return g.Host.Entries(ctx, glob)
}

// Write implements host.Host.
func (g granted) Write(ctx context.Context, writes ...sdk.Write) ([]sdk.Entry, error) {
	if err := g.lacks(sdk.GrantEntries); err != nil {
		return nil, err
	}
	return g.Host.Write(ctx, writes...)
}

// Do implements host.Host.
func (g granted) Do(ctx context.Context, calls ...sdk.EntryCall) ([]sdk.EntryDone, error) {
	if err := g.lacks(sdk.GrantEntries); err != nil {
		return nil, err
	}
	return g.Host.Do(ctx, calls...)
}

// Invoke implements host.Host.
func (g granted) Invoke(ctx context.Context, tool string, arguments []byte) (sdk.ToolResult, error) {
	if err := g.lacks(sdk.GrantTools); err != nil {
		return sdk.ToolResult{}, err
	}
	if err := g.undeclared("Tools", g.calls.Tools, tool); err != nil {
		return sdk.ToolResult{}, err
	}
	return g.Host.Invoke(ctx, tool, arguments)
}

// Complete implements host.Host.
func (g granted) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	if err := g.lacks(sdk.GrantModels); err != nil {
		return err
	}
	if req.Model != "" {
		if err := g.undeclared("Models", g.calls.Models, req.Model); err != nil {
			return err
		}
	}
	return g.Host.Complete(ctx, req, send)
}

// Secret implements host.Host.
func (g granted) Secret(ctx context.Context, name string) (string, error) {
	if err := g.lacks(sdk.GrantSecrets); err != nil {
		return "", err
	}
	if err := g.undeclared("Secrets", g.calls.Secrets, name); err != nil {
		return "", err
	}
	return g.Host.Secret(ctx, name)
}
