package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// reader reads what turns of the house were sent.
func (h *house) reader() *sent.Reader {
	return &sent.Reader{
		Store:    h.store,
		Views:    map[string]func() sent.View{sdk.ViewTranscript: func() sent.View { return view.NewTranscript(time.Now) }},
		Messages: h.hooks.AssemblyUser.Apply,
	}
}

// A rendering of a turn is what its model was sent, to the byte, whatever came later: with calls, with messages left out by an
// estimate that a server calibrated, after a restart, and in a second prompt.
//
// spec: key_entries
func TestATurnIsRenderedAsItWasSent(t *testing.T) {
	long := func(n int) call { return call{"read", fmt.Sprintf(`{"path":"f%d"}`, n)} }
	var steps []step
	for n := range 14 {
		steps = append(steps, counted(1500*(n+1), calls(long(n))))
	}
	h := prepareHouse(t, append(steps, say("done"), calls(numbered("read", 99)), say("once more"))...)
	h.models.context = 8_000
	h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: strings.Repeat(string(c.Arguments)+"\n", 400)}, nil
	})
	h.start()
	a := h.submit(Submission{Agent: "free"})
	h.await(a)
	h.cut()
	h.start()
	h.run(Submission{Agent: "free", Run: a.Run.Alias, Prompt: "again"})
	run, err := h.store.Run(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	asked, cut := h.models.asked(), 0
	if len(asked) != run.Turns || run.Turns < 16 {
		t.Fatalf("%d requests in %d turns", len(asked), run.Turns)
	}
	for i, req := range asked {
		p, err := h.reader().Packet(t.Context(), run, i+1)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Same || sent.Hash("", req.Messages) != p.Hash || sent.Hash("", p.Messages) != p.Rendered || len(p.Gone) != 0 {
			t.Fatalf("turn %d: same %v, gone %v\nsent\n%s\nrendered\n%s", i+1, p.Same, p.Gone, sent.Text(req.Messages), sent.Text(p.Messages))
		}
		if len(p.Tools) != len(req.Tools) || p.Tokens == 0 || p.ContextTokens == 0 {
			t.Errorf("turn %d: %d tools of %d, %d tokens, %d counted", i+1, len(p.Tools), len(req.Tools), p.Tokens, p.ContextTokens)
		}
		if i > 0 && len(req.Messages) < len(asked[i-1].Messages) {
			cut++
		}
	}
	if cut == 0 {
		t.Error("nothing was ever left out of a prompt")
	}
	if texts := h.entries(run.ID, "system://"); len(texts) != 1 {
		t.Errorf("%d system texts are kept, of one", len(texts))
	}
}

// A turn that summarizes, whose model a server told that it was too much, and those behind it are rendered as they were sent.
func TestASummaryIsRenderedAsItWasSent(t *testing.T) {
	h := prepareHouse(t, calls(call{"read", `{"path":"a"}`}, call{"read", `{"path":"b"}`}), say("read"), say("two"), say("three"),
		failing(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}), say("in short"), calls(call{"read", `{"path":"c"}`}), say("done"))
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: strings.Repeat("text\n", 400)}, nil
	})
	h.start()
	a := h.submit(Submission{Run: "r", Prompt: "one"})
	h.await(a)
	for _, prompt := range []string{"two", "three"} {
		h.run(Submission{Run: "r", Prompt: prompt})
	}
	if l := h.compact(a.Run.ID); l.Status != sdk.StatusOK {
		t.Fatalf("%+v", l)
	}
	h.run(Submission{Run: "r", Prompt: "go on"})
	run, err := h.store.Run(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	asked := h.models.asked()
	asked = slices.Delete(asked, 4, 5) // of turn 5, which was too long
	if run.Turns != 7 || len(asked) != run.Turns {
		t.Fatalf("%d requests in %d turns", len(asked), run.Turns)
	}
	for i, req := range asked {
		p, err := h.reader().Packet(t.Context(), run, i+1)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Same || sent.Hash("", req.Messages) != p.Hash || len(p.Gone) != 0 {
			t.Errorf("turn %d: same %v, gone %v\nsent\n%s\nrendered\n%s", i+1, p.Same, p.Gone, sent.Text(req.Messages), sent.Text(p.Messages))
		}
	}
}

// counted is a step whose usage says so many tokens of the prompt.
func counted(prompt int, of step) step {
	return func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		return of(ctx, req, func(d sdk.Delta) error {
			if d.Usage != nil {
				d.Usage = &sdk.Usage{Prompt: prompt, Completion: 5, Total: prompt + 5}
			}
			return send(d)
		}, retry)
	}
}

// The note of a request stands before the answer, in its commit, and after a failure too; one that a server found too long has
// what was sent in the end.
func TestTheNoteOfARequest(t *testing.T) {
	h := newHouse(t, say("hello"), failing(&sdk.ProviderError{Class: sdk.ClassGateway, Message: "no"}))
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	h.run(Submission{Run: "r", Prompt: "again"})
	rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: a.Run.ID})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, row := range rows {
		switch {
		case row.Kind == sdk.KindNoteSent, row.Kind == sdk.KindTurnOpened, row.Kind == sdk.KindLoopEnded:
			kinds = append(kinds, fmt.Sprintf("%s %d", row.Kind, row.Turn))
		case row.Path == sdk.ReplyPath(1):
			kinds = append(kinds, "answer 1")
		}
	}
	want := []string{"turn.opened 1", "note.sent 1", "answer 1", "loop.ended 0", "turn.opened 2", "note.sent 2", "loop.ended 0"}
	if !slices.Equal(kinds, want) {
		t.Errorf("the journal has %v", kinds)
	}
	run, _ := h.store.Run(t.Context(), a.Run.ID)
	if p, err := h.reader().Packet(t.Context(), run, 2); err != nil || !p.Same || p.ContextTokens != p.Tokens {
		t.Errorf("a turn without an answer: %+v, %v", p, err)
	}
	for _, turn := range []int{0, 3} {
		if _, err := h.reader().Packet(t.Context(), run, turn); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("turn %d: %v", turn, err)
		}
	}
}
