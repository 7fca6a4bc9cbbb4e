package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const promptFiles = 100 // files of one prompt in prompts/list

// loopGiven is what the options of a loop say of how its prompt was given.
type loopGiven struct {
	Mode        sdk.Mode         `json:"mode"`
	Attachments []sdk.Attachment `json:"attachments"`
	Media       []sdk.Medium     `json:"media"`
}

func (s *Server) prompts(ctx context.Context, run sdk.Run, p rpc.PromptsParams) (rpc.Prompts, error) {
	limit, err := page(rpc.MethodPrompts, p.Limit, p.Offset)
	if err != nil {
		return rpc.Prompts{}, err
	}
	loops, err := s.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return rpc.Prompts{}, err
	}
	turns, err := s.cfg.Store.Turns(ctx, run.ID)
	if err != nil {
		return rpc.Prompts{}, err
	}
	touched, err := s.cfg.History.Touched(ctx, run.ID)
	if err != nil {
		return rpc.Prompts{}, err
	}
	held, err := s.held(ctx, run.ID)
	if err != nil {
		return rpc.Prompts{}, err
	}
	slices.Reverse(loops)
	loops = loops[min(p.Offset, len(loops)):]
	answer := rpc.Prompts{Run: run.Alias, ID: run.ID, Held: held, Prompts: []rpc.PromptSummary{}}
	for _, l := range loops[:min(limit, len(loops))] {
		x := summaryOf(l, turns)
		files := touched[l.ID]
		x.Files, x.Untold = orEmpty(files.Files[:min(promptFiles, len(files.Files))]), files.Untold
		x.More = len(files.Files) - len(x.Files)
		answer.Prompts = append(answer.Prompts, x)
	}
	return answer, nil
}

func summaryOf(l sdk.Loop, turns []sdk.Turn) rpc.PromptSummary {
	x := rpc.PromptSummary{
		Sequence: l.Sequence, Loop: l.ID, ReadOnly: l.ReadOnly, Agent: l.Agent, Model: l.Model, Status: l.Status, Stop: l.Stop, Reason: l.Reason, Created: l.Created, Ended: l.Ended,
	}
	x.Prompt, x.Cut = cut(l.Prompt, historyBody)
	var how loopGiven
	if json.Unmarshal(l.Options, &how) == nil {
		x.Mode, x.Attachments, x.Media = how.Mode, how.Attachments, how.Media
	}
	for _, t := range turns {
		if t.Loop != l.ID {
			continue
		}
		if x.Turns++; x.First == 0 {
			x.First = t.Sequence
		}
		x.Last = max(x.Last, t.Sequence)
		x.Duration += sdk.Millis(t.Duration)
	}
	return x
}

func (s *Server) promptFiles(ctx context.Context, run sdk.Run, p rpc.PromptRef) (rpc.PromptFiles, error) {
	loops, err := s.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return rpc.PromptFiles{}, err
	}
	i := slices.IndexFunc(loops, func(l sdk.Loop) bool { return l.Sequence == p.Prompt })
	if i < 0 {
		return rpc.PromptFiles{}, sdk.Errorf(sdk.NotFound, "the run %s has no prompt %d of its own: it has %d", run.Alias, p.Prompt, len(loops))
	}
	touched, err := s.cfg.History.Touched(ctx, run.ID)
	if err != nil {
		return rpc.PromptFiles{}, err
	}
	files := touched[loops[i].ID]
	files.Run, files.ID, files.Prompt, files.Files = run.Alias, run.ID, p.Prompt, orEmpty(files.Files)
	return files, nil
}

// held reports whether the prompts of a run that wait are held.
func (s *Server) held(ctx context.Context, run int64) (bool, error) {
	found, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run, Pattern: sdk.HoldPath, Brief: true})
	return slices.ContainsFunc(found, func(e sdk.Entry) bool { return e.Holds(run) }), err
}

// waits are the questions of runs that wait for an answer, by run.
func (s *Server) waits(ctx context.Context) (map[int64][]rpc.Waiting, error) {
	open, err := s.cfg.Policy.Proposals(ctx)
	if err != nil {
		return nil, err
	}
	all := map[int64][]rpc.Waiting{}
	for _, p := range open {
		what := p.Command
		if what == "" {
			what = string(p.Arguments)
		}
		what, _ = cut(what, 200)
		all[p.Run] = append(all[p.Run], rpc.Waiting{ID: p.ID, Tool: p.Tool, What: what, Since: p.Created, Expires: p.Expires})
	}
	return all, nil
}

// activity is when something was last done in a run, or given to it.
func activity(run sdk.Run, loops []sdk.Loop) time.Time {
	last := run.Updated
	for _, l := range loops {
		for _, at := range []time.Time{l.Created, l.Ended} {
			if at.After(last) {
				last = at
			}
		}
	}
	return last
}
