package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/runentry"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A plugin with the grant runs uses verbs on run://ALIAS as clients do (decision 93). What it begins may do no
// more than the prompt that it works for may.

// mostDeep is how far prompts may come of each other by plugins: one of a person has depth 0.
const mostDeep = 3

// pluginAttributes are the attributes that a plugin may give a run. None widens, and what a later version adds
// to the methods is not among them by itself.
var pluginAttributes = []string{"mode", "agent", "model", "key", "temperature", "persona", "contextLimit", "noRepo", "noInteraction", "noWeb", "noProposals"}

// flagAttributes are those that leave something out.
var flagAttributes = []string{"noRepo", "noInteraction", "noWeb", "noProposals"}

// useRun uses a verb on run://ALIAS for a plugin that serves a call.
func (e *Engine) useRun(ctx context.Context, c sdk.Caller, now *serving, call sdk.EntryCall) (sdk.EntryDone, error) {
	own := now.a.run
	r := runentry.Reader{Store: e.cfg.Store, Project: now.a.project, Sees: func(r sdk.Run) bool { return r.Origin == own.Origin }}
	if call.Verb == sdk.VerbGet {
		return e.getRun(ctx, now, r, call)
	}
	at, err := r.At(ctx, call.Path)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	if err := pluginGives(call, at); err != nil {
		return sdk.EntryDone{}, err
	}
	if now.a.loop.ReadOnly && !at.ReadOnly {
		at.ReadOnly = true // what it works for may only read
	}
	to, err := runentry.Of(call, at)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	if p, prompts := to.Params.(rpc.Prompt); now.a.loop.ReadOnly && (to.Method != rpc.MethodAsk || at.Known && prompts && p.RunOptions != (rpc.RunOptions{})) {
		return sdk.EntryDone{}, sdk.Errorf(sdk.Permission, "the prompt that the plugin works for may only read, so the plugin may give a run a prompt that only reads (mode ask), and nothing else")
	}
	result, run, err := e.callOfPlugin(ctx, c, now, to)
	if err != nil {
		return sdk.EntryDone{}, err
	}
	e.noteRun(now, sdk.PluginRun{Plugin: c.Instance, For: c.Call, Method: to.Method, Run: run})
	return r.Done(ctx, result), nil
}

// getRun reads runs for a plugin. The prompt of one that has read what came from outside may hold that.
func (e *Engine) getRun(ctx context.Context, now *serving, r runentry.Reader, call sdk.EntryCall) (sdk.EntryDone, error) {
	done, err := r.Get(ctx, call)
	if err != nil || len(done.Entries) != 1 { // of many it tells no prompt
		return done, err
	}
	read, err := r.Store.RunByAlias(ctx, r.Project.ID, runentry.Alias(done.Entries[0].Path))
	if err != nil {
		return sdk.EntryDone{}, err
	}
	return done, e.reads(ctx, now, hadFrom(e.foreign(read.ID), read.Alias))
}

// pluginGives says why a plugin may not set an attribute.
func pluginGives(call sdk.EntryCall, at runentry.At) error {
	if len(call.Attributes) == 0 {
		return nil
	}
	var attributes map[string]json.RawMessage
	if json.Unmarshal(call.Attributes, &attributes) != nil {
		return sdk.Errorf(sdk.Validation, "attributes must be a JSON object, not %.40s", call.Attributes)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		switch {
		case !slices.Contains(pluginAttributes, name):
			return sdk.Errorf(sdk.Permission, "a plugin may not give a run the attribute %.80q; it may give %s", name, strings.Join(pluginAttributes, ", "))
		case at.Known && slices.Contains(flagAttributes, name) && string(attributes[name]) != "true":
			return sdk.Errorf(sdk.Permission, "a plugin may set %s, and not take it back", name)
		}
	}
	return nil
}

// callOfPlugin makes the call that a use stands for, and answers with the alias of its run.
func (e *Engine) callOfPlugin(ctx context.Context, c sdk.Caller, now *serving, to runentry.Call) (result any, run string, err error) {
	switch p := to.Params.(type) {
	case rpc.Prompt:
		s, err := e.ofPlugin(ctx, c, now, p.Run, Submission{
			Run: p.Run, Agent: p.Agent, Model: p.Model, Prompt: p.Prompt, Key: p.Key, ReadOnly: to.Method == rpc.MethodAsk, Options: p.RunOptions,
		})
		if err != nil {
			return nil, "", err
		}
		a, err := e.Submit(ctx, s)
		return accepted(a), a.Run.Alias, err
	case rpc.StartRun:
		s, err := e.ofPlugin(ctx, c, now, p.Run, Submission{Run: p.Run, Agent: p.Agent, Model: p.Model, Options: p.RunOptions})
		if err != nil {
			return nil, "", err
		}
		a, err := e.StartRun(ctx, s)
		return rpc.Started{Run: a.Run.Alias, ID: a.Run.ID, Model: a.Model}, a.Run.Alias, err
	}
	var alias string
	switch p := to.Params.(type) {
	case rpc.Abort:
		alias = p.Run
	case rpc.RunConfig:
		alias = p.Run
	case rpc.Rename:
		alias = p.Run
	default:
		return nil, "", sdk.Errorf(sdk.Internal, "no plugin calls %s", to.Method)
	}
	found, err := e.cfg.Store.RunByAlias(ctx, now.a.project.ID, alias)
	if err == nil && found.Origin != now.a.run.Origin {
		err = sdk.Errorf(sdk.NotFound, "there is no run called %s in this project", alias) // as if there were none
	}
	if err != nil {
		return nil, "", err
	}
	switch p := to.Params.(type) {
	case rpc.Abort:
		return rpc.Aborted{Run: alias}, alias, e.Abort(ctx, found.ID)
	case rpc.RunConfig:
		if p.Persona != nil { // which its model reads
			if err := e.passMark(ctx, now.a.run, found.ID); err != nil {
				return nil, "", err
			}
		}
		r, err := e.ConfigureRun(ctx, found.ID, p)
		return rpc.Configured{Run: r.Alias}, alias, err
	case rpc.Rename:
		r, err := e.Rename(ctx, found.ID, p.Name)
		return rpc.Changed{Run: r.Alias}, alias, err
	}
	return nil, "", nil
}

// ofPlugin holds a submission of a plugin to what the prompt may do that the plugin works for: its mode, what its
// run leaves out, the network too, the paths that it may change, whose it is, and that it has read what came from
// outside.
func (e *Engine) ofPlugin(ctx context.Context, c sdk.Caller, now *serving, alias string, s Submission) (Submission, error) {
	own := now.a.run
	s.Project, s.Origin, s.AtMost, s.Plugin, s.Depth = now.a.project.Root, own.Origin, e.modeNow(now.a), c.Instance, now.a.given().Depth+1
	s.Offline, s.Foreign = own.Offline, hadFrom(e.foreign(own.ID), own.Alias)
	if s.Depth > mostDeep {
		return s, sdk.Errorf(sdk.Permission, "prompts that plugins give runs may come of each other %d times, and this would be one more", mostDeep)
	}
	if own.Writes != nil && !s.ReadOnly {
		return s, sdk.Errorf(sdk.Permission, "the run %s, which the plugin works for, may change only the paths that it was given, and no other run would be held to them; do the work in that run, or ask (a prompt that only reads)", own.Alias)
	}
	if alias != "" {
		found, err := e.findRun(ctx, now.a.project.ID, alias)
		if err != nil {
			return s, err
		}
		if found.ID != 0 && found.Origin != own.Origin {
			return s, sdk.Errorf(sdk.Conflict, "the run %s is of somebody else; choose another name", alias)
		}
		if found.ID != 0 && leavesOut(found, own) {
			return s, sdk.Errorf(sdk.Permission, "the run %s has what the run %s, which the plugin works for, was given without", alias, own.Alias)
		}
		if found.ID != 0 {
			return s, nil
		}
	}
	yes := true
	for _, flag := range []struct {
		own bool
		to  **bool
	}{{own.NoRepo, &s.Options.NoRepo}, {own.NoInteraction, &s.Options.NoInteraction}, {own.NoWeb, &s.Options.NoWeb}, {own.NoProposals, &s.Options.NoProposals}, {own.NoMemory, &s.Options.NoMemory}} {
		if flag.own {
			*flag.to = &yes
		}
	}
	return s, nil
}

// leavesOut reports whether a run has something that another one is without.
func leavesOut(has, without sdk.Run) bool {
	return without.Offline && !has.Offline || without.NoRepo && !has.NoRepo || without.NoInteraction && !has.NoInteraction || without.NoWeb && !has.NoWeb || without.NoProposals && !has.NoProposals || without.NoMemory && !has.NoMemory
}

// narrower is the one of two modes in which less is done unasked; an empty one is none.
func narrower(a, b sdk.Mode) sdk.Mode {
	if b != "" && a.AsksLess(b) {
		return b
	}
	return a
}

// noteRun writes into the journal what a plugin did with a run. That it cannot be written undoes nothing.
func (e *Engine) noteRun(now *serving, did sdk.PluginRun) {
	note := sdk.Note{Kind: sdk.KindNoteRun, Loop: now.a.loop.ID, Turn: now.x.Turn, Data: did}
	if _, err := e.commit(e.base, happened, sdk.Change{Run: now.a.run.ID, Notes: []sdk.Note{note}}); err != nil {
		e.log.Error("what a plugin did with a run could not be recorded", "plugin", did.Plugin, "run", fmt.Sprint(did.Run), "error", err)
	}
}
