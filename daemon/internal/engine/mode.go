package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/agent/finish"
	"github.com/bothyd/bothy/sdk"
)

// loopOptions is what a loop's row holds of how it was given.
type loopOptions struct {
	Resumes     int64            `json:"resumes,omitempty"` // the loop that it goes on with
	Mode        sdk.Mode         `json:"mode,omitempty"`
	Attachments []sdk.Attachment `json:"attachments,omitempty"`
	Media       []sdk.Medium     `json:"media,omitempty"`  // without their data
	Schema      json.RawMessage  `json:"schema,omitempty"` // Submission.Schema
	Key         string           `json:"key,omitempty"`    // chosen by whoever submitted it; see given
	Record      bool             `json:"record,omitempty"`
	Replay      string           `json:"replay,omitempty"`    // the cassette that is played: a file in the run's folder of cassettes
	ReplayAt    [][2]int         `json:"replay_at,omitempty"` // of a child: where its cassette is in that of the prompt above all; see playedOf
	Strict      bool             `json:"strict,omitempty"`
	From        *sdk.From        `json:"from,omitempty"`      // whom a channel has it from
	Plugin      string           `json:"plugin,omitempty"`    // that gave it; empty is a client
	Depth       int              `json:"depth,omitempty"`     // how far it comes of a prompt of a client, by plugins
	Quoted      int              `json:"quoted,omitempty"`    // bytes at the end of the prompt that are no words of whoever gave it
	Plan        string           `json:"plan,omitempty"`      // digest of the plan that the prompt was made of
	Agent       string           `json:"agent,omitempty"`     // the digest of its agent's definition; see keptAgent
	Compacts    bool             `json:"compacts,omitempty"`  // it asks for a summary of the run; see Compact
	Caller      int64            `json:"caller,omitempty"`    // the loop that delegated it; 0 is none
	Below       int              `json:"below,omitempty"`     // how many delegations it is below a prompt that nobody delegated
	Otherwise   sdk.Mode         `json:"otherwise,omitempty"` // in the place of workspace, where the caller's is narrower than its agent's
	Asker       string           `json:"asker,omitempty"`     // by which the connection is known that answers what is proposed; see askers
}

// modePath is the entry of a run that may do anything from now on.
const modePath = "mode://run"

// grant finds the mode of a new loop: the one that was asked for, full in a run
// that was given it for good, else the agent's; of a plugin's no more than AtMost.
func (e *Engine) grant(ctx context.Context, p placed, s Submission) (sdk.Mode, error) {
	mode, err := e.askedMode(ctx, p, s)
	return narrower(mode, s.AtMost), err
}

func (e *Engine) askedMode(ctx context.Context, p placed, s Submission) (sdk.Mode, error) {
	if s.Yolo {
		return sdk.ModeFull, nil // for good by changing
	}
	if s.Mode != "" {
		return s.Mode, nil
	}
	all, err := e.grantedAll(ctx, p.run)
	if err != nil || all {
		return sdk.ModeFull, err
	}
	if s.Usual != "" { // of who asks
		return s.Usual, nil
	}
	mode := e.agentMode(p.agent)
	if mode == sdk.ModeWorkspace && s.Origin.Channel != "" {
		mode = p.agent.Otherwise()
	}
	return mode, nil
}

// modeIn is the mode that holds in a project as far as that is known: in the place
// of workspace, where that is not possible, another.
func (e *Engine) modeIn(mode sdk.Mode, p placed) sdk.Mode {
	if mode != sdk.ModeWorkspace || e.cfg.Access == nil {
		return mode
	}
	if view, known := e.view(p.project, p.run); known && !view.View {
		return p.agent.Otherwise()
	}
	return mode
}

// modeNow is the mode by which calls of a loop are decided now: that of workspace only where commands are known to work
// on a copy of the project.
func (e *Engine) modeNow(a *activeLoop) sdk.Mode {
	if a.mode != sdk.ModeWorkspace || e.cfg.Access == nil {
		return a.mode
	}
	if view, _ := e.view(a.project, a.run); view.View {
		return a.mode
	}
	return a.agent.Otherwise()
}

// agentMode is that of an agent, which may leave it to the configuration.
func (e *Engine) agentMode(a sdk.Agent) sdk.Mode {
	if a.Mode != "" {
		return a.Mode
	}
	if e.cfg.Mode != nil {
		if l := e.cfg.Mode(); l.Valid() {
			return l
		}
	}
	return sdk.ModeRestricted
}

// callMode is that of calls which no loop makes: restricted, unless the
// configuration gives full mode to all that names none.
func (e *Engine) callMode() sdk.Mode {
	if e.agentMode(sdk.Agent{}) == sdk.ModeFull {
		return sdk.ModeFull
	}
	return sdk.ModeRestricted
}

// grantAllWrite records that every prompt of a run is in full mode from now on.
func grantAllWrite() sdk.Write {
	body := "a person gave this run full mode: nothing is asked, and what is not denied runs"
	return sdk.Write{
		Path: modePath, Body: &body, Attributes: encode(map[string]sdk.Mode{"mode": sdk.ModeFull}), Writer: sdk.WriterSystem, Visibility: sdk.Archived,
	}
}

// grantedAll reports whether that is recorded. A fork does not inherit it: the
// person spoke of another run.
func (e *Engine) grantedAll(ctx context.Context, run sdk.Run) (bool, error) {
	for _, path := range []string{modePath, sdk.OldModePath} {
		entry, err := e.cfg.Store.Entry(ctx, run.ID, path)
		switch {
		case err != nil && sdk.OutcomeOf(err) != sdk.NotFound:
			return false, err
		case err == nil && entry.Scope == fmt.Sprintf("run:%d", run.ID) && entry.Writer == sdk.WriterSystem:
			return true, nil
		}
	}
	return false, nil
}

// options reads what the loop was given with. A loop that was given no mode has
// that of its agent.
func (e *Engine) options(a *activeLoop) {
	o := a.given()
	a.asker, a.images = o.Asker, len(o.Media) > 0
	if spec, err := finish.Of(a.agent, o.Schema); err == nil { // else the agent's own holds, which the prompt was checked with
		a.agent.Finish = spec
	}
	if a.mode = o.Mode; !a.mode.Valid() {
		a.mode = e.agentMode(a.agent)
	}
	a.run.Offline = a.run.Offline || a.agent.Offline() // for this loop, and for what it delegates
	if o.Otherwise != "" {
		a.agent.WithoutView = o.Otherwise
	}
}

// given is optionsOf of the loop, read once.
func (a *activeLoop) given() loopOptions {
	if o := a.options.Load(); o != nil && o.loop == a.loop.ID {
		return o.loopOptions
	}
	o := optionsOf(a.loop)
	a.options.Store(&loopGiven{a.loop.ID, o})
	return o
}

// loopGiven is how a loop was given.
type loopGiven struct {
	loop int64
	loopOptions
}

// optionsOf reads the options of a loop. Those that cannot be read are none.
func optionsOf(l sdk.Loop) loopOptions {
	var o loopOptions
	if len(l.Options) > 0 && json.Unmarshal(l.Options, &o) != nil {
		return loopOptions{}
	}
	return o
}
