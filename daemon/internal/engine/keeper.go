package engine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// Keeper is the run in which a channel keeps entries of its own, so that it finds them after a crash: the place of what it
// has read, say, or what it has sent. It is made when it is not there, in a project of its own, whichever projects the
// channel's block names. Nobody is its owner, and no model works in it.
func (e *Engine) Keeper(ctx context.Context, channel string) (sdk.Run, error) {
	leave, err := e.enter()
	if err != nil {
		return sdk.Run{}, err
	}
	defer leave()
	if id, known := e.keepers.Load(channel); known {
		if run, err := e.cfg.Store.Run(ctx, id.(int64)); sdk.OutcomeOf(err) != sdk.NotFound { // a person may have deleted it
			return run, err
		}
	}
	root := filepath.Join(e.cfg.DataDir, "channels", channel)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return sdk.Run{}, err
	}
	s := Submission{Origin: sdk.Origin{Owner: channel, Channel: channel}}
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
		e.keepers.Store(channel, run.ID)
	}
	return run, err
}
