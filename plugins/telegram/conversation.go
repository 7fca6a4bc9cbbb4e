package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A conversation is what is said at one place. It is in one run after another, each until that rests: the daemon knows
// which one a prompt is for that names none.

// mostResumed is how many runs of a conversation /resume lists.
const mostResumed = 5

// fresh ends the run of the conversation, so that the next prompt begins one.
func (f *front) fresh(ctx context.Context, m *message, _ string) (string, error) {
	r := f.records.of(m.place())
	if r.Run == 0 && r.Resume == "" {
		return nothingYet, nil
	}
	if r.Run != 0 {
		err := f.daemon.Call(ctx, rpc.MethodLeave, rpc.RunRef{Run: number(r.Run)}, nil)
		if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			return "", err
		}
	}
	return "The next prompt begins anew. /resume goes back.", f.choose(ctx, m, func(r *record) { r.Run, r.Resume = 0, "" })
}

// resume lists the runs of the conversation, or has the next prompt go to the one that is named.
func (f *front) resume(ctx context.Context, m *message, rest string) (string, error) {
	var runs []rpc.RunSummary
	err := f.daemon.Call(ctx, rpc.MethodRuns, rpc.RunsParams{Project: f.project, From: m.from(), Limit: mostResumed}, &runs)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return nothingYet, nil
	}
	lines := []string{"/resume NUMBER goes on with one:"}
	for _, run := range runs {
		if rest != "" && rest == number(run.ID) {
			return "The next prompt goes on there: " + brief(run), f.choose(ctx, m, func(r *record) { r.Resume, r.Run = rest, run.ID })
		}
		lines = append(lines, brief(run))
	}
	if rest != "" {
		lines = append([]string{fmt.Sprintf("There is no %s among the last.", rest)}, lines...)
	}
	return strings.Join(lines, "\n"), nil
}

// brief is a run on one line.
func brief(run rpc.RunSummary) string {
	said := []rune(show.Line(run.Summary))
	if len(said) > 60 {
		said = append(said[:60], '…')
	}
	return fmt.Sprintf("%d – %s", run.ID, cmp.Or(string(said), "nothing was said"))
}

// folderOf is the run in whose folder files lie that come with a prompt, and to which it goes: the one that goes on, or one
// that is made for them.
func (f *front) folderOf(ctx context.Context, m *message) (sdk.Run, error) {
	r := f.records.of(m.place())
	if run, err := f.resumed(ctx, r); err != nil || run.ID != 0 {
		return run, err
	}
	rested, err := f.rested(ctx, r)
	if err != nil {
		return sdk.Run{}, err
	}
	if !rested {
		if run, err := f.run(ctx, r.Run); err != nil || run.ID != 0 {
			return run, err
		}
	}
	var started rpc.Started
	p := rpc.StartRun{Project: f.project, Agent: r.Agent, Model: r.Model, From: m.from()}
	if err := f.daemon.Call(ctx, rpc.MethodStartRun, p, &started); err != nil {
		return sdk.Run{}, err
	}
	return sdk.Run{ID: started.ID, Alias: started.Run}, f.choose(ctx, m, func(r *record) { r.Resume = number(started.ID) })
}

// resumed is the run that the next prompt goes to; its ID is 0 where none was chosen, or it is gone.
func (f *front) resumed(ctx context.Context, r record) (sdk.Run, error) {
	id, err := strconv.ParseInt(r.Resume, 10, 64)
	if err != nil {
		return sdk.Run{}, nil //nolint:nilerr // none was chosen
	}
	return f.run(ctx, id)
}

// run is a run by its number; its ID is 0 where there is none. A prompt names it by its alias, which people change.
func (f *front) run(ctx context.Context, id int64) (sdk.Run, error) {
	if id == 0 {
		return sdk.Run{}, nil
	}
	var detail rpc.RunDetail
	err := f.daemon.Call(ctx, rpc.MethodRun, rpc.RunRef{Run: number(id)}, &detail)
	if sdk.OutcomeOf(err) == sdk.NotFound {
		return sdk.Run{}, nil
	}
	return sdk.Run{ID: id, Alias: detail.Run, Agent: detail.Agent, Model: detail.Model}, err
}

// rested reports whether the run of a conversation rests, is gone, or was never there.
func (f *front) rested(ctx context.Context, r record) (rested bool, err error) {
	if r.Run == 0 {
		return true, nil
	}
	for after := r.Seq; ; {
		var page rpc.JournalPage
		err := f.daemon.Call(ctx, rpc.MethodJournal, rpc.JournalParams{Run: number(r.Run), After: after, Limit: 1000}, &page)
		if sdk.OutcomeOf(err) == sdk.NotFound {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for _, row := range page.Rows {
			switch row.Kind {
			case sdk.KindRunRested, sdk.KindRunDeleted:
				rested = true
			case sdk.KindLoopQueued:
				rested = false
			}
		}
		if page.Next == 0 {
			return rested, nil
		}
		after = page.Next
	}
}

// taken takes those messages out of a group that the daemon has as a prompt.
func (r record) taken(g group) (left group) {
	for _, m := range g {
		if !r.has(m.ID) {
			left = append(left, m)
		}
	}
	return left
}

func (r record) has(message int64) bool {
	for _, id := range r.Taken {
		if id == message {
			return true
		}
	}
	return false
}

// given notes that the daemon has a group as a prompt, and owes an answer to it.
func (f *front) given(ctx context.Context, g group, a rpc.Accepted) error {
	m := g[0]
	_, err := f.records.change(ctx, m.place(), func(r *record) error {
		r.Alone, r.Run, r.Seq, r.Resume, r.Agent, r.Model = m.alone(), a.ID, a.Seq, "", "", ""
		for _, part := range g {
			if !r.has(part.ID) {
				r.Taken = append(r.Taken, part.ID)
			}
		}
		r.Taken = r.Taken[max(0, len(r.Taken)-mostTaken):]
		if err := r.owe(delivery{Run: a.ID, Loop: a.Loop, Seq: a.Seq, Message: m.ID}); !errors.Is(err, errSame) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.answers(ctx, m.place())
	return nil
}
