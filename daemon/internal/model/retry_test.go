package model

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// scripted is a provider that fails as the script says, then answers.
func scripted(script ...error) (ask func() error, asked *int) {
	n := 0
	return func() error {
		n++
		if n <= len(script) {
			return script[n-1]
		}
		return nil
	}, &n
}

// fakeTime makes a retrier that only notes its waits.
func fakeTime(waits *[]time.Duration) *retrier {
	r := newRetrier()
	r.jitter = func(d time.Duration) time.Duration { return d }
	r.sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return r
}

func failure(c sdk.FailureClass, change func(*sdk.ProviderError)) error {
	e := &sdk.ProviderError{Class: c, Message: string(c)}
	if change != nil {
		change(e)
	}
	return e
}

func TestRetry(t *testing.T) {
	after := func(d time.Duration) func(*sdk.ProviderError) {
		return func(e *sdk.ProviderError) { e.RetryAfter = d }
	}
	for _, c := range []struct {
		name   string
		script []error
		waits  []time.Duration
		ok     bool
	}{
		{"nothing fails", nil, nil, true},
		{"server doubles", []error{failure(sdk.ClassServer, nil), failure(sdk.ClassServer, nil), failure(sdk.ClassServer, nil)}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, true},
		{"classes count apart", []error{failure(sdk.ClassServer, nil), failure(sdk.ClassGateway, nil), failure(sdk.ClassServer, nil)}, []time.Duration{time.Second, 500 * time.Millisecond, 2 * time.Second}, true},
		{"Retry-After is honoured", []error{failure(sdk.ClassRateLimit, after(7*time.Second))}, []time.Duration{7*time.Second + 200*time.Millisecond}, true},
		{"Retry-After above the cap", []error{failure(sdk.ClassRateLimit, after(time.Hour))}, nil, false},
		{"never", []error{failure(sdk.ClassNever, nil)}, nil, false},
		{"overflow", []error{failure(sdk.ClassOverflow, nil)}, nil, false},
		{"streamed", []error{failure(sdk.ClassServer, func(e *sdk.ProviderError) { e.Streamed = true })}, nil, false},
		{"replay", []error{failure(sdk.ClassServer, func(e *sdk.ProviderError) { e.Replay = true })}, nil, false},
		{"crashed", []error{sdk.Errorf(sdk.PluginCrashed, "crashed")}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var waits []time.Duration
			var told []sdk.Retry
			ask, asked := scripted(c.script...)
			err := fakeTime(&waits).do(context.Background(), func(r sdk.Retry) error { told = append(told, r); return nil }, ask)
			if (err == nil) != c.ok || len(waits) != len(c.waits) || len(told) != len(waits) {
				t.Fatalf("error %v, waits %v, told %v; want %v", err, waits, told, c.waits)
			}
			for i, w := range c.waits {
				if waits[i] != w || told[i].Wait != w || told[i].Attempt != i+2 || told[i].Message == "" {
					t.Errorf("wait %d: %v, told %+v, want %v", i, waits[i], told[i], w)
				}
			}
			if *asked != len(waits)+1 {
				t.Errorf("asked %d times", *asked)
			}
		})
	}
}

// TestRetryEnds: whatever fails in whatever order, the waits of a class stay
// within its rule and each within its cap.
func TestRetryEnds(t *testing.T) {
	classes := []sdk.FailureClass{sdk.ClassWarmUp, sdk.ClassRateLimit, sdk.ClassGateway, sdk.ClassServer}
	rapid.Check(t, func(t *rapid.T) {
		var waits []time.Duration
		var last sdk.FailureClass
		sums := map[sdk.FailureClass]time.Duration{}
		r := fakeTime(&waits)
		r.jitter = sdk.Jittered
		err := r.do(context.Background(), func(x sdk.Retry) error {
			sums[x.Class] += x.Wait
			rule := retryRules[x.Class]
			if x.Wait > max(rule.longest*6/5, rule.asked+rule.first) {
				t.Fatalf("a wait of %v for %s", x.Wait, x.Class)
			}
			return nil
		}, func() error {
			last = rapid.SampledFrom(classes).Draw(t, "class")
			wait := time.Duration(rapid.Int64Range(0, int64(40*time.Second)).Draw(t, "after"))
			return failure(last, func(e *sdk.ProviderError) { e.RetryAfter = wait })
		})
		if err == nil || len(waits) > 1000 {
			t.Fatalf("it never ended: %d waits, %v", len(waits), err)
		}
		for c, sum := range sums {
			if sum > retryRules[c].within {
				t.Fatalf("%s waited %v", c, sum)
			}
		}
	})
}

func TestRetryGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var waits []time.Duration
	ask, _ := scripted(failure(sdk.ClassServer, nil))
	if err := fakeTime(&waits).do(ctx, func(sdk.Retry) error { cancel(); return nil }, ask); sdk.OutcomeOf(err) != sdk.Aborted {
		t.Errorf("got %v, want %s", err, sdk.Aborted)
	}
	full := errors.New("disk full")
	ask, _ = scripted(failure(sdk.ClassServer, nil))
	if err := newRetrier().do(context.Background(), func(sdk.Retry) error { return full }, ask); !errors.Is(err, full) {
		t.Errorf("a failed report was swallowed: %v", err)
	}
}

// failing is a host whose provider fails twice, and then answers.
type failing struct {
	listed
	left *int
}

func (f failing) Complete(_ context.Context, _ string, _ sdk.Request, send func(sdk.Delta) error) error {
	if *f.left--; *f.left >= 0 {
		return failure(sdk.ClassGateway, nil)
	}
	return send(sdk.Delta{Text: "hello"})
}

// TestCompleteRetries: the person is told before each attempt, and the answer is that of
// the last.
func TestCompleteRetries(t *testing.T) {
	left := 1
	m := chooser(t, "", nil)
	m.host = failing{listed: listed{"one": nil}, left: &left}
	var got string
	var told []sdk.Retry
	err := m.Complete(t.Context(), "one/two", sdk.Request{}, func(d sdk.Delta) error { got += d.Text; return nil },
		func(r sdk.Retry) error { told = append(told, r); return nil })
	if err != nil || got != "hello" || len(told) != 1 || told[0].Class != sdk.ClassGateway || told[0].Attempt != 2 {
		t.Errorf("%q %v, told %+v", got, err, told)
	}
}
