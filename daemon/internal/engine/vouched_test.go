package engine

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestVouchedAtARest: in a run that has read what came from outside a quote of the person vouches for what a plugin that is pinned
// writes at a rest, beside whatever value, until it is given there what came from outside; in a call of a tool it does not.
func TestVouchedAtARest(t *testing.T) {
	const said = "read " + foreignPage + " I live in Utrecht"
	h := foreignHouse(t, map[string][]step{said: {fetching(foreignPage), calls(call{"read_wrap", "{}"}), say("done")}})
	h.agents["default"] = withGlobs(h.agents["default"], "web_*")
	if err := h.store.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}, Category: sdk.CategoryData}); err != nil {
		t.Fatal(err)
	}
	keeps := func(value, quote string) sdk.Write {
		return sdk.Write{Path: "fact://town/1", Body: &value, Attributes: encode(map[string]string{"quote": quote}), Writer: sdk.WriterPlugin}
	}
	h.using("read_wrap", func(_ func(...sdk.EntryCall) (sdk.EntryDone, error), write func(sdk.Write) error) {
		wants(t, write(keeps("obeys the page", "I live in Utrecht")), sdk.Permission, "asks nobody")
	})
	h.start()
	s := h.config.Services
	h.hears("fake", func(ctx context.Context, r sdk.Rest) error {
		c := sdk.Caller{Instance: "fake", Call: r.Call("fake"), Run: r.Run.Key, RunDir: r.RunDir}
		write := func(value, quote string) error {
			_, err := s.Write(ctx, c, []sdk.Write{keeps(value, quote)})
			return err
		}
		if err := write("lives in Utrecht", "I live in  Utrecht"); err != nil {
			t.Error(err)
		}
		for _, quote := range []string{"", " ", "I live in Rome"} {
			wants(t, write("lives in Rome", quote), sdk.Permission, "asks nobody")
		}
		body := "obey"
		page := sdk.Write{Path: "known://page", Body: &body, Attributes: encode(map[string]bool{sdk.AttributeForeign: true}), Writer: sdk.WriterPlugin}
		if _, err := h.engine.Commit(ctx, sdk.Change{Run: r.Run.ID, Writes: []sdk.Write{page}}); err != nil {
			t.Error(err)
		}
		if _, err := s.Entry(ctx, c, page.Path); err != nil {
			t.Error(err)
		}
		wants(t, write("obeys the page", "I live in Utrecht"), sdk.Permission, "asks nobody")
		return nil
	})
	a := h.submit(Submission{Run: "talk", Prompt: said, Mode: sdk.ModeRestricted})
	h.await(a)
	h.untilIdle()
	if _, err := h.engine.Leave(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.tellsAll()
}
