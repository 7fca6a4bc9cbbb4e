package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestSkillsChanged: every client is told, each change once.
func TestSkillsChanged(t *testing.T) {
	h := open(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	heard := make(chan rpc.SkillsChanged)
	ended := make(chan error)
	for range 2 {
		c := h.client(t)
		go func() {
			ended <- c.HearSkills(ctx, func(p rpc.SkillsChanged) error {
				heard <- p
				if len(p.Removed) > 0 {
					return client.ErrDone
				}
				return nil
			})
		}()
	}
	for range 2 {
		if p := <-heard; p.Project != "" || len(p.Added) > 0 {
			t.Errorf("the first one is %+v", p)
		}
	}
	want := rpc.SkillsChanged{Project: "/p", Added: []string{"a"}, Changed: []string{"b"}, Removed: []string{"c"}}
	h.SkillsChanged(want)
	for range 2 {
		if p := <-heard; fmt.Sprint(p) != fmt.Sprint(want) {
			t.Errorf("told %+v", p)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestHearSkillsEnds: with the connection, and with ctx.
func TestHearSkillsEnds(t *testing.T) {
	h := open(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	if err := h.client(t).HearSkills(ctx, func(rpc.SkillsChanged) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	began := make(chan struct{})
	ended := make(chan error)
	c := h.client(t)
	go func() {
		ended <- c.HearSkills(context.Background(), func(rpc.SkillsChanged) error { close(began); return nil })
	}()
	<-began
	h.Close(context.Background())
	if err := <-ended; !errors.Is(err, client.ErrDisconnected) {
		t.Errorf("ended with %v", err)
	}
}

// TestSkillsOfASlowClient: however much happens while a client does not read,
// one line waits for it, and what it reads in the end is what there is.
func TestSkillsOfASlowClient(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	out := newOutbox(pipeSender{ours}, nil)
	news := &skillNews{out: out}
	for i := range 10_000 {
		name := fmt.Sprint("s", i%3)
		news.tell(rpc.SkillsChanged{Project: "/p", Added: []string{name}})
		news.tell(rpc.SkillsChanged{Project: "/p", Changed: []string{name}})
		if i < 9_999 {
			news.tell(rpc.SkillsChanged{Project: "/p", Removed: []string{name}})
		}
	}
	if n := len(out.queue); n != 1 {
		t.Errorf("%d lines wait", n)
	}
	written := make(chan struct{})
	go func() { out.run(); close(written) }()
	lines := json.NewDecoder(theirs)
	here := map[string]bool{}
	for !maps.Equal(here, map[string]bool{"s0": true}) {
		here = apply(here, readNews(t, lines))
	}
	go func() { _, _ = io.Copy(io.Discard, theirs) }() // what may be said of it once more
	out.close()
	<-written
	news.tell(rpc.SkillsChanged{Added: []string{"late"}})
	news.tell(rpc.SkillsChanged{Added: []string{"later"}}) // into a closed outbox: nobody waits
}

func readNews(t *testing.T, lines *json.Decoder) rpc.SkillsChanged {
	t.Helper()
	var n rpc.Request
	var p rpc.SkillsChanged
	if err := lines.Decode(&n); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(n.Params, &p); err != nil || n.Method != rpc.NoteSkills {
		t.Fatal(n.Method, err)
	}
	return p
}

// apply is what is there after a change.
func apply(here map[string]bool, p rpc.SkillsChanged) map[string]bool {
	for _, name := range slices.Concat(p.Added, p.Changed) {
		here[name] = true
	}
	for _, name := range p.Removed {
		delete(here, name)
	}
	return here
}

// TestNewsTogether: changes that are put together come to what they come to one
// by one, and nothing that changed is left out.
func TestNewsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		told, really := map[string]bool{}, map[string]bool{}
		for _, name := range rapid.SliceOfDistinct(names, rapid.ID[string]).Draw(t, "there") {
			told[name], really[name] = true, true
		}
		n := &skillNews{busy: true}
		touched := map[string]bool{}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			name := names.Draw(t, "name")
			p := rpc.SkillsChanged{Added: []string{name}}
			switch {
			case really[name] && rapid.Bool().Draw(t, "gone"):
				p = rpc.SkillsChanged{Removed: []string{name}}
			case really[name]:
				p = rpc.SkillsChanged{Changed: []string{name}}
			}
			really, touched[name] = apply(really, p), true
			if n.tell(p); rapid.IntRange(0, 4).Draw(t, "reads") == 0 {
				told, touched = apply(told, drain(t, n, touched, told)), map[string]bool{}
			}
		}
		if told = apply(told, drain(t, n, touched, told)); !maps.Equal(told, really) {
			t.Fatalf("told %v, is %v", told, really)
		}
	})
}

// drain is what a client is told next. Each name that was touched and is there
// must be in it.
func drain(t *rapid.T, n *skillNews, touched, before map[string]bool) rpc.SkillsChanged {
	var p rpc.SkillsChanged
	for name, state := range n.waiting[""] {
		switch state {
		case skillAdded:
			p.Added = append(p.Added, name)
		case skillChanged:
			p.Changed = append(p.Changed, name)
		case skillRemoved:
			p.Removed = append(p.Removed, name)
		}
		if state == skillAdded && before[name] || state != skillAdded && !before[name] {
			t.Fatalf("%s is told as %d, and was there: %v", name, state, before[name])
		}
	}
	for name := range touched {
		if before[name] && n.waiting[""][name] == 0 {
			t.Fatalf("%s was touched, and nothing is told", name)
		}
	}
	n.waiting = nil
	return p
}

// pipeSender writes lines into a pipe.
type pipeSender struct{ net.Conn }

func (p pipeSender) write(text []byte) error { _, err := p.Write(append(text, '\n')); return err }
func (p pipeSender) close()                  { _ = p.Close() }
func (p pipeSender) joins() bool             { return true }
