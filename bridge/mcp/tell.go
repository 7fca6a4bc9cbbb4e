package main

//lint:file-ignore SA1019 clients of before 2026-07-28 have log messages

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Bounds of what is told of one call while it works.
const (
	mostTold = 10_000 // messages
	mostSaid = 8 << 10
)

// teller tells the client how far a call is.
type teller struct {
	ctx   context.Context
	req   *mcp.CallToolRequest
	token any // nil where the client does not ask for progress

	mu   sync.Mutex
	step float64 // that was told last; each is more than the one before
	told int
}

func newTeller(ctx context.Context, req *mcp.CallToolRequest) *teller {
	return &teller{ctx: ctx, req: req, token: req.Params.GetProgressToken(), step: -1}
}

// progress tells what goes on. Fraction is 0 to 1, or below 0 where it is not known: then the
// number counts what was told.
func (t *teller) progress(message string, fraction float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == nil || t.told >= mostTold {
		return
	}
	p := &mcp.ProgressNotificationParams{ProgressToken: t.token, Message: show.Shorten(show.Line(message), 500)}
	switch {
	case fraction >= 0:
		p.Progress, p.Total = max(100*fraction, t.step), 100
	default:
		p.Progress = t.step + 1
	}
	t.step = p.Progress
	t.told++
	_ = t.req.Session.NotifyProgress(t.ctx, p) // one who does not listen is told by the result
}

// log tells what a tool prints, where the client has asked for log messages.
func (t *teller) log(channel int, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told >= mostTold {
		return
	}
	t.told++
	level := mcp.LoggingLevel("info")
	if channel == 2 {
		level = "warning"
	}
	text = sdk.Head(strings.TrimRight(show.Output(text), "\n"), mostSaid)
	_ = t.req.Session.Log(t.ctx, &mcp.LoggingMessageParams{Logger: t.req.Params.Name, Level: level, Data: text}) // as above
}

// tellOf follows the journal, behind a row, for a call that is about to be made, and tells the client
// how far it is, if it listens. The function that it returns ends that: with whole once all rows of the call were told.
func (b *bridge) tellOf(ctx context.Context, cl *client.Client, req *mcp.CallToolRequest, call rpc.ToolCall, after int64) (end func(whole bool)) {
	if !b.listens(req) {
		return func(bool) {}
	}
	f := &callFollower{tell: newTeller(ctx, req), call: call}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		w := client.Watch{Project: call.Project, After: after}
		if err := cl.Follow(ctx, w, f.take); err != nil && ctx.Err() == nil {
			b.log.Debug("a call is not followed", "tool", call.Tool, "error", err)
		}
	})
	return func(whole bool) {
		if whole {
			ended := make(chan struct{})
			go func() { following.Wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(lastWords): // it was recorded in other words, by a filter or without a secret
			}
		}
		cancel()
		following.Wait()
	}
}

// lastWords is how long what a call told last is waited for once it has ended.
const lastWords = time.Second

// listens reports whether the client wants to hear of a call while it works.
func (b *bridge) listens(req *mcp.CallToolRequest) bool {
	return req.Params.GetProgressToken() != nil || b.logs.Load() || req.Params.GetMeta()[mcp.MetaKeyLogLevel] != nil
}

// callFollower finds a call among the rows of a project. Of two that are the same and made at
// once it may take the other: nobody can tell them apart.
type callFollower struct {
	tell *teller
	call rpc.ToolCall
	path string // of the action; empty until it was seen
	run  int64
	turn int
}

// take takes in what was followed; client.ErrDone at the end of the call.
func (f *callFollower) take(e client.Event) error {
	if e.Row == nil {
		return nil
	}
	row := *e.Row
	if f.path == "" && !f.begins(row) || row.Run != f.run {
		return nil
	}
	switch row.Kind {
	case sdk.KindEntryChunk:
		var c sdk.Chunk
		if row.Path == f.path && row.Body != nil && json.Unmarshal(row.Data, &c) == nil {
			f.tell.log(c.Channel, *row.Body)
		}
	case sdk.KindNoteProgress:
		var p struct {
			Path, Message string
			Fraction      float64
		}
		if json.Unmarshal(row.Data, &p) == nil && p.Path == f.path {
			f.tell.progress(p.Message, p.Fraction)
		}
	case sdk.KindTurnClosed:
		if row.Turn == f.turn {
			return client.ErrDone
		}
	}
	return nil
}

// begins reports whether a row records the call.
func (f *callFollower) begins(row sdk.JournalRow) bool {
	path, is := sdk.ParseActionPath(row.Path)
	var change sdk.EntryChange
	if !is || row.Loop != 0 || row.Kind != sdk.KindEntrySet || json.Unmarshal(row.Data, &change) != nil {
		return false
	}
	var c sdk.ActionCall
	if json.Unmarshal(change.Attributes, &c) != nil || c.Tool != f.call.Tool || !sameJSON(c.Arguments, f.call.Arguments) {
		return false
	}
	f.path, f.run, f.turn = row.Path, row.Run, path.Turn
	return true
}

// sameJSON reports whether two objects are the same, however they are written.
func sameJSON(a, b json.RawMessage) bool { return canonical(a) == canonical(b) }

func canonical(raw json.RawMessage) string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil || v == nil {
		v = map[string]any{}
	}
	text, _ := json.Marshal(sdk.WithoutNulls(v)) // it was JSON
	return string(text)
}
