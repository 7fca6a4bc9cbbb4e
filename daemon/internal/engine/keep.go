package engine

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Keep records what the daemon keeps for a project and no run owns, such as
// what a person trusts, in one commit. The paths are of schemes whose scope is
// the project. The journal tells of it in the project's implicit run, which is
// made when it is not there; what is kept outlives that run.
func (e *Engine) Keep(ctx context.Context, project string, writes ...sdk.Write) error {
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	p, err := e.openProject(ctx, project)
	if err != nil {
		return err
	}
	for again := true; ; again = false {
		err := e.keep(ctx, p, writes)
		if err == nil || !again || sdk.OutcomeOf(err) != sdk.NotFound { // NotFound: the run was deleted just now
			return err
		}
	}
}

func (e *Engine) keep(ctx context.Context, p sdk.Project, writes []sdk.Write) error {
	run, err := e.findRun(ctx, p.ID, toolsAlias)
	if err != nil {
		return err
	}
	if run, err = e.ensureRun(ctx, placed{project: p, run: run, agent: sdk.Agent{Name: toolsAlias}}, Submission{Run: toolsAlias}); err != nil {
		return err
	}
	b, giveBack := e.book(run.ID)
	defer giveBack()
	b.submit.Lock()
	defer b.submit.Unlock()
	if _, err := e.commit(ctx, once, sdk.Change{Run: run.ID, Writes: writes}); err != nil {
		return fmt.Errorf("record it for the project %s: %w", p.Root, err)
	}
	return nil
}
