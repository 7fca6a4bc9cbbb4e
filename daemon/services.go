package daemon

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/sdk"
)

// services is what plugins may ask of the daemon. The host has checked grants
// and found the call that is served; here the run of that call is found.
type services struct{ d *Daemon }

var _ host.Services = (*services)(nil)

// Entry implements host.Services.
func (s *services) Entry(ctx context.Context, c host.Caller, path string) (sdk.Entry, error) {
	run, err := s.run(ctx, c)
	if err != nil {
		return sdk.Entry{}, err
	}
	return s.d.store.Entry(ctx, run, path)
}

// Entries implements host.Services.
func (s *services) Entries(ctx context.Context, c host.Caller, glob string) ([]sdk.Entry, error) {
	run, err := s.run(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.d.store.Entries(ctx, run, glob)
}

// actionPlace is where the engine keeps actions. What stands there is what
// happened, so no plugin writes it.
const actionPlace = "log://turn_"

// Write implements host.Services. The writes are one commit, or none.
func (s *services) Write(ctx context.Context, c host.Caller, writes []sdk.Write) ([]sdk.Entry, error) {
	run, err := s.run(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, w := range writes {
		if strings.HasPrefix(strings.ToLower(w.Path), actionPlace) {
			return nil, sdk.Errorf(sdk.Permission, "%s tells what happened in a turn, so a plugin may not write it; write below log://%s/ instead", w.Path, c.Instance)
		}
		if saysMeaning(w) {
			return nil, sdk.Errorf(sdk.Permission, "%s: what a prompt stands for, which the model reads and people are not shown, is the daemon's to say; write the body instead", w.Path)
		}
	}
	r, err := s.d.store.Commit(ctx, sdk.Change{Run: run, Writes: writes})
	return r.Entries, err
}

// saysMeaning reports whether a write would have a model read something else in
// the place of a prompt. JSON is read without regard to the case of names.
func saysMeaning(w sdk.Write) bool {
	var attributes map[string]json.RawMessage
	if sdk.SchemeOf(w.Path) != "prompt" || json.Unmarshal(w.Attributes, &attributes) != nil {
		return false
	}
	for name := range attributes {
		if strings.EqualFold(name, "meaning") {
			return true
		}
	}
	return false
}

// Invoke implements host.Services. Policy judges the call like a model's, and
// the journal has it before it has an effect.
func (s *services) Invoke(ctx context.Context, c host.Caller, tool string, arguments []byte) (sdk.ToolResult, error) {
	run, err := s.run(ctx, c)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	action := sdk.PolicyRequest{Arguments: arguments, Project: c.Project}
	if action.ReadOnly, action.Mode, err = s.standing(ctx, run); err != nil {
		return sdk.ToolResult{}, err
	}
	if action.Tool, err = s.find(tool); err != nil {
		return sdk.ToolResult{}, err
	}
	decision := s.d.policy.Decide(action)
	if decision.Verdict == sdk.Propose {
		decision.Verdict = sdk.Deny
		decision.Reason += "; a plugin's call waits for nobody, so that it is not made"
	}
	note := sdk.Note{Kind: sdk.KindNote + ".call", Data: map[string]any{
		"plugin": c.Instance, "for": c.Call, "tool": tool, "arguments": json.RawMessage(arguments), "decision": decision,
	}}
	receipt, err := s.d.store.Commit(ctx, sdk.Change{Run: run, Notes: []sdk.Note{note}})
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if decision.Verdict != sdk.Allow {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Permission, "%s", decision.Reason)
	}
	r, err := s.d.host.Invoke(ctx, sdk.Invocation{
		Tool: tool, Arguments: arguments, Argv: decision.Argv, Run: c.Run, Project: c.Project, RunDir: c.RunDir,
	}, unheard{})
	if err := s.d.keepChanges(context.WithoutCancel(ctx), run, receipt.Seq, tool, r); err != nil {
		s.d.log.Error("what a plugin's call of a tool changed in the project could not be recorded, and cannot be taken back", "plugin", c.Instance, "tool", tool, "error", err)
	}
	return r, err
}

// standing is whether the loop that works in the run may only read, and its mode, so that
// what a prompt may not do is not done by way of a plugin. Without a loop it is a
// person who called.
func (s *services) standing(ctx context.Context, run int64) (bool, sdk.Mode, error) {
	l, working, err := s.loop(ctx, run)
	if err != nil {
		return true, "", err
	}
	if working {
		return l.ReadOnly, engine.ModeOf(l, s.d.current().Agents[l.Agent]), nil
	}
	return false, sdk.ModeRestricted, nil
}

// loop is the one that works in the run, if one does.
func (s *services) loop(ctx context.Context, run int64) (sdk.Loop, bool, error) {
	running, err := s.d.store.Unfinished(ctx)
	if err != nil {
		return sdk.Loop{}, false, err
	}
	for _, l := range running {
		if l.Run == run {
			return l, true, nil
		}
	}
	return sdk.Loop{}, false, nil
}

// find looks a tool up by its bare name or as plugin__tool.
func (s *services) find(name string) (sdk.Tool, error) {
	for _, t := range s.d.host.Tools() {
		if t.Name == name || t.Plugin+"__"+t.Name == name {
			return t, nil
		}
	}
	return sdk.Tool{}, sdk.Errorf(sdk.NotFound, "there is no tool %q", name)
}

// unheard is the stream of a call that a plugin makes: its result is all that
// the plugin gets.
type unheard struct{}

func (unheard) Chunk(int, []byte) error        { return nil }
func (unheard) Progress(string, float64) error { return nil }

// Complete implements host.Services. The model is an alias or provider/name;
// none is the run's own. Whatever it came to, the journal says so.
func (s *services) Complete(ctx context.Context, c host.Caller, req sdk.Request, send func(sdk.Delta) error) error {
	run, err := s.run(ctx, c)
	if err != nil && c.RunDir != "" {
		return err
	}
	if req.Model == "" && run != 0 {
		if req.Model, err = s.model(ctx, run); err != nil {
			return err
		}
	}
	choice, err := s.d.models.Resolve(ctx, req.Model)
	if err != nil {
		return err
	}
	req.Model = choice.Name
	if req.Context == 0 {
		req.Context = choice.Context
	}
	var usage *sdk.Usage
	noticing := func(d sdk.Delta) error {
		if d.Usage != nil {
			usage = d.Usage
		}
		return send(d)
	}
	quietly := func(sdk.Retry) error { return nil }
	err = s.d.models.Complete(ctx, choice.Alias, req, noticing, quietly)
	if run != 0 {
		s.noteCompletion(context.WithoutCancel(ctx), run, c, choice.Alias, usage, err)
	}
	return err
}

// model is that of the loop which works in the run, else the run's.
func (s *services) model(ctx context.Context, run int64) (string, error) {
	l, working, err := s.loop(ctx, run)
	if err != nil || working && l.Model != "" {
		return l.Model, err
	}
	r, err := s.d.store.Run(ctx, run)
	return r.Model, err
}

// noteCompletion writes into the journal what a plugin asked of a model and
// what it cost. One that cannot be written does not undo the answer.
func (s *services) noteCompletion(ctx context.Context, run int64, c host.Caller, model string, usage *sdk.Usage, failed error) {
	data := map[string]any{"plugin": c.Instance, "for": c.Call, "model": model, "usage": usage}
	if failed != nil {
		data["error"] = failed.Error()
	}
	note := sdk.Note{Kind: sdk.KindNote + ".completion", Data: data}
	if _, err := s.d.store.Commit(ctx, sdk.Change{Run: run, Notes: []sdk.Note{note}}); err != nil {
		s.d.log.Error("what a plugin asked of a model could not be recorded", "plugin", c.Instance, "error", err)
	}
}

// Secret implements host.Services: from the environment, as secret() does.
func (s *services) Secret(_ context.Context, _ host.Caller, name string) (string, error) {
	return s.d.current().Secret(name)
}

// run finds the run of a call by its key: the last part of its folder.
func (s *services) run(ctx context.Context, c host.Caller) (int64, error) {
	if c.Run == "" || filepath.Base(c.RunDir) != c.Run {
		return 0, sdk.Errorf(sdk.Validation, "this call belongs to no run, so there are no entries to read or write")
	}
	run, err := s.d.store.RunByKey(ctx, c.Run)
	return run.ID, err
}
