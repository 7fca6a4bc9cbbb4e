package engine

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestProposalOfTheOldForm: one that waited over the upgrade is shown with the
// hash that it was made with, and runs when somebody agrees to that hash.
func TestProposalOfTheOldForm(t *testing.T) {
	for _, answer := range []sdk.Answer{sdk.Accept, sdk.Edit} {
		h := newAsking(t, calls(call{"write", `{"path":"b"}`}))
		a := h.submit(Submission{Run: "r"})
		p := h.proposed()
		hash, err := sdk.HashOf(map[string]any{
			"run": a.Run.Key, "path": p.Path, "tool": "write", "plugin": "fake", "digest": "d1", "arguments": p.Arguments, "project": p.Project, "dir": p.Dir,
			"mode": "act", "leave": "interactive", "mounts": p.Mounts, "network": false, "base": "", "diff": "",
		})
		if err != nil || hash == p.Hash {
			t.Fatal(hash, err)
		}
		entry, err := h.store.Entry(t.Context(), a.Run.ID, p.Path)
		if err != nil {
			t.Fatal(err)
		}
		var attributes struct {
			Proposal map[string]any `json:"proposal"`
		}
		if err := json.Unmarshal(entry.Attributes, &attributes); err != nil {
			t.Fatal(err)
		}
		attributes.Proposal["mode"], attributes.Proposal["leave"], attributes.Proposal["hash"] = "act", "interactive", hash
		delete(attributes.Proposal, "read_only")
		h.cut()
		if _, err := h.store.Commit(t.Context(), sdk.Change{Run: a.Run.ID, Writes: []sdk.Write{{Path: p.Path, Attributes: encode(attributes), Writer: sdk.WriterSystem}}}); err != nil {
			t.Fatal(err)
		}
		h.start()
		if p = h.proposed(); p.Hash != hash || p.Mode != sdk.ModeInteractive || p.ReadOnly {
			t.Errorf("after the upgrade it is %+v", p)
		}
		want := `write{"path":"b"}`
		if answer == sdk.Edit {
			done, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: answer, Arguments: json.RawMessage(`{"path":"c"}`)})
			if err != nil || done.Proposal.Hash == hash || done.Proposal.Mode != sdk.ModeInteractive {
				t.Fatalf("%+v, %v", done, err)
			}
			p, want = h.proposed(), `write{"path":"c"}`
		}
		h.answer(p, sdk.Accept)
		if l := h.await(a); l.Status != 200 || h.ran() != want {
			t.Errorf("%s: ended %d %s, ran %s", answer, l.Status, l.Reason, h.ran())
		}
	}
}

// TestModesOfTheOldForm: full mode for good, the options of a loop and a
// remembered rule, as an earlier version stored them.
func TestModesOfTheOldForm(t *testing.T) {
	h := newAsking(t)
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	full := sdk.Write{Path: "leave://run", Attributes: json.RawMessage(`{"leave":"full"}`), Writer: sdk.WriterSystem}
	if _, err := h.store.Commit(t.Context(), sdk.Change{Run: a.Run.ID, Writes: []sdk.Write{full}}); err != nil {
		t.Fatal(err)
	}
	b := h.submit(Submission{Run: "r"})
	if h.await(b); b.Mode != sdk.ModeFull {
		t.Errorf("a run in full mode for good takes a prompt in %s", b.Mode)
	}
	if _, _, err := h.store.Enqueue(t.Context(), sdk.Loop{Run: a.Run.ID, Prompt: "p", Options: json.RawMessage(`{"leave":"full"}`)}); err != nil {
		t.Fatal(err)
	}
	loops, err := h.store.Loops(t.Context(), a.Run.ID)
	if err != nil || len(loops) != 3 || optionsOf(loops[2]).Mode != sdk.ModeFull {
		t.Errorf("the loops are %+v, %v", loops, err)
	}
}
