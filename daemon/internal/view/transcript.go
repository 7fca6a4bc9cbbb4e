// Package view renders a run's entries into the messages that a model gets,
// and makes them fit the model. The transcript is a conversation: system text,
// prompts, answers with their calls, and results right behind their calls.
package view

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Transcript renders conversations. What it has rendered it keeps by entry and
// version, so that a turn costs what changed; Forget lets go of it.
type Transcript struct {
	now    func() time.Time
	ratios Ratios

	mu   sync.Mutex // guards runs, never held while rendering
	runs map[int64]*cache
}

// NewTranscript makes a view whose environment facts take the date from now.
func NewTranscript(now func() time.Time) *Transcript {
	return &Transcript{now: now, runs: map[int64]*cache{}}
}

// Assemble renders the conversation up to the loop of the assembly: prompts
// that still wait in the queue are not in it. Every call of every answer has
// exactly one result behind it, whatever became of the action. The prompt is
// not yet made to fit; its Tokens and Ceiling say whether it would.
func (t *Transcript) Assemble(_ context.Context, in sdk.Assembly) (sdk.Prompt, error) {
	c := t.cache(in.Run, len(in.Entries))
	c.mu.Lock()
	defer c.mu.Unlock()
	p := sdk.Prompt{
		Run: in.Run.ForHook(), Loop: in.Loop.ForHook(), Turn: in.Turn, Model: in.Model,
		System:  systemText(in, t.now()),
		Tools:   in.Tools,
		Use:     in.Use,
		Ceiling: in.Use.Most(in.Context, in.Agent.MaxTokens),
	}
	p.Messages = last(conversation(c, in), in.Agent.Messages)
	p.Tokens = t.Estimate(p)
	return p, nil
}

// Forget drops what is kept for a run. The next Assemble renders it anew.
func (t *Transcript) Forget(run int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, run)
}

func (t *Transcript) cache(run sdk.Run, entries int) *cache {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.runs[run.ID]
	if !ok {
		c = &cache{key: run.Key, pieces: make(map[string]rendered, entries)}
		t.runs[run.ID] = c
	}
	return c
}

// place is where a call's result is looked for: ids are unique in a turn only.
type place struct {
	turn int
	call string
}

// onlyLast leaves the mark of a skill's text on the last message that has it:
// an older copy goes like anything else.
func onlyLast(messages []sdk.Message) {
	seen := map[string]bool{}
	for i := len(messages) - 1; i >= 0; i-- {
		if m := &messages[i]; m.Skill != "" {
			if seen[m.Skill] {
				m.Skill = ""
			}
			seen[m.Skill] = true
		}
	}
}

// remarks are what came of the calls that results asked for, which the model reads behind
// those results. The result of a call that a plugin made for another belongs to that one.
type remarks struct {
	parents map[string]string // of the calls that plugins made
	follow  []*sdk.Action
}

func (r *remarks) take(a *sdk.Action) {
	if a.Follows {
		r.follow = append(r.follow, a)
		return
	}
	if r.parents == nil {
		r.parents = map[string]string{}
	}
	r.parents[a.Path] = a.Parent
}

// of is what belongs behind the result of an action.
func (r *remarks) of(path string) (text string) {
	for _, a := range r.follow {
		at := a.Parent
		for r.parents[at] != "" {
			at = r.parents[at]
		}
		switch {
		case at != path:
		case a.State.Ended():
			text += "\n\n[" + a.Remark() + "]"
		default:
			text += "\n\n[" + unknownOutcome + "]"
		}
	}
	return text
}

// conversation orders prompts and answers by loop, which is not the order of
// their entries: a prompt may have been queued while an earlier loop ran.
func conversation(c *cache, in sdk.Assembly) []sdk.Message {
	limit := resultLimit(in.Context)
	spoken := make([]*piece, 0, len(in.Entries))
	results := make(map[place]*piece, len(in.Entries))
	warnings := map[int][]string{} // by turn
	var calls remarks
	var persons []*piece
	var images map[string]string
	back := ComesBack(in.Entries)
	for i := range in.Entries {
		p := c.render(&in.Entries[i], limit, back.Level(&in.Entries[i]))
		switch {
		case p == nil:
		case p.data != "":
			if images == nil {
				images = map[string]string{}
			}
			images[p.path] = p.data
		case p.warning != "":
			warnings[p.turn] = append(warnings[p.turn], p.warning)
		case p.call != nil:
			calls.take(p.call)
		case p.person:
			persons = append(persons, p)
		case p.message.Role == sdk.RoleTool:
			results[place{p.turn, p.message.CallID}] = p
		case p.loop <= in.Loop.ID:
			spoken = append(spoken, p)
		}
	}
	spoken = append(spoken, seated(persons, spoken)...)
	spoken = uncovered(spoken)
	byLoop := func(a, b *piece) int { return cmp.Or(cmp.Compare(a.loop, b.loop), cmp.Compare(a.turn, b.turn)) }
	if !slices.IsSortedFunc(spoken, byLoop) {
		slices.SortStableFunc(spoken, byLoop)
	}
	messages := make([]sdk.Message, 0, len(spoken)+len(results))
	for _, p := range spoken {
		m := p.message
		if p.model != in.Model { // belongs to another provider, which alone can read it
			m.Reasoning, m.Extra = "", nil
		}
		if p.person {
			m.Text += calls.of(p.path)
		}
		m.Media = shown(p.media, images)
		if textual := p.tagged || in.Agent.Dialect == sdk.DialectTags; textual && p.turn > 0 && m.Role == sdk.RoleAssistant {
			messages = append(messages, inText(m))
			if r, some := c.results(p, m.Calls, results, &calls, warnings[p.turn]); some {
				messages = append(messages, r)
			}
			continue
		}
		messages = append(messages, m)
		for _, call := range m.Calls {
			if r, ok := results[place{p.turn, call.ID}]; ok {
				result := r.message
				result.Text += calls.of(r.path)
				messages = append(messages, result)
			} else {
				messages = append(messages, noResult(call))
			}
		}
		if len(m.Calls) > 0 {
			last := &messages[len(messages)-1] // a copy of the cache's
			for _, w := range warnings[p.turn] {
				last.Text += "\n\n[" + w + "]"
			}
		}
	}
	onlyLast(messages)
	fitMedia(messages, sdk.TakesImages(in.Inputs))
	return messages
}

// seated gives what a person did between prompts its place: behind the answers of earlier
// turns.
func seated(persons, spoken []*piece) []*piece {
	var all []*piece
	for _, p := range persons {
		at := *p // a copy of the cache's
		for _, s := range spoken {
			if s.turn > 0 && s.turn < p.turn {
				at.loop = max(at.loop, s.loop)
			}
		}
		all = append(all, &at)
	}
	return all
}
