package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
)

const (
	// startTime bounds the start of a server: until it answers.
	startTime = 90 * time.Second
	// stopTime is how long a server may take to end in order.
	stopTime = 5 * time.Second
	// askAgain is the pause between two questions whether it answers by now.
	askAgain = 50 * time.Millisecond
	// maxSaid bounds what is kept of what a server writes, its last words.
	maxSaid = 2 << 10
)

// servers are those that this plugin may start, by address: one that is configured
// anew for the same address goes on with the one that runs. The zero value is ready.
type servers struct {
	mu   sync.Mutex
	made map[string]*served
}

// served is `ollama serve` at one address of this machine, started when it is
// first wanted and ended with the last that holds it.
type served struct {
	of      *servers
	address string // host:port
	held    int    // under of.mu

	mu    sync.Mutex
	child *child // the last one that was started
}

// child is one process.
type child struct {
	cmd   *exec.Cmd
	said  lastWords
	ended chan struct{} // closed when it was waited for
}

// hold is the server of an address. Each hold is ended by release.
func (s *servers) hold(address string) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made = map[string]*served{}
	}
	if s.made[address] == nil {
		s.made[address] = &served{of: s, address: address}
	}
	s.made[address].held++
	return s.made[address]
}

func (s *served) release() {
	s.of.mu.Lock()
	s.held--
	last := s.held == 0
	if last {
		delete(s.of.made, s.address)
	}
	s.of.mu.Unlock()
	if last {
		s.stop()
	}
}

// awake starts the server when nothing listens at its address and Ollama is
// installed, and waits until it answers. Where it is not installed the request
// that follows says that nobody is there.
func (s *served) awake(asked context.Context) error {
	ctx, cancel := context.WithTimeout(asked, startTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.address)
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EAFNOSUPPORT): // as Landlock and the filter of sockets say it
		return sdk.Errorf(sdk.Permission, "this plugin may not use the network: write network = true into the confine block of its provider, or take that block away")
	case !errors.Is(err, syscall.ECONNREFUSED):
		return nil
	}
	c, err := s.started()
	if c == nil || err != nil {
		return err
	}
	for !answers(ctx, s.address) {
		select {
		case <-time.After(askAgain):
		case <-c.ended:
			return sdk.Errorf(sdk.Unavailable, "ollama serve ended at once (%v): %s", c.cmd.ProcessState, c.said.text())
		case <-asked.Done():
			return asked.Err()
		case <-ctx.Done():
			return sdk.Errorf(sdk.Unavailable, "ollama serve was started at %s and did not answer within %v: %s", s.address, startTime, c.said.text())
		}
	}
	return nil
}

// started is the process that runs, started now if none does; nil where Ollama is
// not installed.
func (s *served) started() (*child, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil && !s.child.over() {
		return s.child, nil
	}
	path, err := exec.LookPath("ollama")
	if err != nil {
		return nil, nil // which is no fault
	}
	c := &child{cmd: exec.Command(path, "serve"), ended: make(chan struct{})}
	c.cmd.Env, c.cmd.Dir = environment(s.address), "/"
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.WaitDelay = &c.said, &c.said, time.Second
	if err := c.cmd.Start(); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, sdk.Errorf(sdk.Permission, "ollama serve cannot be started, for this plugin is confined: start it yourself, write start = false into the block, or take its confine block away (%v)", err)
		}
		return nil, sdk.Errorf(sdk.Unavailable, "ollama serve cannot be started: %v", err)
	}
	fmt.Fprintf(os.Stderr, "started %s serve at %s, pid %d\n", path, s.address, c.cmd.Process.Pid)
	go func() {
		_ = c.cmd.Wait() // ProcessState says how it ended
		close(c.ended)
	}()
	s.child = c
	return c, nil
}

// stop ends the process and waits for its end. What it has started, which is of the
// plugin's process group, is ended with the plugin.
func (s *served) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil || s.child.over() {
		return
	}
	_ = s.child.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.child.ended:
	case <-time.After(stopTime):
		_ = s.child.cmd.Process.Kill()
		<-s.child.ended
	}
}

func (c *child) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// answers reports whether a server speaks HTTP there.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return false
	}
	plain := http.Transport{DisableKeepAlives: true} // by no proxy
	resp, err := plain.RoundTrip(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode < http.StatusInternalServerError
}

// environment is what the server gets: the plugin's own variables without those that
// the daemon made for it.
func environment(address string) []string {
	var env []string
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "GOMAXPROCS", "GOTRACEBACK", "OLLAMA_HOST", "OLLAMA_API_KEY":
		default:
			env = append(env, v)
		}
	}
	return append(env, "OLLAMA_HOST="+address)
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu   sync.Mutex
	kept []byte
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p...)
	w.kept = bytes.Clone(w.kept[max(0, len(w.kept)-maxSaid):])
	return len(p), nil
}

func (w *lastWords) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(w.kept)), "\uFFFD")
}
