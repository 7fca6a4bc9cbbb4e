package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

const (
	mostTaken = 100 // messages that are kept as taken; Telegram gives that many at once
	mostAsked = 20  // proposals likewise
)

// record is what the plugin keeps of a place, so that no answer is lost or told twice when it or the daemon is killed.
type record struct {
	Place    place      `json:"place"`
	Alone    bool       `json:"alone,omitempty"`    // with one person
	Command  int64      `json:"command,omitempty"`  // the last message that was a command and is done
	Run      int64      `json:"run,omitempty"`      // that was given a prompt last
	Resume   string     `json:"resume,omitempty"`   // the run that the next prompt goes to
	Agent    string     `json:"agent,omitempty"`    // of the next prompt
	Model    string     `json:"model,omitempty"`    // likewise
	Seq      int64      `json:"seq,omitempty"`      // of the journal, when it was
	Taken    []int64    `json:"taken,omitempty"`    // the last messages that are prompts
	Asked    []asked    `json:"asked,omitempty"`    // the last messages that tell of proposals
	Answered int64      `json:"answered,omitempty"` // the last loop whose answer is out
	Owed     []delivery `json:"owed,omitempty"`     // answers, in the order of their prompts
}

// delivery is an answer that is owed.
type delivery struct {
	Run     int64   `json:"run"`
	Loop    int64   `json:"loop"`
	Seq     int64   `json:"seq"`             // of the journal, when the prompt was given
	Message int64   `json:"message"`         // that is answered
	Parts   []int64 `json:"parts,omitempty"` // messages of the bot that are there for it
}

// shelf keeps records by name, durably when Put returns.
type shelf interface {
	All(ctx context.Context) (map[string][]byte, error)
	Put(ctx context.Context, name string, content []byte) error
}

// records are the records of all places.
type records struct {
	shelf shelf
	mu    sync.Mutex
	all   map[place]*record
}

// load reads all records.
func load(ctx context.Context, s shelf) (*records, error) {
	r := &records{shelf: s, all: map[place]*record{}}
	kept, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	for name, content := range kept {
		var one record
		if err := json.Unmarshal(content, &one); err != nil {
			return nil, fmt.Errorf("what was kept of %s: %w", name, err)
		}
		r.all[one.Place] = &one
	}
	return r, nil
}

// of is a copy of the record of a place.
func (r *records) of(p place) record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept := r.all[p]; kept != nil {
		return kept.clone()
	}
	return record{Place: p}
}

// places are those of which there is a record.
func (r *records) places() (all []place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.all {
		all = append(all, p)
	}
	return all
}

// errSame says that there is nothing to change.
var errSame = errors.New("nothing to change")

// change changes the record of a place, durably when it returns. change returns errSame where all is as it was.
func (r *records) change(ctx context.Context, p place, change func(*record) error) (record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := record{Place: p}
	if kept := r.all[p]; kept != nil {
		next = kept.clone()
	}
	err := change(&next)
	if errors.Is(err, errSame) {
		return next, nil
	}
	if err != nil {
		return next, err
	}
	content, err := json.Marshal(next)
	if err == nil {
		err = r.shelf.Put(ctx, p.name(), content)
	}
	if err != nil {
		return next, fmt.Errorf("keep what is owed to a chat: %w", err)
	}
	kept := next.clone()
	r.all[p] = &kept
	return next, nil
}

// name is the place as a name of A-Z a-z 0-9 _ -.
func (p place) name() string {
	name := number(p.Chat)
	if p.Chat < 0 {
		name = "g" + number(-p.Chat)
	}
	if p.Thread != 0 {
		name += "-" + number(p.Thread)
	}
	return name
}

func (r record) clone() record {
	owed := make([]delivery, len(r.Owed))
	for i, d := range r.Owed {
		d.Parts = append([]int64(nil), d.Parts...)
		owed[i] = d
	}
	r.Owed, r.Taken, r.Asked = owed, slices.Clone(r.Taken), slices.Clone(r.Asked)
	return r
}

// owe adds a delivery, unless it is there or done.
func (r *record) owe(d delivery) error {
	if d.Loop <= r.Answered {
		return errSame
	}
	for _, o := range r.Owed {
		if o.Loop == d.Loop {
			return errSame
		}
	}
	r.Owed = append(r.Owed, d)
	return nil
}

// ask notes a message that tells of a proposal, or what it says now.
func (r *record) ask(q asked) error {
	i := slices.IndexFunc(r.Asked, func(was asked) bool { return was.Message == q.Message })
	switch {
	case i < 0:
		r.Asked = append(r.Asked, q)
		r.Asked = r.Asked[max(0, len(r.Asked)-mostAsked):]
	case r.Asked[i] == q:
		return errSame
	default:
		r.Asked[i] = q
	}
	return nil
}

// part notes a message that is there for an answer: the number at, or one more.
func (r *record) part(loop int64, at int, message int64) error {
	for i := range r.Owed {
		if o := &r.Owed[i]; o.Loop == loop {
			if at < len(o.Parts) {
				o.Parts[at] = message
			} else {
				o.Parts = append(o.Parts, message)
			}
			return nil
		}
	}
	return errSame
}

// done notes that an answer is out.
func (r *record) done(loop int64) error {
	for i, o := range r.Owed {
		if o.Loop == loop {
			r.Owed = append(r.Owed[:i], r.Owed[i+1:]...)
			r.Answered = max(r.Answered, loop)
			return nil
		}
	}
	return errSame
}
