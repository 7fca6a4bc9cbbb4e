package engine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// Keeper is the run by which an owner's entries are reached where no other is: those that a channel keeps of its own, so that
// it finds them after a crash (the channel is its own owner then), and what is kept of somebody whose runs are gone. It
// is made when it is not there, in a project of its own, whichever projects a channel's block names. No model works in it.
func (e *Engine) Keeper(ctx context.Context, o sdk.Origin) (sdk.Run, error) {
	leave, err := e.enter()
	if err != nil {
		return sdk.Run{}, err
	}
	defer leave()
	if id, known := e.keepers.Load(o); known {
		if run, err := e.cfg.Store.Run(ctx, id.(int64)); sdk.OutcomeOf(err) != sdk.NotFound { // a person may have deleted it
			return run, err
		}
	}
	root := filepath.Join(e.cfg.DataDir, "owners", o.Owner)
	if o.Channel != "" {
		root = filepath.Join(e.cfg.DataDir, "channels", o.Channel)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return sdk.Run{}, err
	}
	s := Submission{Origin: o}
	p := placed{agent: sdk.Agent{Name: toolsAlias}}
	if p.project, err = e.openProject(ctx, root); err != nil {
		return sdk.Run{}, err
	}
	s.Run = toolsAliasOf(s.Origin)
	if p.run, err = e.findRun(ctx, p.project.ID, s.Run); err != nil {
		return sdk.Run{}, err
	}
	run, err := e.ensureRun(ctx, p, s)
	if err == nil {
		e.keepers.Store(o, run.ID)
	}
	return run, err
}
