package main

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// reading reads the journal of a run from where its prompt was given.
type reading struct {
	daemon   daemon
	delivery delivery
	tree     timeline.Tree // with the runs that it delegated work to
	after    int64
}

// loop is what the journal tells of the loop by now; nil is nothing.
func (r *reading) loop(ctx context.Context) (*timeline.Loop, error) {
	r.after = max(r.after, r.delivery.Seq)
	for {
		var page rpc.JournalPage
		p := rpc.JournalParams{Run: number(r.delivery.Run), After: r.after, Limit: 1000, Children: true}
		err := r.daemon.Call(ctx, rpc.MethodJournal, p, &page)
		if sdk.OutcomeOf(err) == sdk.NotFound {
			return &timeline.Loop{ID: r.delivery.Loop, End: &sdk.LoopEnd{Status: sdk.StatusNotFound, Stop: sdk.StopAborted, Reason: "its run was deleted"}}, nil
		}
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			r.tree.Take(row)
			r.after = row.Seq
		}
		if page.Next == 0 {
			break
		}
		r.after = page.Next
	}
	run := r.tree.Run(r.delivery.Run)
	if run == nil {
		return nil, nil
	}
	for _, l := range run.Loops {
		if l.ID == r.delivery.Loop {
			return l, nil
		}
	}
	return nil, nil
}

// final is the text of an answer: what the model said, and how the work ended where that is not well.
func final(l *timeline.Loop) string {
	text := strings.TrimSpace(l.Answer())
	if sdk.StopExit(l.End.Stop, l.End.Status) == sdk.ExitOK && text != "" {
		return text
	}
	end := show.Ended(*l.End)
	if reason := strings.TrimSpace(l.End.Reason); reason != "" && l.End.Stop != sdk.StopAnswer {
		end += ": " + reason
	}
	return strings.TrimSpace(text + "\n\n" + literal(end))
}

// literal is a text in Markdown that reads as it is.
func literal(text string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune("\\`*_{}[]()#+-.!|<>~&", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
