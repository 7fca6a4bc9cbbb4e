package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const historyBody = 16 << 10 // bytes of a body in getRun

func (s *Server) run(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.RunDetail, error) {
	seq := s.cfg.Store.Seq() // before reading, so that who watches from here misses nothing
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.RunDetail{}, err
	}
	d := rpc.RunDetail{
		RunState: newState(run), ID: run.ID, Agent: run.Agent, Model: run.Model, RunConfig: run.RunConfig, Seq: seq,
		Instructions: []rpc.RunInstructions{}, Forks: []rpc.RunName{}, Notes: []rpc.Note{},
	}
	for _, read := range []func(context.Context, sdk.Run, *rpc.RunDetail) error{s.place, s.relatives, s.delegation, s.work, s.history, s.notes} {
		if err := read(ctx, run, &d); err != nil {
			return d, err
		}
	}
	measure(&d)
	d.Price, d.MaxCost = s.cfg.Models.Price(run.Model), s.cfg.Engine.Guards(d.Project, run.Agent).MaxCost
	return d, nil
}

// newState is the state of a run of which nothing was read yet.
func newState(run sdk.Run) rpc.RunState {
	return rpc.RunState{Run: run.Alias, Status: run.Status, Turn: run.Turns, History: []rpc.Event{}, Unknowns: []rpc.Unknown{}}
}

// state is what run/state tells of a run, whole.
func (s *Server) state(ctx context.Context, run sdk.Run) (rpc.RunState, error) {
	d := rpc.RunDetail{RunState: newState(run), Model: run.Model}
	for _, read := range []func(context.Context, sdk.Run, *rpc.RunDetail) error{s.work, s.history, s.notes} {
		if err := read(ctx, run, &d); err != nil {
			return d.RunState, err
		}
	}
	measure(&d)
	return d.RunState, nil
}

// measure adds to the telemetry what the run as a whole has. A run in which no model was asked to the
// end of a turn has none.
func measure(d *rpc.RunDetail) {
	if d.Telemetry == nil {
		if !slices.ContainsFunc(d.Turns, func(t rpc.Turn) bool { return t.Closed && t.Model != "" }) {
			return
		}
		d.Telemetry = &rpc.Telemetry{}
	}
	d.Telemetry.Model = d.Model
	if d.Context != nil {
		d.Telemetry.ContextSize, d.Telemetry.ContextTokens = d.Context.Limit, d.Context.Tokens
	}
}

// place names the project.
func (s *Server) place(ctx context.Context, run sdk.Run, d *rpc.RunDetail) error {
	projects, err := s.cfg.Store.Projects(ctx)
	for _, p := range projects {
		if p.ID == run.Project {
			d.Project = p.Root
		}
	}
	return err
}

// relatives names the run that this one was forked from, and its own forks.
func (s *Server) relatives(ctx context.Context, run sdk.Run, d *rpc.RunDetail) error {
	if run.Parent != 0 {
		parent, err := s.cfg.Store.Run(ctx, run.Parent)
		if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			return err
		}
		d.Parent = &rpc.RunName{ID: run.Parent, Run: parent.Alias}
	}
	forks, err := s.cfg.Store.Forks(ctx, run.ID)
	for _, f := range forks {
		d.Forks = append(d.Forks, rpc.RunName{ID: f.ID, Run: f.Alias})
	}
	return err
}

// delegation names the run that delegated this one's work, and its own children.
func (s *Server) delegation(ctx context.Context, run sdk.Run, d *rpc.RunDetail) error {
	if run.Delegator != 0 {
		chain, err := s.cfg.Store.Delegators(ctx, run.ID)
		if err != nil {
			return err
		}
		d.DelegatedBy, d.Delegator = run.DelegatedBy, &rpc.RunName{ID: run.Delegator}
		if n := len(chain); n > 0 && chain[n-1].ID == run.Delegator {
			d.Delegator.Run = chain[n-1].Alias
		}
	}
	sums, err := s.summaries(ctx)
	if err == nil {
		d.Children, err = sums.below(ctx, run)
	}
	return err
}

// work reads the loops and turns.
func (s *Server) work(ctx context.Context, run sdk.Run, d *rpc.RunDetail) error {
	loops, err := s.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return err
	}
	turns, err := s.cfg.Store.Turns(ctx, run.ID)
	if err != nil {
		return err
	}
	d.Turns = []rpc.Turn{}
	for _, t := range turns {
		d.Turns = append(d.Turns, rpc.TurnOf(t))
	}
	d.Loops, d.Queued = orEmpty(loops), queued(loops)
	for _, t := range turns {
		addUsage(d, t.Usage)
	}
	return nil
}

func (s *Server) history(ctx context.Context, run sdk.Run, d *rpc.RunDetail) error {
	entries, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Bodies: []string{"prompt", "assistant", "log", "unknown", sdk.PlanScheme}, Longest: historyBody})
	if err != nil {
		return err
	}
	readSystem(d, entries)
	for _, e := range entries {
		tellEntry(e, &d.History, &d.Unknowns)
		readInto(d, run.ID, e)
		if reply, err := sdk.ReplyOf(e.Attributes); e.Scheme() == "assistant" && e.State == sdk.StateResolved && err == nil && strings.TrimSpace(reply.Said(e.Body)) != "" {
			d.Summary, _ = cut(reply.Said(e.Body), historyBody)
		}
	}
	d.Plan = sdk.PlanOf(entries)
	return nil
}

// tellEntry adds an entry to the history of a run or to what is open in it, where it belongs to one.
func tellEntry(e sdk.Entry, history *[]rpc.Event, unknowns *[]rpc.Unknown) {
	switch e.Scheme() {
	case "prompt", "assistant", "log":
		*history = append(*history, event(e))
	case "unknown":
		body, _ := cut(e.Body, historyBody)
		*unknowns = append(*unknowns, rpc.Unknown{Path: e.Path, Body: body})
	}
}

// notes keeps of the rows that speak of no entry those that are told nowhere
// else. A tool's progress is of no more interest once the tool has ended.
func (s *Server) notes(ctx context.Context, run sdk.Run, d *rpc.RunDetail) error {
	rows, err := s.cfg.Store.Journal(ctx, sdk.JournalQuery{Run: run.ID, Notes: true})
	if err != nil {
		return err
	}
	for _, row := range rows {
		switch {
		case row.Kind == sdk.KindRunCreated:
			var created struct {
				Turns int `json:"turns"`
			}
			if err := json.Unmarshal(row.Data, &created); err != nil {
				return err
			}
			d.Inherited = created.Turns
		case row.Kind == sdk.KindNoteCompletion:
			var c sdk.PluginCompletion
			if err := json.Unmarshal(row.Data, &c); err != nil {
				return err
			}
			addUsage(d, c.Usage)
			d.Notes = append(d.Notes, noteOf(row))
		case row.Kind == sdk.KindNoteProgress, row.Kind == sdk.KindNoteSent: // which run/packet tells
		case strings.HasPrefix(row.Kind, sdk.KindNote), row.Kind == sdk.KindRunReset, row.Kind == sdk.KindRunExpired, row.Kind == sdk.KindRunRenamed, row.Kind == sdk.KindRunConfigured:
			d.Notes = append(d.Notes, noteOf(row))
		}
	}
	return nil
}

func noteOf(row sdk.JournalRow) rpc.Note {
	return rpc.Note{Seq: row.Seq, Time: row.Time, Kind: row.Kind, Loop: row.Loop, Turn: row.Turn, Data: row.Data}
}

// event renders an entry; of an action, the tool is part of the path.
func event(e sdk.Entry) rpc.Event {
	ev := rpc.Event{Tool: e.Scheme(), Path: e.Path, Status: e.Status(), State: e.State, Outcome: e.Outcome, Turn: e.Turn}
	if path, ok := sdk.ParseActionPath(e.Path); ok {
		ev.Tool = path.Tool
	}
	ev.Body, ev.Cut = cut(e.Body, historyBody)
	ev.Cut += e.Left
	if len(e.Attributes) > 0 {
		var attributes rpc.Attributes
		if json.Unmarshal(e.Attributes, &attributes) == nil {
			delete(attributes, "structured") // as long as the body, and getEntries has it
			delete(attributes, "extra")
			ev.Attributes = attributes
		}
	}
	return ev
}

// cut keeps at most n bytes of text, and whole characters; it says how many
// bytes are missing.
func cut(text string, n int) (string, int) {
	head := sdk.Head(text, n)
	return head, len(text) - len(head)
}

// addUsage adds to what the run used together; nobody tells that of a run of which no
// provider told anything.
func addUsage(d *rpc.RunDetail, u *sdk.Usage) {
	if u == nil {
		return
	}
	if d.Telemetry == nil {
		d.Telemetry = &rpc.Telemetry{}
	}
	t := d.Telemetry
	sum := sdk.Usage{
		Prompt: t.PromptTokens, Cached: t.CachedTokens, Completion: t.CompletionTokens, Reasoning: t.ReasoningTokens, Total: t.TotalTokens, Cost: t.Cost, Estimated: t.Estimated,
	}
	sum.Add(u)
	*t = rpc.Telemetry{
		PromptTokens: sum.Prompt, CachedTokens: sum.Cached, CompletionTokens: sum.Completion, ReasoningTokens: sum.Reasoning, TotalTokens: sum.Total, Cost: sum.Cost, Estimated: sum.Estimated,
	}
}
