package timeline

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Turn is one round trip with a model, or the turn of a call that no prompt caused.
type Turn struct {
	Number   int   // among the turns of the run
	Loop     int64 // 0: no prompt caused it
	Model    string
	Usage    *sdk.Usage // nil when the provider said nothing
	Finish   string
	Duration time.Duration
	Closed   bool

	Text    string    // of the reply, beside calls; empty when it was deleted since
	State   sdk.State // of the reply; empty while there is none
	Called  bool      // the reply has calls
	Actions []*Action // in the order of the calls, each before those that its result asked for
}

// add gives an action its place.
func (t *Turn) add(a *Action) {
	at := len(t.Actions)
	if a.Follows {
		for i, x := range t.Actions {
			if x.Path == a.Parent || x.Follows && x.Parent == a.Parent {
				at = i + 1
			}
		}
	}
	t.Actions = slices.Insert(t.Actions, at, a)
}

func (t *Turn) take(row sdk.JournalRow) {
	var d struct {
		Model    string
		Usage    *sdk.Usage
		Finish   string
		Duration int64 `json:"duration_ms"`
	}
	if t.Closed = row.Kind == sdk.KindTurnClosed; json.Unmarshal(row.Data, &d) != nil {
		return
	}
	t.Model, t.Usage, t.Finish, t.Duration = first(d.Model, t.Model), d.Usage, d.Finish, time.Duration(d.Duration)*time.Millisecond
}

// reply takes in a write of the turn's reply, and reports whether the reply has
// come to its end: while it is written its entry streams.
func (t *Turn) reply(row sdk.JournalRow, c sdk.EntryChange) bool {
	if !c.State.Ended() {
		return false
	}
	r, _ := sdk.ReplyOf(c.Attributes) // one that cannot be read has no calls
	_, found := c.Hashed["found"]
	t.State, t.Text = c.State, ""
	_, called := c.Hashed["calls"]
	_, gone := c.Hashed["narration"]
	if row.Body != nil && (!gone || r.Narration != nil) && (!found || r.Found != nil) {
		t.Text = r.Said(*row.Body)
	}
	t.Called = called || gone || found || len(r.Calls) > 0 || len(r.Found) > 0
	return true
}

// Action is an action with what it has printed so far.
type Action struct {
	sdk.Action

	// Streamed is the output that came while the action worked, by channel. When
	// Broken is set, a piece was gone before it was read: Body has it at the end.
	Streamed map[int]string
	Broken   bool

	printed map[int]string // what a command of sh or env printed in all, once that is told
}

func (a *Action) whole(channel int, text string) {
	if a.printed == nil {
		a.printed = map[int]string{}
	}
	a.printed[channel] = text
}

// IsError reports whether this is no call but a failure or a warning without one,
// which Body tells.
func (a *Action) IsError() bool {
	path, is := sdk.ParseActionPath(a.Path)
	return is && path.IsError()
}

// stream takes in a piece of output: the row's body, which is gone once the action
// has ended.
func (a *Action) stream(row sdk.JournalRow) {
	var chunk sdk.Chunk
	if a.Broken = a.Broken || row.Body == nil || json.Unmarshal(row.Data, &chunk) != nil; a.Broken {
		return
	}
	if a.Streamed == nil {
		a.Streamed = map[int]string{}
	}
	a.Streamed[chunk.Channel] += *row.Body
}

// Unseen is what a channel printed behind what was streamed of it, once the action
// has ended; empty when the rest cannot be told apart.
func (a *Action) Unseen(channel int) string {
	name := map[int]string{1: "stdout", 2: "stderr"}[channel]
	whole, split := a.Metadata[name].(string)
	streamed, did := a.Streamed[channel]
	if a.Streams {
		whole, split = a.printed[channel], true
	}
	if !split && did && len(a.Streamed) == 1 { // a tool of one channel; why it was cut short is told by itself
		if whole = a.Body; a.Error != "" {
			whole = strings.TrimSuffix(whole, "\n\n"+a.Error)
		}
	}
	rest, ok := strings.CutPrefix(whole, streamed)
	if !ok {
		return "" // it was cut, or is told in other words
	}
	return rest
}
