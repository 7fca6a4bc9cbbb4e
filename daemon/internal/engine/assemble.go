package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/sdk"
)

// assemble renders the run's entries into a prompt, and lets the filters of
// the system text and of the messages at it.
func (e *Engine) assemble(ctx context.Context, a *activeLoop) (sdk.Prompt, error) {
	entries, err := a.mirror.Refresh(ctx)
	if err != nil {
		return sdk.Prompt{}, fmt.Errorf("read the run's entries: %w", err)
	}
	e.look(ctx, a, entries)
	user, project := e.instructions(a)
	a.turn.of = sdk.Assembly{
		Project: a.project, Run: a.run, Loop: a.loop, Turn: a.turn.row.Sequence, Agent: a.agent,
		Model: a.choice.Alias, Context: a.choice.Context, Use: e.contextUse(a), Inputs: a.choice.Inputs, Tools: a.offered,
		User: user, Instructions: project, Skills: a.skills, Entries: entries,
	}
	a.turn.sent = sent.Begin(a.mirror.Seq(), &a.turn.of)
	p, err := e.viewOf(a).Assemble(ctx, a.turn.of)
	if err != nil {
		return p, fmt.Errorf("assemble the prompt: %w", err)
	}
	if p, err = e.cfg.Hooks.InstructionsResolveSystemPrompt.Apply(ctx, p); err != nil {
		return p, err
	}
	if p, err = e.toolDocs(ctx, p); err != nil {
		return p, err
	}
	if !e.dialectOf(a).Native() { // they stand in the system text
		p.Tools = nil
	}
	a.turn.prompt = p
	e.cfg.Hooks.ContextMaterialized.Emit(ctx, a.turnEvent(map[string]int{"entries": len(entries), "tokens": p.Tokens}))
	if p, err = e.systemText(ctx, a, p); err != nil {
		return p, err
	}
	return e.cfg.Hooks.AssemblyUser.Apply(ctx, p)
}

// systemText lets the filters of the system text at it. They are given no messages and no tools, which a long conversation has
// many of, and change nothing else. Secrets go out of it before it is counted: no model gets any, and what is kept has none.
func (e *Engine) systemText(ctx context.Context, a *activeLoop, p sdk.Prompt) (sdk.Prompt, error) {
	bare := p
	bare.Messages, bare.Tools = nil, nil
	bare, err := e.cfg.Hooks.AssemblySystem.Apply(hook.About(ctx, a.run.ID), bare)
	p.System = e.cfg.Redact(bare.System)
	return p, err
}

// toolDocs adds what plugins say about tools to the system text.
func (e *Engine) toolDocs(ctx context.Context, p sdk.Prompt) (sdk.Prompt, error) {
	if !e.cfg.Hooks.InstructionsToolDocs.Active() {
		return p, nil
	}
	docs, err := e.cfg.Hooks.InstructionsToolDocs.Apply(ctx, map[string]string{})
	if err != nil {
		return p, err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		offered := slices.ContainsFunc(p.Tools, func(t sdk.Tool) bool { return t.Name == name })
		if offered && docs[name] != "" {
			fmt.Fprintf(&b, "\n\n## %s\n\n%s", name, docs[name])
		}
	}
	if b.Len() > 0 {
		p.System += "\n\n# Tools" + b.String()
	}
	return p, nil
}

// fit makes the prompt fit the model, and asks those who may hold it back.
func (e *Engine) fit(ctx context.Context, a *activeLoop, p sdk.Prompt) (sdk.Prompt, error) {
	if a.ceiling > 0 && (p.Ceiling <= 0 || p.Ceiling > a.ceiling) {
		p.Ceiling = a.ceiling
	}
	p, report, err := e.viewOf(a).Fit(ctx, p, e.cfg.Hooks.AssemblyUser.Apply)
	if err := e.demote(ctx, a, report.Writes); err != nil {
		return p, err
	}
	if err != nil {
		return p, a.overflow(err)
	}
	a.turn.sent.Fitted(p.Ceiling)
	if report.Groups+report.Prompts+report.Cut > 0 {
		a.turn.note(sdk.KindNotePruned, a.loop.ID, map[string]int{
			"before": report.Before, "after": report.After, "answers": report.Groups, "prompts": report.Prompts, "shortened": report.Cut,
		})
	} else if !a.long && p.Use.Warns(report.Before, a.choice.Context) {
		a.long = true
		a.turn.note(sdk.KindNoteWarning, a.loop.ID, map[string]string{"message": a.nearlyFull(report.Before)})
	}
	p, err = e.cfg.Hooks.TurnBeforeDispatch.Apply(ctx, p)
	if err == nil && p.Ceiling > 0 && e.viewOf(a).Estimate(p) > p.Ceiling {
		err = sdk.Errorf(sdk.Overflow, "a hook made the prompt longer than the model takes (%d tokens, at most %d)", e.viewOf(a).Estimate(p), p.Ceiling)
	}
	if sdk.OutcomeOf(err) == sdk.Overflow && err != nil {
		return p, a.overflow(err)
	}
	return p, err
}

// overflow ends the loop at 413.
func (a *activeLoop) overflow(err error) error {
	return &loopError{cause: err, ending: ending{
		status: sdk.StatusOverflow, stop: sdk.StopOverflow, reason: err.Error(),
		writes: []sdk.Write{a.errorWrite("overflow", sdk.Overflow, err.Error())},
	}}
}

// nearlyFull tells a person that what the model is sent is long, and what becomes of it.
func (a *activeLoop) nearlyFull(tokens int) string {
	next := "what is oldest is left out when it grows"
	if a.agent.View == sdk.ViewPacket {
		next = "what comes into sight is demoted to summaries when it grows"
	}
	return fmt.Sprintf("the conversation takes about %d of the %d tokens of %s; %s; `bothy runs compact %s` has it summarized", tokens, a.choice.Context, a.choice.Alias, next, a.run.Alias)
}
