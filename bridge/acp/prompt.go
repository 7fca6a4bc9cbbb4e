package main

import (
	"context"
	"crypto/rand"
	"regexp"
	"strconv"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// messageID is an id of a message that can be the key of a prompt: a UUID, as the protocol has it.
var messageID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Prompt implements acp.Agent: it gives the run a prompt and waits for its end. Ctx ends when the
// editor cancels it, gives another prompt before this one has ended, or is gone.
func (b *bridge) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	s, err := b.session(p.SessionId)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	text, along, media, err := promptOf(p.Prompt, s.project)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	defer s.waiting()()
	key := rand.Text()
	if p.MessageId != nil && messageID.MatchString(*p.MessageId) {
		key = *p.MessageId
	}
	o, err := s.prompt(ctx, rpc.Prompt{Key: key, Prompt: text, Quoted: along, Media: media})
	if err == nil {
		err = o.err
	}
	if err != nil {
		return acp.PromptResponse{}, fault(err)
	}
	return acp.PromptResponse{StopReason: o.reason, Usage: o.usage, UserMessageId: p.MessageId}, nil
}

// sent is what became of a prompt that goes out.
type sent struct {
	accepted rpc.Accepted
	given    *given
	err      error
}

// prompt gives the run a prompt and waits for its end.
func (s *session) prompt(ctx context.Context, p rpc.Prompt) (outcome, error) {
	sending := make(chan sent, 1)
	go func() { sending <- s.send(p) }()
	var out sent
	select {
	case out = <-sending:
	case <-ctx.Done(): // it may be with the daemon in a moment, and ends then
		if s.gone() {
			return outcome{}, ctx.Err()
		}
		go func() {
			if late := <-sending; late.err == nil {
				s.cancel(late.accepted)
			}
		}()
		return outcome{reason: acp.StopReasonCancelled}, nil
	}
	if out.err != nil {
		return outcome{}, out.err
	}
	s.follow()
	select {
	case <-out.given.ended:
		return out.given.outcome, nil
	case <-s.ctx.Done():
	case <-ctx.Done():
	}
	if s.gone() {
		return outcome{}, context.Canceled // the editor: the work goes on
	}
	s.cancel(out.accepted)
	select {
	case <-out.given.ended:
		return outcome{reason: acp.StopReasonCancelled, usage: out.given.usage}, nil
	case <-s.ctx.Done(): // the session was closed
		return outcome{reason: acp.StopReasonCancelled}, nil
	}
}

// gone reports whether the editor is, or the bridge is told to end.
func (s *session) gone() bool {
	select {
	case <-s.b.conn.Done():
		return true
	default:
		return s.b.ctx.Err() != nil
	}
}

// send gives the daemon a prompt, with what was chosen for it.
func (s *session) send(p rpc.Prompt) sent {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	next, alias := s.next, s.alias
	s.mu.Unlock()
	s.lendFirst(s.b.ctx)
	d := *s.b.daemon
	d.Waits = s.say
	p.Project, p.Run, p.Agent, p.Model, p.Mode, p.Attend = s.project, alias, next.agent, next.model, next.mode, true
	a, err := d.Prompt(s.b.ctx, s.b.cl, false, p)
	if err != nil {
		return sent{err: err}
	}
	if a.ID != s.run {
		return sent{err: sdk.Errorf(sdk.Conflict, "the run of this session was renamed, and the prompt went to %s: load the session again", show.Line(a.Run))}
	}
	own := s.own(a.Loop)
	s.mu.Lock()
	shown := s.shown
	s.mu.Unlock()
	shown.model = a.Model
	if a.Mode != "" {
		shown.mode = a.Mode
	}
	s.shows(shown)
	return sent{accepted: a, given: own}
}

// cancel takes a prompt back, or ends the work on it.
func (s *session) cancel(a rpc.Accepted) {
	prompt := rpc.PromptRef{Run: strconv.FormatInt(s.run, 10), Prompt: a.Sequence}
	if err := start.Withdraw(s.b.ctx, s.b.daemon, s.b.cl, prompt); err != nil {
		s.b.log.Warn("a prompt is not cancelled", "run", s.run, "error", err)
	}
}

// abort ends what the run works on.
func (s *session) abort() error {
	_, err := start.Repeat(s.b.ctx, s.b.daemon, s.b.cl, func() (rpc.Aborted, error) {
		return s.b.cl.Abort(s.b.ctx, rpc.RunRef{Run: strconv.FormatInt(s.run, 10)})
	})
	return err
}

// Cancel implements acp.Agent. A prompt of the editor is ended by who waits for it; where there is
// none the run works for somebody else, or did so before the session was loaded.
func (b *bridge) Cancel(_ context.Context, p acp.CancelNotification) error {
	s, err := b.session(p.SessionId)
	if err != nil || s.busy() {
		return err
	}
	return s.abort()
}
