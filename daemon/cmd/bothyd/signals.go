package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/daemon"
)

// hastyTime is how long the process may go on after a second signal, should the
// daemon not end by itself.
const hastyTime = 1800 * time.Millisecond

// signals is what the process is told from outside. SIGINT and SIGTERM ask for
// an orderly stop; the second of them, however soon, for an end at once. SIGHUP
// reloads the configuration. All hold from the process's first moment on: one
// that comes while the daemon starts is not lost.
type signals struct {
	came   chan os.Signal
	stop   context.Context // ends with the first SIGINT or SIGTERM
	cancel context.CancelFunc
	reload chan struct{} // one SIGHUP or several

	mu     sync.Mutex
	daemon *daemon.Daemon // nil while it starts
	second bool
}

func takeSignals() *signals {
	s := &signals{came: make(chan os.Signal, 8), reload: make(chan struct{}, 1)}
	s.stop, s.cancel = context.WithCancel(context.Background())
	signal.Notify(s.came, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go s.watch()
	return s
}

func (s *signals) watch() {
	for sig := range s.came {
		switch {
		case sig == syscall.SIGHUP:
			select {
			case s.reload <- struct{}{}:
			default:
			}
		case s.stop.Err() == nil:
			s.cancel()
		default:
			s.hurry()
		}
	}
}

// hurry ends a daemon that serves or stops, and a process whose daemon starts.
func (s *signals) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.second || s.daemon == nil {
		os.Exit(exitHurried)
	}
	s.second = true
	s.daemon.Hurry()
	time.AfterFunc(hastyTime, func() { os.Exit(exitHurried) })
}

// serve hands the signals to a daemon that has started, until ctx ends.
func (s *signals) serve(ctx context.Context, d *daemon.Daemon) {
	s.mu.Lock()
	s.daemon = d
	s.mu.Unlock()
	go func() {
		for {
			select {
			case <-s.reload:
				_ = d.Reload(ctx) // it logs what is wrong, and `bothy status` shows it
			case <-ctx.Done():
				return
			}
		}
	}()
}
