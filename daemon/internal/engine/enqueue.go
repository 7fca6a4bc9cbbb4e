package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// enqueue makes a prompt a loop of its run, with what it changes in that.
func (e *Engine) enqueue(ctx context.Context, p placed, s Submission, typed sdk.TypedPrompt, attached string) (Accepted, error) {
	b, giveBack := e.book(p.run.ID)
	defer giveBack()
	b.submit.Lock()
	defer b.submit.Unlock()
	ahead, err := e.notBusy(ctx, p)
	if err != nil {
		return Accepted{}, err
	}
	steps, err := e.replacePlan(ctx, p.run, s, ahead)
	if err != nil {
		return Accepted{}, err
	}
	granted, err := e.grant(ctx, p, s)
	if err != nil {
		return Accepted{}, err
	}
	kept, err := e.tapes().Keep(p.run, s.played)
	if err != nil {
		return Accepted{}, err
	}
	asker := e.askers.name(s.Session, e.started)
	l := sdk.Loop{ReadOnly: s.ReadOnly, Prompt: s.Prompt}
	o := loopOptions{
		Mode: granted, Asker: asker, Key: s.Key, Attachments: s.Attachments, Media: sdk.BriefMedia(s.Media), Schema: s.Schema, Record: s.Record, Replay: kept, Strict: s.Strict,
		From: s.From, Plugin: s.Plugin, Depth: s.Depth, Plan: s.asked.Digest(), Quoted: len(e.cfg.Redact(s.Prompt[len(s.Prompt)-s.Quoted:])),
	}
	if typed != nil {
		if l.Meaning, err = e.meaning(ctx, p.run, typed); err != nil {
			return Accepted{}, err
		}
	}
	l.Meaning = s.asked.Meaning(l.Meaning).Attach(s.Prompt, attached).With(s.Media)
	l.Change = changing(s, steps)
	source := s.Foreign
	if brought, is := typed.(typedTool); is {
		source = cmp.Or(source, brought.source)
	}
	if source != "" && e.foreign(p.run.ID) == "" {
		l.Change = withWrites(l.Change, []sdk.Write{foreignWrite(source)})
	}
	a, err := e.queue(ctx, p, l, o)
	if err != nil {
		e.askers.forget(asker)
	}
	a.Ahead, a.Mode = ahead, e.modeIn(granted, p)
	return a, err
}

// changing is what a submission changes in its run, beside the prompt; nil is nothing.
func changing(s Submission, steps []sdk.Write) *sdk.RunChange {
	change := sdk.RunChange{Configure: configuring("", s.Options), Writes: steps}
	if s.Yolo {
		change.Writes = append(change.Writes, grantAllWrite())
	}
	if change.Configure == nil && change.Writes == nil {
		return nil
	}
	return &change
}

// withWrites is a change of a run that has writes besides; nil is none.
func withWrites(change *sdk.RunChange, writes []sdk.Write) *sdk.RunChange {
	if change == nil {
		change = &sdk.RunChange{}
	}
	return &sdk.RunChange{Configure: change.Configure, Writes: append(slices.Clip(change.Writes), writes...)}
}

// notBusy counts the prompts that come before another one, and refuses that of an agent which takes one at a time. The
// caller holds the lock of submissions.
func (e *Engine) notBusy(ctx context.Context, p placed) (ahead int, err error) {
	if ahead, err = e.ahead(ctx, p.run.ID); err == nil && p.agent.Busy == "refuse" && ahead > 0 {
		err = sdk.Errorf(sdk.Conflict, "the run %[1]s is at work, and its agent %[2]s takes one prompt at a time (busy = \"refuse\"): wait for it (`bothy runs show %[1]s` tells how far it is), end it (`bothy runs abort %[1]s`), or give the prompt to another run",
			p.run.Alias, p.agent.Name)
	}
	return ahead, err
}

// ahead counts the prompts of a run that run or wait. The caller holds the
// lock of submissions.
func (e *Engine) ahead(ctx context.Context, run int64) (int, error) {
	if held, err := e.held(ctx, run); err != nil || !held && !e.working(run) {
		return 0, err
	}
	loops, err := e.cfg.Store.Loops(ctx, run)
	if err != nil {
		return 0, fmt.Errorf("look at what the run works on: %w", err)
	}
	n := 0
	for _, l := range loops {
		if isOpen(l) {
			n++
		}
	}
	return n, nil
}

// isOpen reports whether a loop waits or runs.
func isOpen(l sdk.Loop) bool { return l.Status == sdk.StatusQueued || l.Status == sdk.StatusRunning }

// queue makes a loop durable, with its agent as it is now, and wakes its run; where the run rests, the loop is
// claimed in the same commit. The caller holds the lock of submissions.
func (e *Engine) queue(ctx context.Context, p placed, l sdk.Loop, o loopOptions) (Accepted, error) {
	l.Run, l.Model, l.Agent = p.run.ID, p.choice.Alias, p.agent.Name
	o.Agent = p.agent.Digest()
	l.Options = encode(o)
	definition, err := e.keepAgent(ctx, p, o.Agent)
	if err != nil {
		return Accepted{}, err
	}
	if definition != nil {
		l.Change = withWrites(l.Change, definition)
	}
	put := e.cfg.Store.Enqueue
	if held, err := e.held(ctx, l.Run); err != nil {
		return Accepted{}, err
	} else if !held && !e.working(l.Run) {
		put = e.cfg.Store.Begin
	}
	change := l.Change
	l, receipt, err := put(ctx, l)
	if err != nil {
		return Accepted{}, err // it says already what was being done
	}
	e.kept.Store(keptAt{p.project.ID, o.Agent}, nil)
	if change != nil && change.Configure != nil {
		change.Configure(&p.run)
	}
	ctx = context.WithoutCancel(ctx) // it is durable, and told whoever gave up waiting
	for _, entry := range receipt.Entries {
		e.changed(ctx, sdk.EntryEvent{Run: p.run.ID, Entry: entry})
	}
	failpoint.Hit(failpoint.EnqueueAfter)
	started := e.cfg.Hooks.ActStarted
	if l.ReadOnly {
		started = e.cfg.Hooks.AskStarted
	}
	started.Emit(ctx, sdk.LoopEvent{Project: p.project.ID, Run: p.run.ForHook(), Loop: l.ForHook()})
	if l.Status == sdk.StatusRunning {
		e.wakeWith(l.Run, next{loop: l})
	} else {
		e.wake(l.Run)
	}
	return Accepted{Run: p.run, Loop: l, Seq: receipt.Seq, Model: p.choice.Alias, Why: p.choice.Why}, nil
}
