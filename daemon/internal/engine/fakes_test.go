package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// step is one completion of the scripted model.
type step func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error

// fakeModels plays steps in order; when they are used up it answers "done".
type fakeModels struct {
	context int
	tools   *bool
	gone    bool // there is no model at all
	inputs  []string
	seeing  []string
	price   *sdk.Price
	listed  *sdk.Price
	each    func(sdk.Request) step // goes before steps
	local   map[string]bool        // by alias

	mu       sync.Mutex
	steps    []step
	requests []sdk.Request
	use      sdk.ContextUse
}

func (m *fakeModels) Resolve(_ context.Context, name string) (sdk.ModelChoice, error) {
	if name == "missing" || m.gone {
		return sdk.ModelChoice{}, sdk.Errorf(sdk.NotFound, "there is no model %q", name)
	}
	alias := name
	if alias == "" {
		alias = "fake/m"
	}
	return sdk.ModelChoice{Alias: alias, Provider: "fake", Name: "m", Context: m.context, Tools: m.tools, Price: m.price, Why: "it is the only one", Local: m.local[alias]}, nil
}

func (m *fakeModels) ResolveConfigured(ctx context.Context, name string) (sdk.ModelChoice, error) {
	return m.Resolve(ctx, name)
}

func (m *fakeModels) IsLast(name string) bool { return name == "replay/last" }

func (m *fakeModels) ContextUse(string) sdk.ContextUse { return m.use }

func (m *fakeModels) Inputs(_ context.Context, c sdk.ModelChoice) (inputs, seeing []string) {
	if c.Inputs != nil {
		return c.Inputs, nil
	}
	return m.inputs, m.seeing
}

func (m *fakeModels) ListedPrice(context.Context, sdk.ModelChoice) *sdk.Price { return m.listed }

func (m *fakeModels) Complete(ctx context.Context, _ string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	next := say("done")
	if len(m.steps) > 0 {
		next, m.steps = m.steps[0], m.steps[1:]
	}
	m.mu.Unlock()
	if m.each != nil {
		next = m.each(req)
	}
	return next(ctx, req, send, retry)
}

// then adds a step.
func (m *fakeModels) then(s step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, s)
}

func (m *fakeModels) asked() []sdk.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

func endWith(send func(sdk.Delta) error, reason string) error {
	if err := send(sdk.Delta{Usage: &sdk.Usage{Prompt: 10, Completion: 5, Total: 15}}); err != nil {
		return err
	}
	return send(sdk.Delta{Finish: &sdk.Finish{Reason: reason}})
}

func say(text string) step {
	return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if text != "" {
			if err := send(sdk.Delta{Text: text}); err != nil {
				return err
			}
		}
		return endWith(send, "stop")
	}
}

// call is one call of the script: a tool and its arguments.
type call struct{ tool, arguments string }

func calls(cs ...call) step {
	return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		for i, c := range cs {
			half := len(c.arguments) / 2
			for _, d := range []sdk.CallDelta{
				{Index: i, ID: fmt.Sprintf("id%d", i), Tool: c.tool, Arguments: c.arguments[:half]},
				{Index: i, Arguments: c.arguments[half:]},
			} {
				if err := send(sdk.Delta{Call: &d}); err != nil {
					return err
				}
			}
		}
		return endWith(send, "calls")
	}
}

// numbered makes the same tool be called with different arguments.
func numbered(tool string, n int) call { return call{tool, fmt.Sprintf(`{"path":"f%d"}`, n)} }

func failing(err error) step {
	return func(context.Context, sdk.Request, func(sdk.Delta) error, func(sdk.Retry) error) error { return err }
}

// hanging waits for the end of its context; begun is told when it does.
func hanging(begun chan<- struct{}) step {
	return func(ctx context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Text: "half an ans"}); err != nil {
			return err
		}
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
}

// silent is hanging without a word before it.
func silent(begun chan<- struct{}) step {
	return func(ctx context.Context, _ sdk.Request, _ func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
}

// fakeTool is what a scripted tool does.
type fakeTool func(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error)

type fakeTools struct {
	mu       sync.Mutex
	specs    []sdk.Tool
	does     map[string]fakeTool
	made     []sdk.Invocation
	settles  map[string]sdk.ToolResult                    // what is still known of a call, by tool
	settle   func(sdk.Invocation) (sdk.ToolResult, error) // goes before settles
	settled  []sdk.Invocation
	stage    func(sdk.Invocation) (sdk.Staged, error)
	prepare  func(context.Context, sdk.Place) error
	gathered []sdk.Agent // for whom
	gather   func(sdk.Agent)
	accepted string // a server of MCP
}

func newFakeTools() *fakeTools {
	f := &fakeTools{does: map[string]fakeTool{}}
	f.add("read", sdk.Annotations{ReadOnly: true}, true, sdk.GrantProject)
	f.add("read_bad", sdk.Annotations{ReadOnly: true}, true, sdk.GrantProject)
	f.add("write", sdk.Annotations{Destructive: true}, true, sdk.GrantProject)
	f.add("write_bad", sdk.Annotations{Destructive: true}, true, sdk.GrantProject)
	f.add("bash", sdk.Annotations{Destructive: true}, true, sdk.GrantSandbox)
	f.add("finish", sdk.Annotations{ReadOnly: true, Terminal: true}, true)
	f.add("loose", sdk.Annotations{ReadOnly: true}, false)
	fail := func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Output: "it did not work", Error: "exit status 1", Outcome: sdk.Timeout}, nil
	}
	f.does["read_bad"], f.does["write_bad"] = fail, fail
	f.add("grep", sdk.Annotations{ReadOnly: true}, true, sdk.GrantProject)
	f.does["grep"] = func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Output: "nothing", Error: "exit status 1", Outcome: sdk.Exit(1)}, nil
	}
	return f
}

func (f *fakeTools) add(name string, a sdk.Annotations, pinned bool, grants ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.specs = append(f.specs, sdk.Tool{
		ToolSpec: sdk.ToolSpec{Name: name, Description: "does " + name, Parameters: json.RawMessage(`{"type":"object"}`), Annotations: a},
		Plugin:   "fake", Pinned: pinned, Grants: grants,
	})
}

func (f *fakeTools) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.specs = slices.DeleteFunc(f.specs, func(t sdk.Tool) bool { return t.Name == name })
}

func (f *fakeTools) Missing(name string) error {
	if name == "broken" {
		return sdk.Errorf(sdk.Unavailable, "the plugin evil is broken: it crashed 5 times")
	}
	return nil
}

func (f *fakeTools) Tools() []sdk.Tool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.specs)
}

// become changes what there is of a tool, as another binary of its plugin does.
func (f *fakeTools) become(name string, change func(*sdk.Tool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.specs {
		if f.specs[i].Name == name {
			change(&f.specs[i])
		}
	}
}

func (f *fakeTools) Stage(_ context.Context, call sdk.Invocation) (sdk.Staged, error) {
	if f.stage != nil {
		return f.stage(call)
	}
	return sdk.Staged{}, sdk.Errorf(sdk.Unavailable, "nothing is staged")
}

func (f *fakeTools) Gather(_ context.Context, a sdk.Agent) {
	f.mu.Lock()
	f.gathered = append(f.gathered, a)
	f.mu.Unlock()
	if f.gather != nil {
		f.gather(a)
	}
}

func (f *fakeTools) Accepted(server string) bool { return f.accepted == server }

func (f *fakeTools) Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error) {
	if f.prepare != nil {
		return sdk.Prepared{}, f.prepare(ctx, at)
	}
	return sdk.Prepared{}, sdk.Errorf(sdk.Unavailable, "nothing is prepared")
}

func (f *fakeTools) Settle(_ context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	f.mu.Lock()
	f.settled = append(f.settled, call)
	settle := f.settle
	f.mu.Unlock()
	if settle != nil {
		return settle(call)
	}
	if r, ok := f.settles[call.Tool]; ok {
		return r, nil
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "nobody knows what the call did")
}

func (f *fakeTools) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	f.mu.Lock()
	f.made = append(f.made, call)
	do := f.does[call.Tool]
	f.mu.Unlock()
	if do == nil {
		return sdk.ToolResult{Success: true, Output: call.Tool + " " + string(call.Arguments)}, nil
	}
	return do(ctx, call, out)
}

func (f *fakeTools) on(tool string, do fakeTool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.does[tool] = do
}

// calledTools are the tools that really ran, in order.
func (f *fakeTools) calledTools() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, c := range f.made {
		names = append(names, c.Tool)
	}
	return names
}

func ok(text string) (sdk.ToolResult, error) {
	return sdk.ToolResult{Success: true, Output: text}, nil
}

// agents are those of a configuration that says nothing but what the map has.
type agents func() map[string]sdk.Agent

func (a agents) List(string) (all []sdk.Definition) {
	names := slices.Sorted(maps.Keys(a()))
	all = make([]sdk.Definition, 0, len(names))
	for _, name := range names {
		d, _ := a.Find("", name)
		all = append(all, d)
	}
	return all
}

func (a agents) Find(_, name string) (sdk.Definition, bool) {
	agent, is := a()[name]
	agent.Name = name
	return sdk.Definition{Agent: agent, Source: sdk.AgentOfConfig}, is
}

// Unknown implements Agents: there are no skills that are called missing.
func (agents) Unknown(_ string, a sdk.Agent) []string {
	return slices.DeleteFunc(slices.Clone(a.Skills), func(name string) bool { return name != "missing" })
}

func (a agents) Show(project, name string) (sdk.Definition, bool) { return a.Find(project, name) }
