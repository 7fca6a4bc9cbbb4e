package model

import (
	"context"
	"errors"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// retryRule is how one class of failure is retried.
type retryRule struct {
	first, longest time.Duration // the waits double in between
	within         time.Duration // all waits of the class together
	asked          time.Duration // the longest Retry-After that is honoured
}

// retryRules are the daemon's: providers never retry. What is not in the table
// is never retried (400, 401, 402, 403, 404, 413, 422, used-up quotas, and a
// context that is too long).
var retryRules = map[sdk.FailureClass]retryRule{
	sdk.ClassWarmUp:    {first: time.Second, longest: 10 * time.Second, within: 5 * time.Minute, asked: 30 * time.Second},
	sdk.ClassRateLimit: {first: 2 * time.Second, longest: 30 * time.Second, within: 3 * time.Minute, asked: 90 * time.Second},
	sdk.ClassGateway:   {first: 500 * time.Millisecond, longest: 8 * time.Second, within: 30 * time.Second, asked: 30 * time.Second},
	sdk.ClassServer:    {first: time.Second, longest: 8 * time.Second, within: 30 * time.Second, asked: 30 * time.Second},
}

// retrier asks a provider until it answers or its rule is used up. Each class
// has a time of its own, so that a server that warms up after a reset is not
// cut short.
type retrier struct {
	rules  map[sdk.FailureClass]retryRule
	sleep  func(context.Context, time.Duration) error
	jitter func(time.Duration) time.Duration
	waited map[sdk.FailureClass]time.Duration
	next   map[sdk.FailureClass]time.Duration
}

func newRetrier() *retrier {
	return &retrier{
		rules: retryRules, sleep: sleep, jitter: sdk.Jittered,
		waited: map[sdk.FailureClass]time.Duration{}, next: map[sdk.FailureClass]time.Duration{},
	}
}

func (r *retrier) do(ctx context.Context, onRetry func(sdk.Retry) error, ask func() error) error {
	for attempt := 2; ; attempt++ {
		err := ask()
		var failed *sdk.ProviderError
		if err == nil || ctx.Err() != nil || !errors.As(err, &failed) {
			return err
		}
		wait, ok := r.wait(failed)
		if !ok {
			return err
		}
		if onRetry != nil {
			told := onRetry(sdk.Retry{Class: failed.Class, Wait: wait, Attempt: attempt, Message: failed.Error()})
			if told != nil {
				return told
			}
		}
		if r.sleep(ctx, wait) != nil {
			return interrupted(ctx)
		}
	}
}

// wait says how long to wait before the next attempt, or that there is none.
// A server that asks for more patience than the rule has is not asked again:
// an early attempt would only fail as well.
func (r *retrier) wait(e *sdk.ProviderError) (time.Duration, bool) {
	rule, ok := r.rules[e.Class]
	if !ok || e.Streamed || e.Replay || e.NoTools || e.RetryAfter > rule.asked {
		return 0, false
	}
	d := min(max(2*r.next[e.Class], rule.first), rule.longest)
	r.next[e.Class] = d
	wait := r.jitter(d)
	if e.RetryAfter > 0 {
		wait = e.RetryAfter + r.jitter(rule.first)/10
	}
	if r.waited[e.Class]+wait > rule.within {
		return 0, false
	}
	r.waited[e.Class] += wait
	return wait, true
}

// interrupted says why nobody waits for the next attempt.
func interrupted(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &sdk.Error{Outcome: sdk.Timeout, Message: "the model did not answer before the deadline", Cause: ctx.Err()}
	}
	return &sdk.Error{Outcome: sdk.Aborted, Message: "the completion was aborted", Cause: ctx.Err()}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
