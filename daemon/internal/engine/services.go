package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/runentry"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
)

// Services are what plugins may ask an engine for while it has a call of theirs
// under way. The host has checked what their blocks grant. Plugins are there before
// the engine, so the value is made first and put into its Config.
type Services struct{ e *Engine }

// Entry reads one entry of the run in which the caller's call is served.
func (s *Services) Entry(ctx context.Context, c sdk.Caller, path string) (sdk.Entry, error) {
	if c.Reads != 0 {
		return s.e.entry(ctx, c.Reads, path)
	}
	now, err := s.e.serves.find(c.Call)
	if err != nil {
		return sdk.Entry{}, err
	}
	entry, err := s.e.entry(ctx, now.a.run.ID, path)
	if err != nil {
		return entry, err
	}
	return entry, s.e.reads(ctx, now, s.e.foreignIn(entry))
}

// Entries reads those that match a pattern.
func (s *Services) Entries(ctx context.Context, c sdk.Caller, pattern string) ([]sdk.Entry, error) {
	if c.Reads != 0 {
		return s.e.entries(ctx, c.Reads, pattern)
	}
	now, err := s.e.serves.find(c.Call)
	if err != nil {
		return nil, err
	}
	entries, err := s.e.entries(ctx, now.a.run.ID, pattern)
	if err != nil {
		return nil, err
	}
	return entries, s.e.reads(ctx, now, s.e.foreignIn(entries...))
}

// owned reports whether what a path or a pattern names belongs to the owner of runs, which all of them find.
func (e *Engine) owned(named string) bool {
	scheme, known := e.cfg.Store.Scheme(sdk.SchemeOf(named))
	return known && scheme.Scope == "owner"
}

// entry is what the run has at a path, for a plugin.
func (e *Engine) entry(ctx context.Context, run int64, path string) (sdk.Entry, error) {
	if !e.owned(path) {
		entry, err := e.cfg.Store.Entry(ctx, run, path)
		if err == nil && entry.Scheme() == "prompt" {
			found := []sdk.Entry{entry}
			err = e.withSaid(run, found)
			entry = found[0]
		}
		return entry, err
	}
	found, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run, Path: path, Shared: true})
	if err == nil && len(found) == 0 {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is no entry %s of this run's owner", path)
	}
	if err != nil {
		return sdk.Entry{}, err
	}
	return found[0], nil
}

// entries are what the run has by a pattern, for a plugin.
func (e *Engine) entries(ctx context.Context, run int64, pattern string) ([]sdk.Entry, error) {
	found, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run, Pattern: pattern, Shared: e.owned(pattern)})
	if err == nil && slices.ContainsFunc(found, func(x sdk.Entry) bool { return x.Scheme() == "prompt" }) {
		err = e.withSaid(run, found)
	}
	return found, err
}

// Write writes entries of the run, in one commit or none.
func (s *Services) Write(ctx context.Context, c sdk.Caller, writes []sdk.Write) ([]sdk.Entry, error) {
	now, done, err := s.e.serves.enter(c.Call)
	if err != nil {
		return nil, err
	}
	defer done()
	writes = slices.Clone(writes)
	if err := s.e.pluginsOwn(now, c, writes); err != nil {
		return nil, err
	}
	r, err := s.e.Commit(ctx, sdk.Change{Run: now.a.run.ID, Writes: writes})
	return r.Entries, err
}

// Do uses verbs on entries of the run, in one commit or none.
func (s *Services) Do(ctx context.Context, c sdk.Caller, calls []sdk.EntryCall, within func(path string) bool) ([]sdk.EntryDone, error) {
	now, done, err := s.e.serves.enter(c.Call)
	if err != nil {
		return nil, err
	}
	defer done()
	if slices.ContainsFunc(calls, runentry.Names) {
		if now.rests() {
			return nil, errRests("no run is used")
		}
		if len(calls) > 1 {
			return nil, sdk.Errorf(sdk.Validation, "a verb on run://ALIAS stands by itself: what it begins is no part of a commit with others")
		}
		one, err := s.e.useRun(ctx, c, now, calls[0])
		return []sdk.EntryDone{one}, err
	}
	use := sdk.EntryUse{Run: now.a.run, Writer: sdk.WriterPlugin, Loop: now.x.Loop, Turn: now.x.Turn, Within: within}
	return s.e.do(ctx, use, calls, func(p *sdk.EntryPlan) error {
		if p.Foreign {
			if err := s.e.reads(ctx, now, cmp.Or(s.e.foreignIn(p.Done.Entries...), "what get found")); err != nil {
				return err
			}
		}
		for i := range p.Writes {
			if err := s.e.pluginWrites(now, c, &p.Writes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// pluginsOwn is pluginWrites of what a plugin made itself, and no verb.
func (e *Engine) pluginsOwn(now *serving, c sdk.Caller, writes []sdk.Write) error {
	for i := range writes {
		w := &writes[i]
		if names(w.Attributes, sdk.AttributeForeign) {
			return sdk.Errorf(sdk.Permission, "%s: whether an entry came from outside is the daemon's to say; leave out the attribute %s", w.Path, sdk.AttributeForeign)
		}
		if err := e.pluginWrites(now, c, w); err != nil {
			return err
		}
	}
	if e.cfg.Verbs == nil {
		return nil
	}
	return e.cfg.Verbs.Fits(e.base, now.a.run, writes)
}

// pluginWrites says why a plugin may not write something for the call that it serves. What it writes once it has read what
// came from outside says so.
func (e *Engine) pluginWrites(now *serving, c sdk.Caller, w *sdk.Write) error {
	if err := pluginMay(c, *w); err != nil || w.Look || w.Check {
		return err
	}
	if e.lasts(w.Path) && e.modeNow(now.a) != sdk.ModeFull {
		if source := e.readFor(now); source != "" && !e.vouched(now, w) {
			return sdk.Errorf(sdk.Permission, "%s is what other runs read too, and this run has read %s: a person is asked about what it writes there, and a plugin's writing asks nobody; have the model write it with set", w.Path, source)
		}
	}
	if w.Remove || w.Chunk != nil || (sdk.Entry{Path: w.Path}).IsForeign() || !now.x.reachesOut() && now.x.outside.first() == "" {
		return nil
	}
	attributes := map[string]json.RawMessage{}
	if len(w.Attributes) > 0 && (json.Unmarshal(w.Attributes, &attributes) != nil || attributes == nil) {
		return nil // the store refuses it
	}
	attributes[sdk.AttributeForeign] = json.RawMessage("true")
	w.Attributes = encode(attributes)
	return nil
}

// vouched reports whether a person stands behind what a plugin writes for others to read in a run that has read what came
// from outside: they agreed to what its tool that keeps entries asked them in this call, or it is what they said in this run. At a
// rest for which nothing from outside was read a quote of them will do: who wrote the rest has seen none of it.
func (e *Engine) vouched(now *serving, w *sdk.Write) bool {
	switch {
	case now.x.tool.Keeps && now.x.tool.Pinned && now.x.accepts.Load():
		return true
	case w.Remove, w.Append, w.Body == nil, !e.owned(w.Path):
		return false
	}
	var of struct{ Quote string }
	if now.rests() && now.x.tool.Pinned && now.x.outside.first() == "" && json.Unmarshal(w.Attributes, &of) == nil && of.Quote != "" {
		return e.saidHere(now.a.run.ID, of.Quote)
	}
	return e.saidHere(now.a.run.ID, *w.Body)
}

// pluginMay says why a plugin may not write what its scheme would let it.
func pluginMay(c sdk.Caller, w sdk.Write) error {
	switch {
	case runentry.Is(w.Path):
		return sdk.Errorf(sdk.Permission, "%s: a run is no entry that is written; use the verbs on it (Do), with the grant runs", w.Path)
	case w.Look, w.Check: // what is in sight is no writing
	case strings.HasPrefix(strings.ToLower(w.Path), sdk.TurnPrefix): // what stands there is what happened
		return sdk.Errorf(sdk.Permission, "%s tells what happened in a turn, so a plugin may not write it; write below log://%s/ instead", w.Path, c.Instance)
	case w.State == sdk.StateProposed: // nothing would answer it
		return sdk.Errorf(sdk.Permission, "%s: only an action waits for a person, so a plugin may not write an entry as proposed; call a tool instead", w.Path)
	case sdk.SchemeOf(w.Path) == "prompt" && names(w.Attributes, "meaning"):
		return sdk.Errorf(sdk.Permission, "%s: what a prompt stands for, which the model reads and people are not shown, is the daemon's to say; write the body instead", w.Path)
	}
	return nil
}

// names reports whether attributes have a member. JSON is read without regard to the case of names.
func names(attributes json.RawMessage, member string) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(attributes, &members) != nil {
		return false
	}
	for name := range members {
		if strings.EqualFold(name, member) {
			return true
		}
	}
	return false
}

// Invoke calls a tool, as an action of the turn in which the caller's own call
// is one. The tool ask_user asks the person.
func (s *Services) Invoke(ctx context.Context, c sdk.Caller, tool string, arguments []byte) (sdk.ToolResult, error) {
	now, done, err := s.e.serves.enter(c.Call)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	defer done()
	if now.rests() {
		return sdk.ToolResult{}, errRests("no tool is called")
	}
	if tool == sdk.ToolAskUser {
		return s.e.inquire(ctx, now, c.Instance, arguments)
	}
	x := s.e.child(now, tool, arguments)
	x.until, _ = ctx.Deadline()
	ctx, cancel := now.within(ctx)
	defer cancel()
	r, err := s.e.callFor(ctx, now, x)
	if source, _ := s.e.source(x); source != "" {
		now.x.outside.at.CompareAndSwap(nil, &source)
	}
	return r, err
}

// Complete asks a model: an alias or provider/name, none is that of the loop or
// of the run. Whatever it came to, the journal says so, and its cost is the
// loop's: where that may come to cost more than it may (max_cost), no model is asked. A provider
// may ask for it outside of a run; then nothing is written. At a rest its cost is bounded like that of a prompt.
func (s *Services) Complete(ctx context.Context, c sdk.Caller, req sdk.Request, send func(sdk.Delta) error) error {
	now, done, err := s.e.serves.enter(c.Call)
	switch {
	case err == nil:
		defer done()
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(now.ctx, func() { cancel(context.Cause(now.ctx)) })()
	case c.RunDir != "":
		return err
	}
	if req.Model == "" && now != nil {
		req.Model = cmp.Or(now.a.loop.Model, now.a.run.Model)
	}
	choice, err := s.e.cfg.Models.Resolve(ctx, req.Model)
	if err != nil {
		return err
	}
	req.Model, req.MaxTokens = choice.Name, max(req.MaxTokens, 0) // less is none, and no way around what bounds it
	if req.Context == 0 {
		req.Context = choice.Context
	}
	if now == nil {
		return s.e.cfg.Models.Complete(ctx, choice.Alias, req, send, func(sdk.Retry) error { return nil })
	}
	if err := s.e.tellsAbroad(ctx, now, choice); err != nil {
		return err
	}
	s.e.price(ctx, now.a.account(), &choice)
	due := bill(s.e.cfg.Views[sdk.ViewTranscript], choice.Price, requested(req), cmp.Or(req.MaxTokens, choice.MaxTokens))
	settled, err := s.e.guards.Reserve(ctx, now.a.account(), due.Most())
	if err != nil {
		return sdk.Errorf(sdk.Permission, "no model was asked: %w", err)
	}
	defer settled()
	asked := sdk.PluginCompletion{Plugin: c.Instance, For: c.Call, Model: choice.Alias}
	written := 0 // bytes
	take := func(d sdk.Delta) error {
		asked.Answered = true
		written += len(d.Text) + len(d.Reasoning)
		if d.Call != nil {
			written += len(d.Call.Arguments)
		}
		if d.Usage != nil {
			asked.Usage = stream.Plausible(d.Usage)
		}
		return send(d)
	}
	err = s.e.cfg.Models.Complete(ctx, choice.Alias, req, take, func(r sdk.Retry) error {
		s.e.noteRetry(ctx, now.a, now.x.Turn, r, map[string]any{"plugin": c.Instance, "for": c.Call, "model": choice.Alias})
		return nil
	})
	if err != nil {
		asked.Error = err.Error()
	}
	if asked.Answered {
		asked.Usage = due.Settle(asked.Usage, (written+3)/4)
	}
	s.e.noteCompletion(now.a, now.x.Turn, asked)
	return err
}

// noteCompletion counts what a plugin asked of a model and writes it into the
// journal. That it cannot be written does not undo the answer.
func (e *Engine) noteCompletion(a *activeLoop, turn int, asked sdk.PluginCompletion) {
	e.guards.Spend(a.account(), asked)
	note := sdk.Note{Kind: sdk.KindNoteCompletion, Loop: a.loop.ID, Turn: turn, Data: asked}
	if _, err := e.commit(e.base, happened, sdk.Change{Run: a.run.ID, Notes: []sdk.Note{note}}); err != nil {
		e.log.Error("what a plugin asked of a model could not be recorded", "plugin", asked.Plugin, "error", err)
	}
}
