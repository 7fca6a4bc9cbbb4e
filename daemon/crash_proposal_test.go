package daemon

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What waits for a person while daemons die: the answers of the test, two of
// them at once to each proposal, and what they came to.

// givenAnswers are what a plan's proposals were answered, over as many daemons as it
// takes.
type givenAnswers struct {
	mu    sync.Mutex
	won   map[string]sdk.Answer // by a proposal's hash: what the daemon said that it took
	asked map[string]string     // by an action's path: the hash of its proposal
	bad   []string
}

func newAnswers() *givenAnswers {
	return &givenAnswers{won: map[string]sdk.Answer{}, asked: map[string]string{}}
}

// asking has a person asked about each call in two of three runs, and the last
// steps of every other of these rejected.
func (p plan) asking(nth int) plan {
	if slices.Contains(p.Tools, sdk.ToolDelegate) { // nobody here answers for a child
		return p
	}
	if nth%3 != 0 {
		p.Mode = sdk.ModeInteractive
	}
	if nth%3 == 2 {
		p.Reject = p.Steps
	}
	return p
}

// answerAll answers what the plan's run proposes, until its loop has ended or
// ctx does. Two clients answer each proposal at once.
func (s *site) answerAll(ctx context.Context, p plan, known *givenAnswers) error {
	first, second := s.connect("one answerer"), s.connect("another answerer")
	defer func() { _, _ = first.Close(), second.Close() }()
	for ctx.Err() == nil {
		d, err := first.Run(ctx, rpc.RunRef{Run: p.Tag, Project: s.project})
		if err == nil && len(d.Loops) > 0 && !d.Loops[len(d.Loops)-1].Ended.IsZero() {
			return nil
		}
		if err == nil {
			err = s.answerOnce(ctx, p, known, first, second)
		}
		if err != nil && !lost(err) && sdk.OutcomeOf(err) != sdk.NotFound && ctx.Err() == nil {
			return err
		}
		_ = pause(ctx, 5*time.Millisecond) // ctx ends the loop
	}
	return ctx.Err()
}

// answerOnce answers what waits now.
func (s *site) answerOnce(ctx context.Context, p plan, known *givenAnswers, clients ...*client.Client) error {
	waiting, err := clients[0].Proposals(ctx, rpc.ProposalsParams{Project: s.project, Run: p.Tag})
	if err != nil {
		return err
	}
	for _, x := range waiting {
		answer := sdk.Accept
		if p.Reject > 0 && strings.HasPrefix(lineOfCall(x.Tool, x.Arguments), fmt.Sprintf("%s-%d-", p.Tag, p.Reject)) {
			answer = sdk.Reject
		}
		known.proposed(x)
		var all sync.WaitGroup
		errs := make([]error, len(clients))
		for i, c := range clients {
			all.Go(func() {
				_, errs[i] = c.Resolve(ctx, rpc.Resolve{ID: x.ID, Hash: x.Hash, Answer: answer})
				known.answered(x, answer, errs[i])
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil && !lost(err) && sdk.OutcomeOf(err) != sdk.Conflict {
				return fmt.Errorf("answer %s: %w", x.Path, err)
			}
		}
	}
	return nil
}

// proposed takes that a proposal waits. It is the same in each daemon, and one
// that was answered never waits again.
func (k *givenAnswers) proposed(x sdk.Proposal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if hash, ok := k.asked[x.Path]; ok && hash != x.Hash {
		k.bad = append(k.bad, fmt.Sprintf("%s was proposed as %s, and then as %s", x.Path, hash, x.Hash))
	}
	k.asked[x.Path] = x.Hash
	if a, ok := k.won[x.Hash]; ok {
		k.bad = append(k.bad, fmt.Sprintf("the answer %s to %s was taken, and it waits again", a, x.Path))
	}
}

// answered takes what became of an answer. One of two is taken.
func (k *givenAnswers) answered(x sdk.Proposal, answer sdk.Answer, err error) {
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.won[x.Hash]; ok {
		k.bad = append(k.bad, fmt.Sprintf("two answers to %s were taken", x.Path))
	}
	k.won[x.Hash] = answer
}

// proposals checks what became of a plan's proposals: each call was asked about,
// and nothing was lost of an answer that the daemon said it took.
func (s *site) proposals(p plan, run int64, known *givenAnswers) {
	s.t.Helper()
	known.mu.Lock()
	defer known.mu.Unlock()
	for _, fault := range known.bad {
		s.t.Errorf("%s: %s", p.Tag, fault)
	}
	ended, err := s.client.Proposals(context.Background(), rpc.ProposalsParams{Project: s.project, Run: strconv.FormatInt(run, 10), Ended: true, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	for hash, answer := range known.won {
		i := slices.IndexFunc(ended, func(x sdk.Proposal) bool { return x.Hash == hash })
		if i < 0 {
			s.t.Errorf("%s: the answer %s was taken, and nothing is known of its proposal", p.Tag, answer)
			continue
		}
		x := ended[i]
		rejected := x.State == sdk.StateFailed && x.Outcome == sdk.Permission
		if !x.State.Ended() || rejected != (answer == sdk.Reject) {
			s.t.Errorf("%s: the answer %s to %s was taken, and it is %s %s", p.Tag, answer, x.Path, x.State, x.Outcome)
		}
	}
	for _, e := range s.entries(run, "log://**") {
		if _, ok := lineOf(e); ok && e.Outcome != sdk.Aborted && known.asked[e.Path] == "" {
			s.t.Errorf("%s: %s is %s %s, and nobody was asked: %s", p.Tag, e.Path, e.State, e.Outcome, e.Attributes)
		}
	}
}

// actProposal gives a prompt whose calls all wait for a person, and answers them.
func actProposal(v *visitor, j *job) error {
	return v.propose(j, plan{Tag: j.tag, Steps: 2, Tools: []string{"note_line"}, Mode: sdk.ModeInteractive})
}

// actRejection does it with a second one that is refused.
func actRejection(v *visitor, j *job) error {
	return v.propose(j, plan{Tag: j.tag, Steps: 2, Tools: []string{"note_line"}, Twice: true, Mode: sdk.ModeInteractive, Reject: 2})
}

func (v *visitor) propose(j *job, p plan) error {
	ctx, cancel := actTime()
	defer cancel()
	if j.plan = p; j.answers == nil {
		j.answers = newAnswers()
	}
	other := v.connect("another answerer")
	defer func() { _ = other.Close() }()
	if j.loop == 0 {
		if err := v.place(ctx, j); err != nil {
			return err
		}
	}
	for {
		if err := v.answerOnce(ctx, p, j.answers, v.client, other); err != nil {
			return err
		}
		d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(j.run, 10)})
		if err != nil {
			return err
		}
		v.history.detail(d)
		if l := d.Loops[len(d.Loops)-1]; !l.Ended.IsZero() {
			return nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

func checkProposals(v *visitor, j *job) {
	v.t.Helper()
	v.proposals(j.plan, j.run, j.answers)
}
