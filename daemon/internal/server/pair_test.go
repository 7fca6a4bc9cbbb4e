package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakePeople are those of a configuration, by ID.
type fakePeople map[string]sdk.Person

func (f fakePeople) Person(id string) (sdk.Person, bool) {
	p, known := f[id]
	return p, known
}

func (f fakePeople) List(channel string) []rpc.ListedPerson {
	all := []rpc.ListedPerson{}
	for id, p := range f {
		if of, called, _ := strings.Cut(id, "/"); channel == "" || of == channel {
			all = append(all, rpc.ListedPerson{Person: p, Channel: of, Called: called})
		}
	}
	return all
}

func (f fakePeople) Add(_ context.Context, p rpc.PersonAdd) (rpc.PersonAdded, error) {
	id := sdk.PersonID(p.Channel, p.Person)
	f[id] = sdk.Person{ID: id, Name: p.Name}
	return rpc.PersonAdded{ID: id, Changed: true}, nil
}

func (f fakePeople) Learning(context.Context, rpc.Learning) (rpc.LearningSet, error) {
	return rpc.LearningSet{File: "/c/config.hcl", Changed: true}, nil
}

func (f fakePeople) Remove(_ context.Context, p rpc.PersonRef) (rpc.PersonRemoved, error) {
	id := sdk.PersonID(p.Channel, p.Person)
	delete(f, id)
	return rpc.PersonRemoved{ID: id}, nil
}

// pair begins to wait for a code of the channel, and tells of it.
func (h *chanHouse) pair(ctx context.Context, t *testing.T) (code string, end func() (rpc.Paired, error)) {
	t.Helper()
	h.person.Store(true)
	defer h.person.Store(false)
	c := &client.Client{Socket: h.path, Token: h.house.token(t, rpc.RoleAdmin)}
	codes, ended := make(chan rpc.PairCode, 1), make(chan struct{})
	var by rpc.Paired
	var err error
	go func() {
		defer close(ended)
		by, err = c.Pair(ctx, rpc.PairParams{Channel: "chat"}, func(p rpc.PairCode) { codes <- p })
	}()
	end = func() (rpc.Paired, error) { <-ended; return by, err }
	select {
	case p := <-codes:
		return p.Code, end
	case <-ended:
		t.Fatalf("no code was made: %v", err)
	}
	return "", end
}

// TestPair: who sends the code is told, once, and listed by nobody but a person with the role admin.
func TestPair(t *testing.T) {
	h := openChannel(t, "/p/one")
	code, end := h.pair(t.Context(), t)
	if sdk.PairingCode(code) != code {
		t.Errorf("the code is %q", code)
	}
	c := h.channel(t)
	if p, err := c.People(t.Context(), rpc.PeopleParams{Channel: "other"}); err != nil || !p.Pairing || len(p.People) != 2 || p.People[0].Channel != "chat" {
		t.Errorf("the channel is told %+v, %v", p, err)
	}
	eve := &sdk.From{Person: "eve"}
	for name, try := range map[string]struct {
		claim rpc.Claim
		want  sdk.Outcome
	}{
		"another code":       {rpc.Claim{Code: "AAAA-AAAA", From: eve}, sdk.Permission},
		"no code":            {rpc.Claim{Code: "hello", From: eve}, sdk.Permission},
		"in a group":         {rpc.Claim{Code: code, From: &sdk.From{Person: "eve", Conversation: "g"}}, sdk.Validation},
		"who is listed":      {rpc.Claim{Code: code, From: ada}, sdk.Conflict},
		"nobody":             {rpc.Claim{Code: code, From: &sdk.From{}}, sdk.Validation},
		"a name nobody sees": {rpc.Claim{Code: code, From: eve, Name: "e\u202eve"}, sdk.Validation},
	} {
		if err := c.Claim(t.Context(), try.claim); sdk.OutcomeOf(err) != try.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Claim(t.Context(), rpc.Claim{Code: " " + strings.ToLower(code), From: eve, Name: "Eve"}); err != nil {
		t.Errorf("the code was not taken: %v", err)
	}
	if by, err := end(); err != nil || by != (rpc.Paired{Channel: "chat", Person: "eve", Name: "Eve"}) {
		t.Errorf("it was sent by %+v, %v", by, err)
	}
	if err := c.Claim(t.Context(), rpc.Claim{Code: code, From: &sdk.From{Person: "bob"}}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("once more: %v", err)
	}
	if _, known := h.cfg.People.Person("chat/eve"); known {
		t.Error("they were listed before anybody said yes")
	}
	if err := c.Call(t.Context(), rpc.MethodAddPerson, rpc.PersonAdd{Channel: "chat", Person: "eve"}, nil); !refused(err) {
		t.Errorf("the channel listed somebody: %v", err)
	}
}

// TestPairEnds: by five wrong codes, by its time, and with the connection that waits.
func TestPairEnds(t *testing.T) {
	t.Run("wrong codes", func(t *testing.T) {
		h := openChannel(t, "/p/one")
		code, end := h.pair(t.Context(), t)
		c := h.channel(t)
		for range pairingTries {
			if err := c.Claim(t.Context(), rpc.Claim{Code: "AAAA-AAAA", From: &sdk.From{Person: "eve"}}); sdk.OutcomeOf(err) != sdk.Permission {
				t.Error(err)
			}
		}
		if err := c.Claim(t.Context(), rpc.Claim{Code: code, From: &sdk.From{Person: "bob"}}); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("the code is good after all: %v", err)
		}
		if _, err := end(); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "wrong codes") {
			t.Errorf("it ended by %v", err)
		}
		if !h.audit.has(EventRefusedChannel, "a wrong code was sent to the channel chat") {
			t.Error("the audit was not told")
		}
	})
	t.Run("time", func(t *testing.T) {
		h := openChannel(t, "/p/one")
		h.limits.Pairing = time.Millisecond
		_, end := h.pair(t.Context(), t)
		if _, err := end(); sdk.OutcomeOf(err) != sdk.Timeout {
			t.Errorf("it ended by %v", err)
		}
	})
	t.Run("the daemon", func(t *testing.T) {
		h := openChannel(t, "/p/one")
		_, end := h.pair(t.Context(), t)
		h.Close(t.Context()) // which waits for what is at work
		if _, err := end(); err == nil {
			t.Error("somebody sent it")
		}
	})
	t.Run("the connection", func(t *testing.T) {
		h := openChannel(t, "/p/one")
		ctx, cancel := context.WithCancel(t.Context())
		code, end := h.pair(ctx, t)
		cancel()
		if _, err := end(); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended by %v", err)
		}
		for h.pairs.waits("chat") {
			time.Sleep(time.Millisecond)
		}
		if err := h.channel(t).Claim(t.Context(), rpc.Claim{Code: code, From: &sdk.From{Person: "bob"}}); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("nobody waits: %v", err)
		}
	})
}

// TestPairWantsAChannel: one that is served, for one person at a time.
func TestPairWantsAChannel(t *testing.T) {
	h := openChannel(t, "/p/one")
	h.pair(t.Context(), t)
	h.person.Store(true)
	c := &client.Client{Socket: h.path, Token: h.house.token(t, rpc.RoleAdmin)}
	for channel, want := range map[string]sdk.Outcome{"other": sdk.NotFound, "chat": sdk.Conflict} {
		if _, err := c.Pair(t.Context(), rpc.PairParams{Channel: channel}, nil); sdk.OutcomeOf(err) != want {
			t.Errorf("%s: %v", channel, err)
		}
	}
}
