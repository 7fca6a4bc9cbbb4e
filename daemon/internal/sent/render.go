package sent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/compact"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Store is what a rendering reads.
type Store interface {
	Project(ctx context.Context, id int64) (sdk.Project, error)
	Loops(ctx context.Context, run int64) ([]sdk.Loop, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	EntriesAt(ctx context.Context, run, seq int64) ([]sdk.EntryThen, error)
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
}

// View makes messages of entries, as the engine's does. It may also be Calibrated.
type View interface {
	Assemble(ctx context.Context, in sdk.Assembly) (sdk.Prompt, error)
	Fit(ctx context.Context, p sdk.Prompt, render func(context.Context, sdk.Prompt) (sdk.Prompt, error)) (sdk.Prompt, sdk.Fitting, error)
}

// Reader renders what models were sent.
type Reader struct {
	Store Store
	// Views makes a view by its name that has rendered nothing yet: what is rendered of an old turn is not to take the place of
	// what the turns at work have.
	Views map[string]func() View
	// Messages are the filters of the messages: those of views, and those of plugins.
	Messages func(ctx context.Context, p sdk.Prompt) (sdk.Prompt, error)
}

// Packet renders what the model of a turn was sent. A text that is kept nowhere any more stands there as its hash, and Same says
// whether the rendering is what was sent. Outcome not_found is a turn of which nothing is kept.
func (r *Reader) Packet(ctx context.Context, run sdk.Run, turn int) (rpc.Packet, error) {
	s, loop, err := r.sent(ctx, run, turn)
	if err != nil {
		return rpc.Packet{}, err
	}
	out := rpc.Packet{
		Run: run.Alias, ID: run.ID, Turn: turn, Loop: loop.ID, Model: s.Model, View: s.View, Hash: s.Hash,
		Tokens: s.Tokens, Context: s.Context, Sums: s.Sums, Gone: []rpc.GoneText{},
	}
	p, err := r.render(ctx, run, loop, turn, s, &out)
	if err != nil {
		return out, err
	}
	if out.ContextTokens, err = r.counted(ctx, run, turn, s); err != nil {
		return out, err
	}
	out.Rendered = Hash(p.System, p.Messages)
	out.Same = out.Rendered == s.Hash
	if p.System != "" {
		out.Messages = append(out.Messages, sdk.Message{Role: sdk.RoleSystem, Text: p.System})
	}
	out.Messages = append(out.Messages, p.Messages...)
	for i := range out.Messages {
		out.Messages[i].Media = named(out.Messages[i].Media)
	}
	return out, nil
}

// counted is what the model's server counted of what it was sent, else the estimate.
func (r *Reader) counted(ctx context.Context, run sdk.Run, turn int, s sdk.Sent) (int, error) {
	said, err := r.reply(ctx, run, turn)
	if sdk.OutcomeOf(err) == sdk.NotFound {
		return s.Tokens, nil // it failed
	}
	if at, bad := sdk.ReplyOf(said.Attributes); err == nil && bad == nil && at.Usage != nil && !at.Usage.Estimated {
		return at.Usage.Prompt, nil
	}
	return s.Tokens, err
}

// named are media without their data, which their entries have.
func named(media []sdk.Medium) []sdk.Medium {
	media = slices.Clone(media)
	for i := range media {
		media[i].Data = ""
	}
	return media
}

// sent is what is kept of a turn, and its loop.
func (r *Reader) sent(ctx context.Context, run sdk.Run, turn int) (s sdk.Sent, loop sdk.Loop, err error) {
	rows, err := r.Store.Journal(ctx, sdk.JournalQuery{Run: run.ID, Kinds: []string{sdk.KindNoteSent}, Heads: true})
	if err != nil {
		return s, loop, err
	}
	i := -1
	for at := range rows {
		if rows[at].Turn == turn {
			i = at // of several, the last: the one that was answered
		}
	}
	switch {
	case turn < 1 || turn > run.Turns:
		return s, loop, sdk.Errorf(sdk.NotFound, "the run %s has no turn %d; it has %d", run.Alias, turn, run.Turns)
	case i < 0:
		return s, loop, sdk.Errorf(sdk.NotFound,
			"nothing is kept of what a model was sent in turn %d of the run %s: no model was asked in it or has answered yet, the run has it from another one, or an earlier version of bothyd took it",
			turn, run.Alias)
	}
	if err := json.Unmarshal(rows[i].Data, &s); err != nil {
		return s, loop, fmt.Errorf("read row %d of the journal: %w", rows[i].Seq, err)
	}
	loops, err := r.Store.Loops(ctx, run.ID)
	if err != nil {
		return s, loop, err
	}
	at := slices.IndexFunc(loops, func(l sdk.Loop) bool { return l.ID == rows[i].Loop })
	if at < 0 {
		return s, loop, sdk.Errorf(sdk.NotFound, "the prompt of turn %d of the run %s is gone", turn, run.Alias)
	}
	return s, loops[at], nil
}

// render makes the prompt once more, by the entries of then.
func (r *Reader) render(ctx context.Context, run sdk.Run, loop sdk.Loop, turn int, s sdk.Sent, out *rpc.Packet) (p sdk.Prompt, err error) {
	fresh, is := r.Views[s.View]
	if !is {
		return p, sdk.Errorf(sdk.Unavailable, "turn %d was rendered by the view %q, which is not there any more", turn, s.View)
	}
	project, err := r.Store.Project(ctx, run.Project)
	if err != nil {
		return p, err
	}
	then, err := r.Store.EntriesAt(ctx, run.ID, s.Seq)
	if err != nil {
		return p, err
	}
	texts, err := r.texts(ctx, run, s)
	if err != nil {
		return p, err
	}
	if s.Tools != "" && json.Unmarshal([]byte(texts.of(sdk.ToolsTextPath(s.Tools), s.Tools, out)), &out.Tools) != nil {
		out.Tools = nil // it is gone
	}
	in := sdk.Assembly{
		Project: project, Run: run, Loop: loop, Turn: turn, Agent: sdk.Agent{Messages: s.Last, Dialect: s.Dialect}, Model: s.Model, Context: s.Context,
		Use: s.Use, Inputs: s.Inputs, Tools: offered(out.Tools), Entries: entries(then, out),
	}
	if s.Told {
		in.Tools = make([]sdk.Tool, 1) // a view asks whether there are any
	}
	system := texts.of(sdk.SystemTextPath(s.System), s.System, out)
	in.Skills = texts.of(sdk.SystemTextPath(s.Skills), s.Skills, out)
	view := fresh()
	if by, is := view.(Calibrated); is && s.Ratio > 0 {
		by.Calibrate(s.Model, s.Ratio)
	}
	if p, err = view.Assemble(ctx, in); err != nil {
		return p, err
	}
	p.System = system
	if s.Told {
		p.Tools = nil
	}
	if p, err = r.Messages(ctx, p); err != nil {
		return p, err
	}
	for _, ceiling := range s.Ceilings {
		p.Ceiling = ceiling
		fits, _, err := view.Fit(ctx, p, r.Messages)
		if err != nil { // what is gone is another text, which may not fit
			break
		}
		p = fits
	}
	if s.Flat {
		p.Messages = compact.Flat(p.Messages)
	}
	p.System = system
	return p, nil
}

// entries are those of then as a view renders them, with what is gone named in out and in its place.
func entries(then []sdk.EntryThen, out *rpc.Packet) []sdk.Entry {
	all := make([]sdk.Entry, len(then))
	for i, e := range then {
		all[i] = e.Entry
		for _, hash := range e.Gone {
			out.Gone = append(out.Gone, rpc.GoneText{Path: e.Path, Hash: hash})
		}
		if len(e.Gone) > 0 && e.Body == "" {
			all[i].Body = goneText(e.Gone[0])
		}
	}
	return all
}

// goneText stands where a text is gone.
func goneText(hash string) string {
	if hash == "" {
		return "[This text is not kept any more.]"
	}
	return "[This text is not kept any more. Its SHA-256 is " + hash + ".]"
}

// kept are texts by the path of their entry.
type kept map[string]string

// texts are those that the turn had and no entry of a conversation has.
func (r *Reader) texts(ctx context.Context, run sdk.Run, s sdk.Sent) (kept, error) {
	var paths []string
	for digest, path := range map[string]string{s.System: sdk.SystemTextPath(s.System), s.Skills: sdk.SystemTextPath(s.Skills), s.Tools: sdk.ToolsTextPath(s.Tools)} {
		if digest != "" {
			paths = append(paths, path)
		}
	}
	all := kept{}
	if len(paths) == 0 {
		return all, nil
	}
	found, err := r.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Paths: paths})
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		all[e.Path] = e.Body
	}
	return all, nil
}

// of is a text, by its entry and its digest; one that is gone, or is another by now, is named.
func (k kept) of(path, hash string, out *rpc.Packet) string {
	if hash == "" {
		return ""
	}
	if text, is := k[path]; is && digest(text) == hash {
		return text
	}
	out.Gone = append(out.Gone, rpc.GoneText{Path: path, Hash: hash})
	return goneText(hash)
}

// offered are tools as far as a view counts them.
func offered(defs []sdk.ToolDef) []sdk.Tool {
	all := make([]sdk.Tool, len(defs))
	for i, d := range defs {
		all[i] = sdk.Tool{ToolSpec: sdk.ToolSpec{Name: d.Name, Description: d.Description, Parameters: d.Parameters}}
	}
	return all
}
