package engine

import (
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestKeeper: each channel has one run for entries of its own, whoever asks first and in whichever daemon. It takes no
// prompts, and does not go with the runs that rest.
func TestKeeper(t *testing.T) {
	h := newAsking(t)
	first, err := h.engine.Keeper(t.Context(), sdk.Origin{Owner: "chat", Channel: "chat"})
	if err != nil || !first.Keeper() || !first.Hidden || !first.Private {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := h.engine.Keeper(t.Context(), sdk.Origin{Owner: "chat", Channel: "chat"}); err != nil || again.ID != first.ID {
		t.Errorf("in the same daemon it is %d, not %d, %v", again.ID, first.ID, err)
	}
	h.cut()
	h.start()
	again, err := h.engine.Keeper(t.Context(), sdk.Origin{Owner: "chat", Channel: "chat"})
	if err != nil || again.ID != first.ID {
		t.Errorf("again it is %d, not %d, %v", again.ID, first.ID, err)
	}
	other, err := h.engine.Keeper(t.Context(), sdk.Origin{Owner: "mail", Channel: "mail"})
	if err != nil || other.ID == first.ID {
		t.Errorf("of another channel it is %d, %v", other.ID, err)
	}
	ada, mine := sdk.Origin{Owner: "chat/ada", Channel: "chat"}, sdk.Origin{Owner: sdk.LocalOwner}
	for _, o := range []sdk.Origin{ada, mine} {
		if run, err := h.engine.Keeper(t.Context(), o); err != nil || run.ID == first.ID || run.Origin != o || !run.Hidden || run.Keeper() {
			t.Errorf("of %+v it is %+v, %v", o, run, err)
		}
	}
	project := h.config.DataDir + "/channels/chat"
	for _, o := range []sdk.Origin{{}, {Owner: "chat/ada", Channel: "chat"}, first.Origin} {
		if _, err := h.engine.Submit(t.Context(), Submission{Project: project, Run: first.Alias, Prompt: "p", Origin: o}); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("a prompt of %+v: %v", o, err)
		}
	}
	if _, err := h.engine.Fork(t.Context(), Fork{Run: first.ID, Alias: "fork"}); err == nil {
		t.Error("it was forked")
	}
	h.config.Clock = func() time.Time { return time.Now().Add(time.Hour) }
	h.cut()
	h.start()
	if err := h.engine.Expire(t.Context(), Keep{Run: time.Minute}); err != nil {
		t.Error(err)
	}
	if _, err := h.store.Run(t.Context(), first.ID); err != nil {
		t.Errorf("it has gone: %v", err)
	}
	if err := h.engine.Delete(t.Context(), other.ID); err != nil {
		t.Error(err)
	}
	if anew, err := h.engine.Keeper(t.Context(), sdk.Origin{Owner: "mail", Channel: "mail"}); err != nil || anew.ID == other.ID {
		t.Errorf("after a person deleted it, it is %d, %v", anew.ID, err)
	}
}
