package callback

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestNothingBeforeAllow: a process may ask for nothing until it is said what, and what
// another process of its plugin declares later adds nothing to it.
func TestNothingBeforeAllow(t *testing.T) {
	d := open(every...)
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one"}, &clock{})()
	first, early := d.Process, d.Plugin.Process()
	d.Process = early
	for service, err := range d.ask(of("one")) {
		if sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s before anything is allowed: %v", service, err)
		}
	}
	m := &sdk.Manifest{Calls: sdk.Calls{Tools: []string{"*"}}}
	early.Allow(inspect.Spec{Instance: "p", Grants: every}, m)
	if _, err := early.Invoke(of("one"), "write_file", nil); err != nil {
		t.Errorf("what is allowed now: %v", err)
	}
	if _, err := first.Invoke(of("one"), "write_file", nil); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("what another process declares: %v", err)
	}
}

// TestCallsQuota: a plugin may ask for so much in a minute, whatever it asks for and
// whichever of its processes does, and is told what to write.
func TestCallsQuota(t *testing.T) {
	d := open(every...)
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one"}, &clock{})()
	spec := inspect.Spec{Instance: "p", Grants: every, Secrets: []string{"KEY"}}
	spec.Quota.Calls = 5
	m := &sdk.Manifest{Calls: sdk.Calls{Tools: []string{"grep"}, Schemes: []string{"known"}, Secrets: []string{"KEY"}}}
	made := 0
	for range 3 { // a plugin that crashes has no fuller one
		d.Process = d.Plugin.Process()
		d.Allow(spec, m)
		for range 4 {
			_, err := d.Process.Entry(of("one"), "known://a")
			if err == nil {
				made++
				continue
			}
			if sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "more than 5 services in a minute: the next is due in ") || !strings.Contains(err.Error(), "quota { calls = 10 }") {
				t.Fatal(err)
			}
		}
	}
	if made != 5 || len(d.asked) != 5 {
		t.Errorf("%d were made, and the daemon was asked %q", made, d.asked)
	}
	if _, err := d.Process.Secret(context.Background(), "KEY"); sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Errorf("a secret is none of them: %v", err)
	}
}

// TestRefusalsAreFew: of many refusals no more are told than people can read, and each
// plugin has its own.
func TestRefusalsAreFew(t *testing.T) {
	d := open()
	other := d.calls.Plugin("other", hclog.NewNullLogger()).Process()
	other.Allow(inspect.Spec{Instance: "other"}, &sdk.Manifest{})
	for range 3 * refusalsPerMinute {
		if _, err := d.Process.Entry(of("one"), "known://a"); sdk.OutcomeOf(err) != sdk.Permission {
			t.Fatal(err)
		}
	}
	if n := len(d.refused); n != refusalsPerMinute {
		t.Errorf("%d were told", n)
	}
	if _, err := other.Entry(of("one"), "known://a"); err == nil || !strings.HasPrefix(d.refused[len(d.refused)-1], "other: ") {
		t.Errorf("%v, told last %q", err, d.refused[len(d.refused)-1])
	}
}

// TestWritesOutOfReach: of several writes none is made when one of them may not be.
func TestWritesOutOfReach(t *testing.T) {
	d := open(every...)
	defer d.calls.Begin(t.Context(), sdk.Caller{Instance: "p", Call: "one"}, &clock{})()
	_, err := d.Process.Write(of("one"), sdk.Write{Path: "mine://a"}, sdk.Write{Path: "log://turn_1/x"}, sdk.Write{Path: "known://b"})
	if sdk.OutcomeOf(err) != sdk.Permission || len(d.wrote) != 0 || len(d.refused) != 1 {
		t.Errorf("%v, wrote %+v, refused %q", err, d.wrote, d.refused)
	}
}

// TestTie: a request ends with the call that it serves, and with itself, and says of what
// ran out of time that it did, whichever timer was first.
func TestTie(t *testing.T) {
	soon := func(in time.Duration) func() (context.Context, context.CancelFunc) {
		return func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), in) }
	}
	open := func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }
	for name, c := range map[string]struct {
		request, call func() (context.Context, context.CancelFunc)
		end           string // who is given up
		want          error
	}{
		"the call is aborted":                    {open, open, "call", context.Canceled},
		"the request is given up":                {open, open, "request", context.Canceled},
		"the call with an hour is aborted":       {open, soon(time.Hour), "call", context.Canceled},
		"the request of an hour is given up":     {open, soon(time.Hour), "request", context.Canceled},
		"the call runs out of time":              {open, soon(nearDeadline), "", context.DeadlineExceeded},
		"it breaks off just before":              {open, soon(nearDeadline), "request", context.DeadlineExceeded},
		"the call is aborted just before":        {open, soon(nearDeadline), "call", context.DeadlineExceeded},
		"the request's own deadline is nobody's": {soon(2 * time.Hour), soon(nearDeadline), "", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			request, giveUp := c.request()
			defer giveUp()
			call, abort := c.call()
			defer abort()
			tied, done := tie(request, call)
			defer done()
			if err := tied.Err(); err != nil && c.want != context.DeadlineExceeded {
				t.Fatal(err)
			}
			map[string]func(){"call": abort, "request": giveUp, "": func() {}}[c.end]()
			<-tied.Done()
			if !errors.Is(tied.Err(), c.want) {
				t.Errorf("it ended with %v", tied.Err())
			}
		})
	}
}

// TestSecretOfACall: one that is asked for on behalf of a call is told whose, and one that
// could not be had is nothing to hide.
func TestSecretOfACall(t *testing.T) {
	d := open(every...)
	call, abort := context.WithCancel(t.Context())
	defer d.calls.Begin(call, sdk.Caller{Instance: "p", Call: "one", Run: "run"}, &clock{})()
	for of, run := range map[context.Context]string{of("one"): "run", of("no such"): ""} {
		if v, err := d.Process.Secret(of, "KEY"); err != nil || v != "value of KEY" || d.caller.Instance != "p" || d.caller.Run != run {
			t.Errorf("%q %v for %+v", v, err, d.caller)
		}
	}
	abort()
	if _, err := d.Process.Secret(of("one"), "KEY"); err != nil || d.ctx.Err() == nil {
		t.Errorf("%v, and the request goes on after its call: %v", err, d.ctx.Err())
	}
	d.redacts = nil
	d.calls.cfg.Services = locked{d.daemon}
	if _, err := d.Process.Secret(of("one"), "KEY"); err == nil || len(d.redacts) != 0 {
		t.Errorf("%v, redacts %q", err, d.redacts)
	}
}

// locked has no secret to give.
type locked struct{ *daemon }

func (locked) Secret(context.Context, sdk.Caller, string) (string, error) {
	return "", fmt.Errorf("it is not there")
}
