package engine

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// pressed is an answer of ada by the channel chat, which lets people accept all tools.
func pressed(p sdk.Proposal, answer sdk.Answer) rpc.ChannelAnswer {
	return rpc.ChannelAnswer{
		ID: p.ID, Hash: p.Hash, Answer: answer, Channel: "chat", Person: sdk.Person{ID: "chat/ada", Name: "Ada", Answers: true},
		From: &sdk.From{Person: "ada", Message: "17"}, Tools: []string{"*"},
	}
}

// TestAnsweredByAChannel: what was accepted runs once, the journal has who did, and below which message.
func TestAnsweredByAChannel(t *testing.T) {
	h := newAsking(t, calls(call{"write", `{"path":"a"}`}))
	a := h.submit(Submission{Origin: chat})
	p := h.proposed()
	m, err := h.engine.Message(t.Context(), rpc.TicketParams{ID: p.ID, Hash: p.Hash, Room: 4096, Tools: []string{"*"}})
	if err != nil || !m.Accept || m.Asks || m.Ticket != "" || m.ID != p.ID || !strings.Contains(m.Text, "Argument path, 1 bytes:\n| a") || !m.Expires.Equal(p.Expires) {
		t.Errorf("the message is %+v, %v", m, err)
	}
	if _, err := h.engine.ResolveByChannel(t.Context(), pressed(p, sdk.Accept)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.engine.ResolveByChannel(t.Context(), pressed(p, sdk.Accept)); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "by Ada (chat/ada)") {
		t.Errorf("twice: %v", err)
	}
	h.await(a)
	if h.ran() != `write{"path":"a"}` {
		t.Errorf("ran %q", h.ran())
	}
	kept, err := sdk.ActionOf(h.actions(a.Run.ID)[0])
	if got := kept.Answer; err != nil || got == nil || got.By != "Ada (chat/ada)" || got.Channel != "chat" || got.From == nil || got.From.Person != "ada" || got.From.Message != "17" {
		t.Errorf("the answer is kept as %+v, %v", got, err)
	}
	h.check(a.Run.ID)
}

// TestWithheldFromAChannel: what is not accepted by one waits on, for whoever is at the machine. It can be rejected.
func TestWithheldFromAChannel(t *testing.T) {
	h := prepareAsking(t, calls(call{"send", `{"path":"a"}`}), say("done"))
	h.tools.add("send", sdk.Annotations{OpenWorld: true}, true)
	h.start()
	a := h.submit(Submission{Origin: chat})
	p := h.proposed()
	m, err := h.engine.Message(t.Context(), rpc.TicketParams{ID: p.ID, Hash: p.Hash, Room: 4096})
	if err != nil || m.Accept || !strings.Contains(m.Why, "send works outside of the run's workspace") || !strings.Contains(m.Text, m.Why) {
		t.Errorf("the message is %+v, %v", m, err)
	}
	for name, c := range map[string]struct {
		change func(*rpc.ChannelAnswer)
		want   sdk.Outcome
	}{
		"a tool that is not named": {func(r *rpc.ChannelAnswer) { r.Tools = nil }, sdk.Permission},
		"an edit":                  {func(r *rpc.ChannelAnswer) { r.Answer = sdk.Edit }, sdk.Validation},
		"a text to a call":         {func(r *rpc.ChannelAnswer) { r.Text = "yes" }, sdk.Validation},
		"a text to a no":           {func(r *rpc.ChannelAnswer) { r.Answer, r.Text = sdk.Reject, "no" }, sdk.Validation},
		"another hash":             {func(r *rpc.ChannelAnswer) { r.Hash = "0000" }, sdk.Conflict},
	} {
		r := pressed(p, sdk.Accept)
		c.change(&r)
		if _, err := h.engine.ResolveByChannel(t.Context(), r); sdk.OutcomeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	edited := h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: []byte(`{"path":"b"}`)}).Proposal
	if _, err := h.engine.ResolveByChannel(t.Context(), pressed(p, sdk.Accept)); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("after an edit: %v", err)
	}
	no := pressed(edited, sdk.Reject)
	if no.Tools = nil; h.ran() != "" {
		t.Errorf("ran %q", h.ran())
	}
	if _, err := h.engine.ResolveByChannel(t.Context(), no); err != nil {
		t.Errorf("rejected: %v", err)
	}
	if l := h.await(a); l.Stop != sdk.StopRejected || h.ran() != "" {
		t.Errorf("ended %s, ran %q", l.Stop, h.ran())
	}
}

// TestASecretIsNotAcceptedByAChannel: what is sent there has it no more, so that nobody sees what would run.
func TestASecretIsNotAcceptedByAChannel(t *testing.T) {
	h := prepareAsking(t, calls(call{"write", `{"path":"hunter2"}`}))
	known := false
	h.config.RedactText = func(text string) string {
		if !known {
			return text
		}
		return strings.ReplaceAll(text, "hunter2", "[secret]")
	}
	h.start()
	h.submit(Submission{Origin: chat})
	p := h.proposed()
	for _, known = range []bool{false, true} {
		m, err := h.engine.Message(t.Context(), rpc.TicketParams{ID: p.ID, Hash: p.Hash, Room: 4096})
		if err != nil || m.Accept == known || known && !strings.Contains(m.Why, "a secret is in it") {
			t.Errorf("known %v: %+v, %v", known, m, err)
		}
	}
}

// TestNothingOfTheDeskByAChannel: a run that was begun at the machine is not answered for by a channel, whatever it says.
func TestNothingOfTheDeskByAChannel(t *testing.T) {
	h := newAsking(t, calls(call{"write", `{"path":"a"}`}))
	h.submit(Submission{})
	p := h.proposed()
	if _, err := h.engine.ResolveByChannel(t.Context(), pressed(p, sdk.Accept)); sdk.OutcomeOf(err) != sdk.Permission || h.ran() != "" {
		t.Errorf("got %v, ran %q", err, h.ran())
	}
}

// TestAChannelAnswersQuestions by a text, and keeps to what is asked for.
func TestAChannelAnswersQuestions(t *testing.T) {
	h := asksPeople(t, calls(call{sdk.ToolAskUser, aQuestion}), say("done"))
	h.start()
	a := h.submit(Submission{Origin: chat})
	p := h.proposed()
	m, err := h.engine.Message(t.Context(), rpc.TicketParams{ID: p.ID, Hash: p.Hash, Room: 4096})
	if err != nil || !m.Accept || !m.Asks || !strings.Contains(m.Text, "| Which port?") || !strings.Contains(m.Text, "9090") {
		t.Errorf("the message is %+v, %v", m, err)
	}
	for _, text := range []string{"", "7070"} {
		r := pressed(p, sdk.Accept)
		r.Text = text
		if _, err := h.engine.ResolveByChannel(t.Context(), r); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%q: %v", text, err)
		}
	}
	r := pressed(p, sdk.Accept)
	r.Text, r.Tools = "9090", nil
	if _, err := h.engine.ResolveByChannel(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if h.await(a); h.actions(a.Run.ID)[0].Body != "9090" {
		t.Errorf("the model reads %q", h.actions(a.Run.ID)[0].Body)
	}
	h.check(a.Run.ID)
}
