package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const shPath = "log://turn_1/sh/call"

// The bounds of what a client sends of its commands (package command).
const (
	mostChunk  = 1 << 20
	mostErrors = 1 << 20
	mostAtOnce = 16
)

// handsOver is a house in which a command of sh waits to be accepted.
func handsOver(t *testing.T, steps ...step) (*askingHouse, Accepted, sdk.Proposal) {
	t.Helper()
	h := prepareAsking(t, append([]step{calls(call{"sh", `{"command":"make all"}`})}, steps...)...)
	h.runsCommands()
	h.start()
	a := h.submit(Submission{})
	return h, a, h.proposed()
}

func (h *askingHouse) here(session string, p sdk.Proposal) {
	h.t.Helper()
	done, err := h.engine.ResolveRun(h.t.Context(), session, rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}, "")
	if err != nil || done.Proposal.State != sdk.StateResolved {
		h.t.Fatalf("%+v, %v", done, err)
	}
}

func (h *askingHouse) piece(run int64, channel int, text string) {
	h.t.Helper()
	if err := h.engine.clients.Stream(h.t.Context(), "s1", run, rpc.Stream{Path: shPath, Channel: channel, Chunk: text}); err != nil {
		h.t.Fatal(err)
	}
}

// TestAClientRunsACommand (spec streaming_entries): the loop goes on while it does, and its model reads how it ended.
// spec: streaming_entries
func TestAClientRunsACommand(t *testing.T) {
	for _, exit := range []int{0, 2} {
		t.Run(fmt.Sprint("exit ", exit), func(t *testing.T) {
			h, a, p := handsOver(t, say("it runs"))
			if p.Tool != "sh" || p.Command != "make all" || p.Plugin != "fake" {
				t.Fatalf("proposed %s", encode(p))
			}
			h.here("s1", p)
			if l := h.await(a); l.Stop != sdk.StopAnswer {
				t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
			}
			if got := h.outputText(a.Run.ID); got != "sh://turn_1/call_1 102 summarized \"\"\nsh://turn_1/call_2 102 summarized \"\"" {
				t.Error(got)
			}
			h.piece(a.Run.ID, 1, "one ")
			h.piece(a.Run.ID, 2, "bad")
			h.piece(a.Run.ID, 1, "two")
			if got := h.outputText(a.Run.ID); got != "sh://turn_1/call_1 102 summarized \"one two\"\nsh://turn_1/call_2 102 summarized \"bad\"" {
				t.Error(got)
			}
			outputs, err := h.engine.clients.StreamCompleted(t.Context(), "s1", a.Run.ID, rpc.StreamCompleted{Path: shPath, ExitCode: &exit, Duration: json.RawMessage(`"2 s"`)})
			status := map[int]int{0: 200, 2: 500}[exit]
			if want := fmt.Sprintf("[{sh://turn_1/call_1 7 %d} {sh://turn_1/call_2 3 %[1]d}]", status); err != nil || fmt.Sprint(outputs) != want {
				t.Errorf("%v, %v", outputs, err)
			}
			if got := h.outputText(a.Run.ID); got != fmt.Sprintf("sh://turn_1/call_1 %d summarized \"one two\"\nsh://turn_1/call_2 %[1]d summarized \"bad\"", status) {
				t.Error(got)
			}
			action := h.actions(a.Run.ID)[0]
			at, err := sdk.ActionOf(action)
			if err != nil || action.Status() != 200 || at.Answer == nil || at.Answer.Runs != sdk.RunsClient || at.DurationMS == nil || *at.ExitCode() != exit {
				t.Errorf("%d %s, %v", action.Status(), action.Attributes, err)
			}
			want := fmt.Sprintf("ran 'make all', exit=%d, duration=2 s, Output: sh://turn_1/call_1 (7 bytes), sh://turn_1/call_2 (3 bytes)\none twobad", exit)
			if action.Body != want {
				t.Errorf("%q", action.Body)
			}
			if h.ran() != "" {
				t.Errorf("the daemon ran %q", h.ran())
			}
			h.run(Submission{Run: a.Run.Alias})
			if read := fmt.Sprint(h.models.asked()[2].Messages); !strings.Contains(read, want) {
				t.Errorf("the model reads %s", read)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestWhatIsNotTakenOfAStream: what nobody knows, what comes late, what is another's, and what is too much.
// spec: streaming_entries
func TestWhatIsNotTakenOfAStream(t *testing.T) {
	h, a, p := handsOver(t, calls(call{"read", "{}"}))
	ctx, run := t.Context(), a.Run.ID
	stream := func(session, path string, channel int, chunk string) sdk.Outcome {
		return sdk.OutcomeOf(h.engine.clients.Stream(ctx, session, run, rpc.Stream{Path: path, Channel: channel, Chunk: chunk}))
	}
	if got := stream("s1", shPath, 1, "early"); got != sdk.Conflict {
		t.Errorf("before it was accepted: %s", got)
	}
	if _, err := h.engine.ResolveRun(ctx, "", rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}, ""); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("nobody who stays: %v", err)
	}
	h.here("s1", p)
	h.await(a)
	for name, c := range map[string]struct {
		session, path string
		channel       int
		chunk         string
		want          sdk.Outcome
	}{
		"another client":  {"s2", shPath, 1, "x", sdk.Permission},
		"no such path":    {"s1", "log://turn_1/sh/other", 1, "x", sdk.NotFound},
		"a longer path":   {"s1", shPath + "_1", 1, "x", sdk.NotFound},
		"its output":      {"s1", "sh://turn_1/call_1", 1, "x", sdk.NotFound},
		"a pattern":       {"s1", "log://turn_1/sh/*", 1, "x", sdk.NotFound},
		"another tool's":  {"s1", "log://turn_2/read/call", 1, "x", sdk.NotFound},
		"no channel":      {"s1", shPath, 0, "x", sdk.NotFound},
		"a third channel": {"s1", shPath, 3, "x", sdk.NotFound},
		"a long piece":    {"s1", shPath, 1, strings.Repeat("x", mostChunk+1), sdk.Overflow},
	} {
		if got := stream(c.session, c.path, c.channel, c.chunk); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	h.piece(run, 2, strings.Repeat("e", mostErrors))
	if got := stream("s1", shPath, 2, "e"); got != sdk.Overflow {
		t.Errorf("more than is kept: %q", got)
	}
	if _, err := h.engine.clients.StreamCompleted(ctx, "s2", run, rpc.StreamCompleted{Path: shPath}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("completed by another: %v", err)
	}
	if _, err := h.engine.clients.StreamAborted(ctx, "s1", run, rpc.StreamAborted{Path: shPath, Duration: json.RawMessage(`{}`)}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a duration that is none: %v", err)
	}
	if _, err := h.engine.clients.StreamAborted(ctx, "s1", run, rpc.StreamAborted{Path: shPath, Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	if got := stream("s1", shPath, 1, "late"); got != sdk.Conflict {
		t.Errorf("late: %q", got)
	}
	if _, err := h.engine.clients.StreamCompleted(ctx, "s1", run, rpc.StreamCompleted{Path: shPath}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("completed late: %v", err)
	}
	if _, err := h.engine.clients.StreamCancel(ctx, run, rpc.StreamCancel{Path: shPath}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("cancelled late: %v", err)
	}
	if e := h.entries(run, "sh://"); e[0].Status() != 499 || e[0].Body != "" || e[1].Status() != 499 || len(e[1].Body) != mostErrors {
		t.Errorf("%d %q, %d %d", e[0].Status(), e[0].Body, e[1].Status(), len(e[1].Body))
	}
	if got := h.actions(run)[0].Body; !strings.HasPrefix(got, "ran 'make all', aborted: enough, Output: ") {
		t.Errorf("%.200q", got)
	}
	h.check(run)
}

// TestAStreamThatIsLeft ends at 499: by its client's end, the daemon's, whoever cancels it, or what ends the run's work.
// spec: streaming_entries
func TestAStreamThatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(h *askingHouse, run int64)
		says  string
		told  bool
	}{
		"the client is gone": {func(h *askingHouse, _ int64) {
			h.engine.clients.LeaveStreams("s2")
			h.engine.clients.LeaveStreams("s1")
		}, "the client that ran it is gone", false},
		"the daemon ends": {func(h *askingHouse, _ int64) { h.cut(); h.engine.clients.LeaveStreams("s1"); h.start() }, "the daemon ended", false},
		"cancelled": {func(h *askingHouse, run int64) {
			outputs, err := h.engine.clients.StreamCancel(h.t.Context(), run, rpc.StreamCancel{Path: shPath, Reason: "too long"})
			if err != nil || len(outputs) != 2 || outputs[0].Status != 499 {
				h.t.Errorf("%v, %v", outputs, err)
			}
		}, "cancelled by a person: too long", true},
		"aborted": {func(h *askingHouse, run int64) {
			if err := h.engine.Abort(h.t.Context(), run); err != nil {
				h.t.Error(err)
			}
		}, "aborted by a person", true},
	} {
		t.Run(name, func(t *testing.T) {
			h, a, p := handsOver(t)
			var told []string
			h.engine.clients.StreamsCancelled(func(session string, run int64, p rpc.StreamCancelled) {
				told = append(told, fmt.Sprintf("%s %d %s %s", session, run, p.Path, p.Reason))
			})
			h.here("s1", p)
			h.await(a)
			h.piece(a.Run.ID, 1, "half")
			c.leave(h, a.Run.ID)
			h.until("it ends", func() bool { return !strings.Contains(h.outputText(a.Run.ID), " 102 ") })
			if got := h.outputText(a.Run.ID); got != "sh://turn_1/call_1 499 summarized \"half\"\nsh://turn_1/call_2 499 summarized \"\"" {
				t.Error(got)
			}
			action := h.actions(a.Run.ID)[0]
			if !strings.HasPrefix(action.Body, "ran 'make all', "+c.says) || !strings.HasSuffix(action.Body, "\nhalf") || action.Status() != 200 {
				t.Errorf("%d %q", action.Status(), action.Body)
			}
			if (len(told) == 1) != c.told || c.told && told[0] != fmt.Sprintf("s1 %d %s %s", a.Run.ID, shPath, c.says) {
				t.Errorf("told %q", told)
			}
			if err := h.engine.clients.Stream(t.Context(), "s1", a.Run.ID, rpc.Stream{Path: shPath, Channel: 1, Chunk: "x"}); sdk.OutcomeOf(err) != sdk.Conflict {
				t.Errorf("a late piece: %v", err)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAnAnswerByResolveRunsInTheSandbox: the same proposal, accepted otherwise; and one that a client rejects.
func TestAnAnswerByResolveRunsInTheSandbox(t *testing.T) {
	h, a, p := handsOver(t)
	h.answer(p, sdk.Accept)
	h.await(a)
	if h.ran() != `bash{"command":"make all"}` || h.outcomes(a.Run.ID) != "sh:resolved" {
		t.Errorf("ran %q, %s", h.ran(), h.outcomes(a.Run.ID))
	}
	if _, err := h.engine.clients.StreamCompleted(t.Context(), "s1", a.Run.ID, rpc.StreamCompleted{Path: shPath}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Error(err)
	}
	h.check(a.Run.ID)

	h, a, p = handsOver(t)
	if _, err := h.engine.ResolveRun(t.Context(), "s1", rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject}, ""); err != nil {
		t.Fatal(err)
	}
	h.await(a)
	if h.outcomes(a.Run.ID) != "sh:failed:permission" || h.outputText(a.Run.ID) != "" {
		t.Errorf("%s, %s", h.outcomes(a.Run.ID), h.outputText(a.Run.ID))
	}
	h.check(a.Run.ID)
}

// TestCancelOfACommandInTheSandbox ends that command alone.
func TestCancelOfACommandInTheSandbox(t *testing.T) {
	h := prepareHouse(t, calls(call{"sh", `{"command":"sleep"}`}), say("done"))
	h.runsCommands()
	begun := make(chan struct{})
	h.tools.on("bash", func(ctx context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		if err := out.Chunk(1, []byte("half")); err != nil {
			return sdk.ToolResult{}, err
		}
		close(begun)
		<-ctx.Done()
		return sdk.ToolResult{}, ctx.Err()
	})
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	<-begun
	if err := h.engine.clients.Stream(t.Context(), "s1", a.Run.ID, rpc.Stream{Path: shPath, Channel: 1, Chunk: "x"}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a piece of it: %v", err)
	}
	outputs, err := h.engine.clients.StreamCancel(t.Context(), a.Run.ID, rpc.StreamCancel{Path: shPath, Reason: "enough"})
	if err != nil || len(outputs) != 2 {
		t.Fatal(outputs, err)
	}
	if l := h.await(a); l.Status != 200 {
		t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
	}
	if got := h.outputText(a.Run.ID); got != "sh://turn_1/call_1 499 summarized \"half\"\nsh://turn_1/call_2 499 summarized \"\"" {
		t.Error(got)
	}
	if got := h.actions(a.Run.ID)[0]; got.Status() != 499 || !strings.Contains(got.Body, "aborted by a person (cancelled by a person: enough)") {
		t.Errorf("%d %q", got.Status(), got.Body)
	}
	h.check(a.Run.ID)
}

// TestTooManyCommandsOfOneClient: it is told how else it can accept them.
func TestTooManyCommandsOfOneClient(t *testing.T) {
	var all []call
	for n := range mostAtOnce + 1 {
		all = append(all, call{"sh", fmt.Sprintf(`{"command":"make %d"}`, n)})
	}
	h := prepareAsking(t, calls(all...))
	h.runsCommands()
	h.start()
	a := h.submit(Submission{})
	for range mostAtOnce {
		h.here("s1", h.proposed())
	}
	p := h.proposed()
	if _, err := h.engine.ResolveRun(t.Context(), "s1", rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}, ""); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("one more: %v", err)
	}
	h.answer(p, sdk.Accept)
	h.await(a)
	h.engine.clients.LeaveStreams("s1")
	if got := h.outputText(a.Run.ID); strings.Contains(got, " 102 ") || strings.Count(got, " 499 ") != 2*mostAtOnce {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestAnswerToAQuestionAsText: what run/resolve calls output.
func TestAnswerToAQuestionAsText(t *testing.T) {
	h := asksPeople(t, calls(call{sdk.ToolAskUser, aQuestion}))
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	if _, err := h.engine.ResolveRun(t.Context(), "s1", rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}, "22"); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("none of the options: %v", err)
	}
	if _, err := h.engine.ResolveRun(t.Context(), "s1", rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}, "9090"); err != nil {
		t.Fatal(err)
	}
	h.await(a)
	if got := h.actions(a.Run.ID)[0].Body; got != "9090" {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestAForkHasNothingThatStillGrows, and takes nothing away from the run whose client streams.
func TestAForkHasNothingThatStillGrows(t *testing.T) {
	h, a, p := handsOver(t)
	h.here("s1", p)
	h.await(a)
	h.piece(a.Run.ID, 1, "half")
	child, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID})
	if err != nil || h.outputText(child.ID) != "" {
		t.Fatalf("%q, %v", h.outputText(child.ID), err)
	}
	h.piece(a.Run.ID, 1, " way")
	if _, err := h.engine.clients.StreamCompleted(t.Context(), "s1", a.Run.ID, rpc.StreamCompleted{Path: shPath}); err != nil {
		t.Fatal(err)
	}
	if got := h.outputText(a.Run.ID); got != "sh://turn_1/call_1 200 summarized \"half way\"\nsh://turn_1/call_2 200 summarized \"\"" {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestTwoClientsAcceptACommand: it is that of the first, also where the second had looked at the proposal before.
func TestTwoClientsAcceptACommand(t *testing.T) {
	h, a, p := handsOver(t)
	late, looked := make(chan struct{}), make(chan struct{})
	var asked atomic.Bool
	h.hooks.ProposalAccepting.On(1, "slow", false, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
		if !asked.Swap(true) {
			close(looked)
			<-late
		}
		return r, nil
	})
	ended := make(chan error)
	go func() {
		_, err := h.engine.ResolveRun(t.Context(), "s2", rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}, "")
		ended <- err
	}()
	<-looked
	h.here("s1", p)
	close(late)
	if err := <-ended; sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("the second: %v", err)
	}
	h.piece(a.Run.ID, 1, "all of it")
	if _, err := h.engine.clients.StreamCompleted(t.Context(), "s1", a.Run.ID, rpc.StreamCompleted{Path: shPath}); err != nil {
		t.Error(err)
	}
	h.await(a)
	if got := h.outputText(a.Run.ID); got != "sh://turn_1/call_1 200 summarized \"all of it\"\nsh://turn_1/call_2 200 summarized \"\"" {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestPiecesWhileTheDiskIsFull: a piece waits until it can be kept. One that was refused took along what was held back
// of the piece before it, and came twice in part when it was sent again.
func TestPiecesWhileTheDiskIsFull(t *testing.T) {
	h := prepareAsking(t, calls(call{"sh", `{"command":"make all"}`}))
	h.config.Redacting = func() stream.Pieces { return &lagging{} }
	h.runsCommands()
	h.start()
	a := h.submit(Submission{})
	h.here("s1", h.proposed())
	h.await(a)
	h.piece(a.Run.ID, 1, "o")
	tried := 0
	h.store.setRefuse(func(_ int, c sdk.Change) error {
		if len(c.Writes) == 0 || c.Writes[0].Chunk == nil {
			return nil
		}
		if tried++; tried < 3 {
			return errFull
		}
		return nil
	})
	h.piece(a.Run.ID, 1, "n")
	h.piece(a.Run.ID, 1, "e")
	if _, err := h.engine.clients.StreamCompleted(t.Context(), "s1", a.Run.ID, rpc.StreamCompleted{Path: shPath}); err != nil {
		t.Error(err)
	}
	if got := h.outputText(a.Run.ID); tried < 3 || got != "sh://turn_1/call_1 200 summarized \"one\"\nsh://turn_1/call_2 200 summarized \"\"" {
		t.Error(tried, got)
	}
	h.check(a.Run.ID)
}

// TestWhatEndedInTheSandboxStays: an action that has ended with its output keeps what it says, also where that was still
// open when the daemon began and looked for what clients had left.
func TestWhatEndedInTheSandboxStays(t *testing.T) {
	h, a, p := handsOver(t)
	h.answer(p, sdk.Accept)
	h.await(a)
	was := h.actions(a.Run.ID)[0]
	h.engine.clients.Left(t.Context(), []sdk.EntryEvent{{Run: a.Run.ID, Entry: sdk.Entry{Path: "sh://turn_1/call_1", State: sdk.StateStreaming}}})
	if is := h.actions(a.Run.ID)[0]; is.Body != was.Body || string(is.Attributes) != string(was.Attributes) {
		t.Errorf("%q became %q", was.Body, is.Body)
	}
	h.check(a.Run.ID)
}
