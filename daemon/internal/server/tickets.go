package server

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// ticket is what a channel was given out to answer one proposal by, once, as that was sent.
type ticket struct {
	text     string
	id, hash string // of the proposal
	run      int64
	accept   bool   // else it only rejects
	over     string // why it is good no more
}

// mostTickets is how many of a channel are known, the newest.
const mostTickets = 256

// tickets are those of one channel, as long as it is served.
type tickets struct {
	mu  sync.Mutex
	all []*ticket // the newest last
}

// give gives out a ticket. Those that the proposal had before are good no more.
func (t *tickets) give(x ticket) string {
	bits := make([]byte, 16)
	_, _ = rand.Read(bits) // never fails: it ends the process instead
	x.text = hex.EncodeToString(bits)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, old := range t.all {
		if old.id == x.id && old.over == "" {
			old.over = "another message took its place"
		}
	}
	t.all = append(t.all, &x)
	t.all = slices.Delete(t.all, 0, max(0, len(t.all)-mostTickets))
	return x.text
}

// find is a ticket as it was given out; the error says that there is none, or that it is good no more.
func (t *tickets) find(text string) (ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, err := t.good(text)
	if err != nil {
		return ticket{}, err
	}
	return *x, nil
}

// take makes a ticket good no more, but for who took it, who may bring it back.
func (t *tickets) take(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, err := t.good(text)
	if err == nil {
		x.over = "it was answered by already"
	}
	return err
}

// back makes a ticket good again with which nothing was done, unless another took its place meanwhile.
func (t *tickets) back(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.all, func(x *ticket) bool { return x.text == text })
	if i >= 0 && !slices.ContainsFunc(t.all[i+1:], func(x *ticket) bool { return x.id == t.all[i].id }) {
		t.all[i].over = ""
	}
}

// good is a ticket that is; mu is held.
func (t *tickets) good(text string) (*ticket, error) {
	i := slices.IndexFunc(t.all, func(x *ticket) bool { return x.text == text })
	switch {
	case i < 0:
		return nil, sdk.Errorf(sdk.Conflict, "this is no ticket, or one from before the channel was opened: ask for another by channel/ticket")
	case t.all[i].over != "":
		return nil, sdk.Errorf(sdk.Conflict, "the ticket is good no more: %s", t.all[i].over)
	}
	return t.all[i], nil
}
