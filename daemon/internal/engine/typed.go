package engine

import (
	"context"
	"os"

	"github.com/bothyd/bothy/sdk"
)

// typed asks what a prompt stands for, before there is a run for it.
func (e *Engine) typed(ctx context.Context, p placed, s Submission) (sdk.TypedPrompt, error) {
	if e.cfg.Builtin == nil {
		return nil, nil
	}
	t := e.turnContext(&activeLoop{
		project: p.project, run: p.run, loop: sdk.Loop{ReadOnly: s.ReadOnly, Prompt: s.Prompt},
		agent: p.agent, choice: p.choice, plugged: e.offer(p.agent, s.ReadOnly),
	})
	if p.run.ID == 0 {
		t.RunDir = "" // it is to be made
	}
	return e.cfg.Builtin.Typed(ctx, t, s.Prompt)
}

// meaning is what the model reads in the place of a prompt. The caller holds the
// lock of submissions, so that the run is not deleted meanwhile.
func (e *Engine) meaning(ctx context.Context, run sdk.Run, typed sdk.TypedPrompt) (*sdk.Meaning, error) {
	if _, err := e.cfg.Store.Run(ctx, run.ID); err != nil {
		return nil, err
	}
	dir := e.runDir(run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "make the run's folder: %w", err)
	}
	m, err := typed.Text(ctx, run, dir)
	if err != nil {
		return nil, err
	}
	return &m, nil
}
