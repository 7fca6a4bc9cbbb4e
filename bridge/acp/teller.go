package main

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// teller tells the editor what the journal of a run tells. One goroutine at a time uses it: that
// which reads the run's past, then that which follows it.
type teller struct {
	s    *session
	seq  int64 // of the last row that was taken in
	tree timeline.Tree

	past  bool // what was there before is read: nothing is asked
	muted bool // and the editor has it already

	writing writing
	opened  int              // the last turn that was opened
	early   []rpc.Preview    // of later ones
	replied int              // the last turn whose reply was told
	calls   map[string]*call // by the path of the action
	seen    map[int64]bool   // loops of which a row was seen
	begun   map[int64]bool   // and those whose prompt was told
	ended   map[int64]bool
	asked   map[*timeline.Action]*question // what is asked now
	planned bool                           // a step of the plan is another than the editor has
}

func newTeller(s *session) *teller {
	return &teller{s: s, calls: map[string]*call{}, seen: map[int64]bool{}, begun: map[int64]bool{}, ended: map[int64]bool{}, asked: map[*timeline.Action]*question{}}
}

func (t *teller) update(u acp.SessionUpdate) {
	if !t.muted {
		t.s.update(u)
	}
}

// row takes in a row, and tells what it changed; made are the differences where it records those
// of a call.
func (t *teller) row(row sdk.JournalRow, made []acp.ToolCallContent) {
	t.seq = row.Seq
	c := t.tree.Take(row)
	if t.s.isChild(row.Run) {
		t.child(row, c)
		return
	}
	if row.Kind == sdk.KindRunRenamed {
		t.s.renamed(row)
	}
	t.plan(c.Plan)
	t.prompt(c.Loop)
	if row.Kind == sdk.KindTurnOpened {
		t.open(row.Turn)
	}
	if c.Reply && c.Turn != nil {
		t.reply(row, c.Turn)
	}
	t.action(row, c.Action)
	if action, is := changedBy(row); is && len(made) > 0 && t.calls[action] != nil {
		t.calls[action].diffs = made
		t.tellCall(t.calls[action], false)
	}
	t.note(row)
	t.question(c.Loop)
	t.end(c.Loop)
}

// prompt tells of a prompt on which work begins, unless it is the editor's own, which shows it
// already.
func (t *teller) prompt(l *timeline.Loop) {
	if l == nil {
		return
	}
	if !t.seen[l.ID] {
		t.seen[l.ID] = true
		t.s.settled()
	}
	if l.Began.IsZero() || t.begun[l.ID] {
		return
	}
	t.begun[l.ID] = true
	if l.Prompt != "" && !t.s.gave(l.ID) {
		t.update(acp.UpdateUserMessageText(l.Prompt))
		t.images(l.Media)
	}
}

// images tells of those that went with a prompt.
func (t *teller) images(media []sdk.Medium) {
	for _, m := range media {
		if t.muted {
			return
		}
		e, err := start.Repeat(t.s.ctx, t.s.b.daemon, t.s.b.cl, func() (sdk.Entry, error) { return t.s.b.cl.Entry(t.s.ctx, t.s.run, m.URI) })
		if err != nil || e.Body == "" { // it is not kept any more
			t.update(acp.UpdateUserMessageText("\n[" + show.Line(m.String()) + "]"))
			continue
		}
		t.update(acp.UpdateUserMessage(acp.ImageBlock(e.Body, m.MIMEType)))
	}
}

// preview takes in a piece of what the model writes. It may be here before the rows that were
// committed before it, and waits for them then: the call that the model writes about stands above.
func (t *teller) preview(p rpc.Preview) {
	switch {
	case t.s.isChild(p.Run): // it is told folded
	case p.Turn <= t.replied: // it was told
	case p.Turn > t.opened:
		t.early = append(t.early, p)
	default:
		t.write(t.writing.take(p))
	}
}

// open begins with a turn.
func (t *teller) open(turn int) {
	t.opened = max(t.opened, turn)
	early := t.early
	t.early = nil
	for _, p := range early {
		t.preview(p)
	}
}

// reply tells what is new of a reply that is recorded, and how full the model's context is by it.
func (t *teller) reply(row sdk.JournalRow, turn *timeline.Turn) {
	var change sdk.EntryChange
	_ = json.Unmarshal(row.Data, &change)  // the fold has read it
	r, _ := sdk.ReplyOf(change.Attributes) // one that cannot be read says nothing more
	t.replied = max(t.replied, turn.Number)
	t.write(t.writing.end(turn.Number, r.Reasoning, turn.Text))
	used := r.Estimate
	if r.Usage != nil {
		used = r.Usage.Prompt + r.Usage.Completion
	}
	if r.Context > 0 && used > 0 {
		t.update(acp.SessionUpdate{UsageUpdate: &acp.SessionUsageUpdate{Used: used, Size: r.Context}})
	}
}

// write tells what the model thought and wrote.
func (t *teller) write(thought, text string) {
	if thought != "" {
		t.update(acp.UpdateAgentThoughtText(thought))
	}
	if text != "" {
		t.update(acp.UpdateAgentMessageText(text))
	}
}

// note tells what the engine says of its own work, and what went wrong where no call did.
func (t *teller) note(row sdk.JournalRow) {
	text := ""
	switch row.Kind {
	case sdk.KindNoteRetry, sdk.KindNoteFallback, sdk.KindNotePruned, sdk.KindNoteWarning:
		text = show.Row(row)
	case sdk.KindEntrySet:
		if path, is := sdk.ParseActionPath(row.Path); is && path.IsError() && row.Body != nil {
			text = show.Text(strings.TrimSpace(*row.Body))
		}
	}
	if text != "" {
		t.update(acp.UpdateAgentThoughtText("\n" + text + "\n"))
	}
}

// end is the end of a loop: whoever waits for it is told. Why one did not end well is told in the session where no error says
// it: of a prompt that was stopped, or that the editor did not give.
func (t *teller) end(l *timeline.Loop) {
	if l == nil || l.End == nil || t.ended[l.ID] {
		return
	}
	t.ended[l.ID] = true
	if l.Result() != nil {
		t.update(acp.UpdateAgentMessageText("\n\n```json\n" + show.Text(l.Answer()) + "\n```\n"))
	}
	reason, why := stopOf(l)
	o, said := outcome{reason: reason, usage: usageOf(l)}, "\n\n("+show.Ended(*l.End)+": "+show.Text(why)+")"
	if reason == "" {
		o.err = errors.New(why)
	} else if why != "" { // a stop reason says nothing more
		t.update(acp.UpdateAgentMessageText(said))
	}
	if own := t.s.finish(l.ID, o); !own && reason == "" {
		t.update(acp.UpdateAgentMessageText(said))
	}
}
