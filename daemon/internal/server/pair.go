package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// pairingTries is how many wrong codes end a pairing.
const pairingTries = 5

// pairings are the codes that channels wait for, one for each channel at most.
type pairings struct {
	mu  sync.Mutex
	all map[string]*pairing
}

// pairing is one code, from the moment in which it is shown until somebody sends it.
type pairing struct {
	code    string
	wrong   int
	claimed chan rpc.Paired // holds one
	over    context.CancelCauseFunc
}

var (
	errPairingLate  = sdk.Errorf(sdk.Timeout, "nobody sent the code in time; make another one")
	errPairingOver  = rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, "the daemon is stopping, and the code is good no more: make another one when it runs again")
	errPairingWrong = sdk.Errorf(sdk.Permission, "%d wrong codes were sent to the channel, and this one is good no more; make another one when nobody else writes there", pairingTries)
)

// waits reports whether a code of a channel is waited for.
func (p *pairings) waits(channel string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[channel] != nil
}

// begin makes a code for a channel; end takes it back.
func (p *pairings) begin(channel string, over context.CancelCauseFunc) (x *pairing, end func(), err error) {
	text := rand.Text()
	x = &pairing{code: text[:4] + "-" + text[4:8], claimed: make(chan rpc.Paired, 1), over: over}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[channel] != nil {
		return nil, nil, sdk.Errorf(sdk.Conflict, "another code of the channel %s is waited for; end that first", channel)
	}
	if p.all == nil {
		p.all = map[string]*pairing{}
	}
	p.all[channel] = x
	return x, func() { p.drop(channel, x) }, nil
}

// drop takes a code back, unless that was done before.
func (p *pairings) drop(channel string, x *pairing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[channel] == x {
		delete(p.all, channel)
	}
}

// claim compares what was sent with the code of its channel. A code is taken once, whatever is made of it then.
func (p *pairings) claim(code string, by rpc.Paired) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[by.Channel]
	switch {
	case x == nil:
		return sdk.Errorf(sdk.NotFound, "no code of this channel is waited for; `bothy channels pair %s` makes one", by.Channel)
	case subtle.ConstantTimeCompare([]byte(x.code), []byte(code)) == 1:
		delete(p.all, by.Channel)
		x.claimed <- by
		return nil
	}
	if x.wrong++; x.wrong >= pairingTries {
		delete(p.all, by.Channel)
		x.over(errPairingWrong)
	}
	return sdk.Errorf(sdk.Permission, "that is not the code")
}

// pair waits until somebody sends a code to a channel.
func (s *Server) pair(ctx context.Context, c *conn, p rpc.PairParams) (rpc.Paired, error) {
	if !s.cfg.Channels.serves(p.Channel) {
		return rpc.Paired{}, sdk.Errorf(sdk.NotFound, "no channel %q is served, which could take a code; `bothy channels ls` lists those that are", p.Channel)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.limits.Pairing, errPairingLate)
	defer cancel()
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	defer context.AfterFunc(s.draining, func() { over(errPairingOver) })()
	x, end, err := s.pairs.begin(p.Channel, over)
	if err != nil {
		return rpc.Paired{}, err
	}
	defer end()
	c.out.note(rpc.NoteCode, rpc.PairCode{Code: x.code, Until: time.Now().Add(s.limits.Pairing)}, nil)
	select {
	case by := <-x.claimed:
		return by, nil
	case <-ctx.Done():
	}
	select {
	case by := <-x.claimed: // at the same moment
		return by, nil
	default:
		return rpc.Paired{}, context.Cause(ctx)
	}
}

// claim takes a code from a channel, of somebody who is not listed yet.
func (s *Server) claim(_ context.Context, c *conn, p rpc.Claim) (rpc.Empty, error) {
	if c.grant == nil {
		return rpc.Empty{}, wrongParams("%s is for channels, to which the code was sent", rpc.MethodClaim)
	}
	if p.From == nil {
		return rpc.Empty{}, wrongParams("%s says in from who sent the code", rpc.MethodClaim)
	}
	if err := checkFrom(*p.From); err != nil {
		return rpc.Empty{}, err
	}
	if err := checkNames(p.Name); err != nil {
		return rpc.Empty{}, err
	}
	if p.From.Conversation != "" {
		return rpc.Empty{}, wrongParams("a code is taken from a person who is alone with the channel: others read what is sent to a group")
	}
	if _, known := s.cfg.People.Person(sdk.PersonID(c.grant.instance, p.From.Person)); known {
		return rpc.Empty{}, sdk.Errorf(sdk.Conflict, "a person block names them already")
	}
	err := s.pairs.claim(sdk.PairingCode(p.Code), rpc.Paired{Channel: c.grant.instance, Person: p.From.Person, Name: p.Name})
	if sdk.OutcomeOf(err) == sdk.Permission {
		s.alarm.raise(EventRefusedChannel, "a wrong code was sent to the channel %s", c.grant.instance)
	}
	return rpc.Empty{}, err
}
