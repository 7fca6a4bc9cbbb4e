package main

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/host"
)

// index has the facts of owners in memory, as the daemon's entries have them: those of an owner are read when they are
// first asked for, and follow the event entry.changed from then on. What is removed there is not here any more.
type index struct {
	mu     sync.Mutex
	owners map[string]*owned
	runs   map[string]sdk.Run // those that were told of, by their keys
}

// owned are the facts of one owner.
type owned struct {
	mu     sync.Mutex
	read   bool
	byPath map[string]*fact.Fact
	sorted []*fact.Fact         // by fact.Before
	last   map[string]time.Time // when what stands at a path, or stood there, was written or removed last
}

// put takes a fact in, in the place of one of its path. The caller has the lock.
func (o *owned) put(f fact.Fact) {
	o.take(f.Path)
	at, _ := slices.BinarySearchFunc(o.sorted, &f, byOrder)
	o.sorted = slices.Insert(o.sorted, at, &f)
	o.byPath[f.Path] = &f
}

// take takes a fact out. The caller has the lock.
func (o *owned) take(path string) {
	f, is := o.byPath[path]
	if !is {
		return
	}
	if at, found := slices.BinarySearchFunc(o.sorted, f, byOrder); found {
		o.sorted = slices.Delete(o.sorted, at, at+1)
	}
	delete(o.byPath, path)
}

func byOrder(a, b *fact.Fact) int { return fact.Before(*a, *b) }

// ownerIn is the owner whose scope an entry has.
func ownerIn(scope string) string {
	owner, _ := strings.CutPrefix(scope, "owner:")
	return owner
}

// knows notes whose a run is.
func (x *index) knows(run sdk.Run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.runs[run.Key] = run
}

// runOf is the run of a key; without an owner where it is not known.
func (x *index) runOf(key string) sdk.Run {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.runs[key]
}

func (x *index) forget(key string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.runs, key)
}

// of is the place for the facts of an owner.
func (x *index) of(owner string) *owned {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.owners[owner]
	if o == nil {
		o = &owned{byPath: map[string]*fact.Fact{}, last: map[string]time.Time{}}
		x.owners[owner] = o
	}
	return o
}

// load reads the facts of an owner, whose run ctx belongs to, where they were not read yet. What changes meanwhile waits, and is
// followed then.
func (x *index) load(ctx context.Context, owner string) (*owned, error) {
	o := x.of(owner)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.read {
		return o, nil
	}
	found, err := host.From(ctx).Entries(ctx, fact.Every)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if f, is := fact.Of(e); is && !hasSecret(f) && ownerIn(e.Scope) == owner {
			o.byPath[f.Path] = &f
			o.sorted = append(o.sorted, &f)
		}
	}
	slices.SortFunc(o.sorted, byOrder)
	o.read = true
	return o, nil
}

// follow takes over a change of an entry. Changes that two runs make at once may be told in another order than they were made: what was
// forgotten is not remembered by the news that it was once written. It reports whether something that its owner's models may have been told is otherwise now:
// a fact that was added is not.
func (x *index) follow(change sdk.EntryEvent) (owner string, otherwise bool) {
	owner = ownerIn(change.Entry.Scope)
	o := x.of(owner)
	o.mu.Lock()
	defer o.mu.Unlock()
	at := change.Entry.Path
	if change.Entry.Updated.Before(o.last[at]) {
		return owner, false
	}
	o.last[at] = change.Entry.Updated
	if !o.read {
		return owner, false
	}
	was, known := o.byPath[at]
	now, is := fact.Of(change.Entry)
	if change.Removed || !is || hasSecret(now) {
		o.take(at)
		return owner, known
	}
	o.put(now)
	return owner, known && (was.Key != now.Key || was.Value != now.Value)
}

// all are the facts, as they are told and found. Nobody may change them.
func (o *owned) all() []*fact.Fact {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sorted)
}

// at is the fact of a path.
func (o *owned) at(path string) (fact.Fact, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f, is := o.byPath[path]
	if !is {
		return fact.Fact{}, false
	}
	return *f, true
}

// forgotten reports whether something under the key of a fact was forgotten since a time.
func (o *owned) forgotten(f fact.Fact, since time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for at, when := range o.last {
		if _, there := o.byPath[at]; !there && when.After(since) && path.Dir(at) == path.Dir(f.Path) {
			return true
		}
	}
	return false
}

// under are the facts under a key, whatever its capitals.
func (o *owned) under(key string) (found []fact.Fact) {
	for _, f := range o.all() {
		if f.Under(key) {
			found = append(found, *f)
		}
	}
	return found
}

// search finds facts by words: those that have most of them first, in the order of all. No words find all.
func (o *owned) search(query string) (found []*fact.Fact) {
	words := fact.Words(query)
	if len(words) == 0 {
		return o.all()
	}
	having := make([][]*fact.Fact, len(words)+1) // so many of them
	for _, f := range o.all() {
		n := f.Has(words)
		having[n] = append(having[n], f)
	}
	for n := len(words); n > 0; n-- {
		found = append(found, having[n]...)
	}
	return found
}
