package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestUpkeep(t *testing.T) {
	var log bytes.Buffer
	waits, tick := make(chan time.Duration), make(chan time.Time)
	kept := make(chan Keep, 1)
	days := 0
	u := &upkeep{
		expire: func(_ context.Context, k Keep) error {
			kept <- k
			return errors.New("the disk is full")
		},
		keep:  func() Keep { days++; return Keep{Sandbox: time.Duration(days) * time.Hour} },
		after: func(d time.Duration) <-chan time.Time { waits <- d; return tick },
		log:   hclog.New(&hclog.LoggerOptions{Output: &log}),
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { u.run(ctx); close(done) }()
	for i, want := range []time.Duration{firstUpkeep, nextUpkeep, nextUpkeep} {
		if got := <-waits; got != want {
			t.Errorf("wait %d is %s, want %s", i, got, want)
		}
		select {
		case k := <-kept:
			t.Errorf("a pass before its time: %v", k)
		default:
		}
		tick <- time.Time{}
		// What is configured is asked anew each time.
		if k := <-kept; k.Sandbox != time.Duration(i+1)*time.Hour {
			t.Errorf("pass %d keeps %s", i, k.Sandbox)
		}
	}
	<-waits
	cancel()
	<-done
	if n := strings.Count(log.String(), "the disk is full"); n != 3 {
		t.Errorf("%d of 3 failures are in the log: %s", n, log.String())
	}
}
