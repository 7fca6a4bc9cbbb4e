package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// desk is a daemon of memory, with a model that says what a test has it say.
type desk struct {
	mu      sync.Mutex
	changed chan struct{}
	rows    []sdk.JournalRow
	shown   []rpc.Preview
	given   map[string]rpc.Prompt // by key
	loops   map[string]rpc.Accepted
	prompts []rpc.Prompt // in the order in which they were taken
	asked   []string     // the other methods
	people  rpc.People
	claims  []rpc.Claim
	runs    map[string]int64 // the run of a conversation
	parents map[int64]int64  // of runs that work was delegated to
	made    int64            // the last run that was

	earlier  []rpc.RunSummary
	gone     string        // a run that was deleted
	read     int           // how often the journal was
	late     chan struct{} // until it is closed nobody hears what happens
	files    []string      // that were put into folders of runs
	ticket   rpc.Ticket
	tickets  int // that were given out
	answers  []rpc.ChannelAnswer
	unasked  error          // of each ticket
	unseeing bool           // its model takes no pictures
	waits    sdk.JournalRow // the call

	refuse error                       // of each prompt
	say    func(p rpc.Prompt) []string // pieces of an answer; nil leaves it open
	kept   map[string][]byte
}

func newDesk(people ...string) *desk {
	d := &desk{changed: make(chan struct{}), given: map[string]rpc.Prompt{}, loops: map[string]rpc.Accepted{}, runs: map[string]int64{}, parents: map[int64]int64{}, kept: map[string][]byte{}}
	d.say = func(p rpc.Prompt) []string { return []string{"You said: " + p.Prompt} }
	for _, p := range people {
		d.people.People = append(d.people.People, rpc.ListedPerson{Channel: "telegram", Called: p})
	}
	return d
}

func (d *desk) commit(row sdk.JournalRow, data any, body ...string) int64 {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	row.Seq, row.Data = int64(len(d.rows)+1), raw
	if len(body) > 0 {
		row.Body = &body[0]
	}
	d.rows = append(d.rows, row)
	d.wake()
	return row.Seq
}

func (d *desk) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *desk) preview(p rpc.Preview) {
	p.Preview = true
	d.shown = append(d.shown, p)
	d.wake()
}

// Call implements daemon.
func (d *desk) Call(ctx context.Context, method string, params, result any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	answer, err := d.answer(method, params)
	if err != nil || result == nil {
		return err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (d *desk) answer(method string, params any) (any, error) {
	switch p := params.(type) {
	case rpc.Prompt:
		return d.act(p)
	case rpc.PeopleParams:
		return d.people, nil
	case rpc.Claim:
		d.claims = append(d.claims, p)
		if p.Code != "AAAA-BBBB" {
			return nil, sdk.Errorf(sdk.Permission, "that is not the code")
		}
		return nil, nil
	case rpc.JournalParams:
		d.read++
		d.wake()
		var page rpc.JournalPage
		for _, row := range d.rows {
			if (number(row.Run) == p.Run || p.Children && number(d.parents[row.Run]) == p.Run) && row.Seq > p.After {
				page.Rows = append(page.Rows, row)
			}
		}
		return page, nil
	case rpc.RunsParams:
		return d.earlier, nil
	case rpc.StartRun:
		d.asked = append(d.asked, method)
		d.made++
		d.runs[conversation(p.From)] = d.made
		id := d.runs[conversation(p.From)]
		return rpc.Started{ID: id, Run: alias(number(id))}, nil
	case rpc.TicketParams:
		if d.unasked != nil {
			return nil, d.unasked
		}
		d.tickets++
		t := d.ticket
		t.ID, t.Ticket = p.ID, fmt.Sprintf("%032d", d.tickets)
		return t, nil
	case rpc.ChannelAnswer:
		if p.Ticket != fmt.Sprintf("%032d", d.tickets) {
			return nil, sdk.Errorf(sdk.Conflict, "the ticket is good no more")
		}
		d.tickets++ // it is good no more
		d.answers = append(d.answers, p)
		d.answered(p)
		return nil, nil
	case rpc.RunRef:
		d.asked = append(d.asked, method+" "+p.Run)
		if method == rpc.MethodLeave {
			maps.DeleteFunc(d.runs, func(_ string, run int64) bool { return number(run) == p.Run })
		}
		if d.gone == p.Run {
			return nil, sdk.Errorf(sdk.NotFound, "there is no run %s", p.Run)
		}
		return rpc.RunDetail{RunState: rpc.RunState{Run: alias(p.Run)}, Agent: "default", Model: "parrot"}, nil
	case rpc.ModelsParams:
		return rpc.Models{Models: []rpc.Model{{Alias: "parrot", Default: true}, {Alias: "owl"}}}, nil
	case rpc.AgentsParams:
		return rpc.Agents{Agents: []rpc.Agent{{Name: "default", Default: true}, {Name: "reviewer"}}}, nil
	}
	return nil, sdk.Errorf(sdk.NotFound, "the desk knows no %s", method)
}

// alias is what a run is called, by its number: a prompt names it so.
func alias(run string) string { return "telegram_run-" + run }

// conversation is where something was written.
func conversation(from *sdk.From) string { return from.Name() }

// PutFile implements daemon.
func (d *desk) PutFile(ctx context.Context, run, _, name string, _ int64, from io.Reader) (string, error) {
	content, err := io.ReadAll(from)
	if err != nil || ctx.Err() != nil {
		return "", errors.Join(err, ctx.Err())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files = append(d.files, run+" "+name+": "+string(content))
	return name, nil
}

// propose commits a call that waits for an answer.
func (d *desk) propose(a rpc.Accepted, proposal string) {
	d.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Run: a.ID, Loop: a.Loop, Turn: int(a.Loop)}, nil)
	d.waits = d.calls(a, `{"call_id":"c","tool":"bash","index":0}`)
	d.edit(proposal, "first")
}

// calls commits a call, and returns a row of its entry.
func (d *desk) calls(a rpc.Accepted, call string) sdk.JournalRow {
	row := sdk.JournalRow{Kind: sdk.KindEntrySet, Run: a.ID, Loop: a.Loop, Turn: int(a.Loop), Path: fmt.Sprintf("log://turn_%d/bash/a", a.Loop)}
	d.commit(row, sdk.EntryChange{State: sdk.StateStreaming, Phase: sdk.PhaseRecorded, Attributes: json.RawMessage(call)})
	return row
}

// edit commits what the call that waits would do now.
func (d *desk) edit(proposal, hash string) {
	d.commit(d.waits, sdk.EntryChange{State: sdk.StateProposed, Phase: sdk.PhaseRecorded, Attributes: json.RawMessage(fmt.Sprintf(`{"proposal":{"id":%q,"hash":%q}}`, proposal, hash))})
}

// delegate commits a call that has another run work for one.
func (d *desk) delegate(a, child rpc.Accepted) {
	d.parents[child.ID] = a.ID
	d.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Run: a.ID, Loop: a.Loop, Turn: int(a.Loop)}, nil)
	d.calls(a, fmt.Sprintf(`{"call_id":"c","tool":"delegate","index":0,"child":{"run":%d,"loop":%d}}`, child.ID, child.Loop))
}

// answered commits what a person answered.
func (d *desk) answered(p rpc.ChannelAnswer) {
	d.commit(d.waits, sdk.EntryChange{State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: json.RawMessage(fmt.Sprintf(`{"answer":{"answer":%q,"by":"telegram/%s"}}`, p.Answer, p.From.Person))})
	d.end(rpc.Accepted{ID: d.waits.Run, Loop: d.waits.Loop}, "done")
}

func (d *desk) act(p rpc.Prompt) (rpc.Accepted, error) {
	if d.unseeing && len(p.Media) > 0 {
		return rpc.Accepted{}, sdk.Errorf(sdk.Validation, "the model takes no images")
	}
	if d.refuse != nil {
		return rpc.Accepted{}, d.refuse
	}
	key := conversation(p.From) + " " + cmp.Or(p.Key, p.From.Message)
	if was, is := d.given[key]; is {
		if p.Key != "" && was.Prompt != p.Prompt {
			return rpc.Accepted{}, sdk.Errorf(sdk.Conflict, "another prompt was given under the key %s", p.Key)
		}
		return d.loops[key], nil
	}
	run := d.runs[conversation(p.From)]
	if p.Run != "" {
		if _, err := fmt.Sscanf(p.Run, alias("%d"), &run); err != nil { // a run of that name is made
			run = 0
		}
	}
	if run == 0 {
		d.made++
		run = d.made
	}
	d.runs[conversation(p.From)] = run
	loop := int64(len(d.prompts) + 1)
	a := rpc.Accepted{ID: run, Loop: loop}
	a.Seq = d.commit(sdk.JournalRow{Kind: sdk.KindLoopQueued, Run: a.ID, Loop: loop}, nil)
	d.given[key], d.loops[key] = p, a
	d.prompts = append(d.prompts, p)
	if pieces := d.say(p); pieces != nil {
		d.write(a, pieces...)
		d.end(a, pieces...)
	}
	return a, nil
}

// write shows pieces of an answer, before it is committed.
func (d *desk) write(a rpc.Accepted, pieces ...string) {
	d.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Run: a.ID, Loop: a.Loop, Turn: int(a.Loop)}, nil)
	for i, piece := range pieces {
		d.preview(rpc.Preview{Run: a.ID, Loop: a.Loop, Turn: int(a.Loop), Text: piece, First: i == 0})
	}
}

// end commits an answer.
func (d *desk) end(a rpc.Accepted, pieces ...string) {
	var whole string
	for _, piece := range pieces {
		whole += piece
	}
	d.commit(sdk.JournalRow{Kind: sdk.KindEntrySet, Run: a.ID, Loop: a.Loop, Turn: int(a.Loop), Path: fmt.Sprintf("assistant://%d", a.Loop)}, sdk.EntryChange{State: sdk.StateResolved}, whole)
	d.commit(sdk.JournalRow{Kind: sdk.KindTurnClosed, Run: a.ID, Loop: a.Loop, Turn: int(a.Loop)}, nil)
	d.commit(sdk.JournalRow{Kind: sdk.KindLoopEnded, Run: a.ID, Loop: a.Loop}, sdk.LoopEnd{Status: 200, Stop: sdk.StopAnswer})
}

// do changes the desk while nobody reads it.
func (d *desk) do(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// taken are the prompts that were taken.
func (d *desk) taken() []rpc.Prompt {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]rpc.Prompt(nil), d.prompts...)
}

// resolved are the answers that were taken.
func (d *desk) resolved() []rpc.ChannelAnswer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]rpc.ChannelAnswer(nil), d.answers...)
}

// Follow implements daemon.
func (d *desk) Follow(ctx context.Context, w client.Watch, each func(client.Event) error) error {
	if d.late != nil {
		<-d.late
	}
	d.mu.Lock()
	row, shown := len(d.rows), len(d.shown)
	if w.After >= 0 {
		row = int(w.After)
	}
	d.mu.Unlock()
	for {
		d.mu.Lock()
		var events []client.Event
		for ; shown < len(d.shown); shown++ {
			events = append(events, client.Event{Preview: &d.shown[shown]})
		}
		for ; row < len(d.rows); row++ {
			events = append(events, client.Event{Row: &d.rows[row]})
		}
		changed := d.changed
		d.mu.Unlock()
		for _, e := range events {
			if err := each(e); err != nil {
				return err
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// All and Put implement shelf.
func (d *desk) All(context.Context) (map[string][]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string][]byte{}
	for name, content := range d.kept {
		all[name] = content
	}
	return all, nil
}

func (d *desk) Put(ctx context.Context, name string, content []byte) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[name] = append([]byte(nil), content...)
	d.wake()
	return nil
}

// scene is a Telegram, a daemon, and the plugin between them.
type scene struct {
	*testing.T
	telegram *telegramtest.Server
	desk     *desk
	end      func() // ends the plugin
	front    *front
}

// talk starts a plugin between a Telegram and a daemon. It is ended with the test, or by end.
func talk(t *testing.T, server *telegramtest.Server, d *desk) *scene {
	t.Helper()
	b := botOf(t, server.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f := newFront(b, user{ID: 4242, Username: "test_bot"}, d, d, "telegram", "/p")
	d.do(func() { f.since = int64(len(d.rows)) })
	ended := make(chan error, 1)
	go func() { ended <- f.serve(ctx, func(string) {}) }()
	c := &scene{T: t, telegram: server, desk: d, front: f}
	var once sync.Once
	c.end = func() {
		once.Do(func() {
			cancel()
			<-ended
		})
	}
	t.Cleanup(c.end)
	return c
}

// until waits for something that the server will have.
func (c *scene) until(what string, is func() bool) {
	c.Helper()
	late := time.After(time.Minute)
	for {
		changed := c.telegram.Changed()
		c.desk.mu.Lock()
		moved := c.desk.changed
		c.desk.mu.Unlock()
		if is() {
			return
		}
		select {
		case <-changed:
		case <-moved:
		case <-late:
			c.Fatalf("never: %s; posts are %+v and %+v", what, c.telegram.Posts(7), c.telegram.Posts(-100))
		}
	}
}

// shows waits until the last message of the bot in a chat is a text.
func (c *scene) shows(chat int64, text string) telegramtest.Post {
	c.Helper()
	var last telegramtest.Post
	c.until("the text "+text, func() bool {
		posts := c.telegram.Posts(chat)
		if len(posts) == 0 {
			return false
		}
		last = posts[len(posts)-1]
		return last.Text == text
	})
	return last
}

// quiet waits until everything that was written is confirmed.
func (c *scene) quiet() {
	c.Helper()
	c.until("all is confirmed", func() bool { return c.telegram.Waiting() == 0 })
}
