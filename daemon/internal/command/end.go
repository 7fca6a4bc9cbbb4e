package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ended is how a command ends that a client ran.
type ended struct {
	state     sdk.State // of its output
	outcome   sdk.Outcome
	said      string // how, in the action's text
	exit      *int
	cancelled string // why, where its client did not say so
	took      time.Duration
}

// StreamCompleted ends a client's command that came to its own end.
func (c *Clients) StreamCompleted(ctx context.Context, session string, run int64, p rpc.StreamCompleted) ([]rpc.StreamOutput, error) {
	exit := 0
	if p.ExitCode != nil {
		exit = *p.ExitCode
	}
	end := ended{state: sdk.StateResolved, said: fmt.Sprintf("exit=%d", exit), exit: &exit}
	if exit != 0 {
		end.state, end.outcome = sdk.StateFailed, sdk.Exit(exit)
	}
	return c.endByClient(ctx, session, run, p.Path, p.Duration, end)
}

// StreamAborted ends a client's command that the client ended.
func (c *Clients) StreamAborted(ctx context.Context, session string, run int64, p rpc.StreamAborted) ([]rpc.StreamOutput, error) {
	said := "aborted"
	if reason := strings.TrimSpace(p.Reason); reason != "" {
		said += ": " + sdk.Excerpt(reason)
	}
	return c.endByClient(ctx, session, run, p.Path, p.Duration, ended{state: sdk.StateCancelled, outcome: sdk.Aborted, said: said})
}

func (c *Clients) endByClient(ctx context.Context, session string, run int64, path string, duration json.RawMessage, end ended) ([]rpc.StreamOutput, error) {
	leave, err := c.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	x, err := c.of(ctx, session, run, path)
	if err != nil {
		return nil, err
	}
	took, err := tookText(duration)
	if err != nil {
		return nil, err
	}
	end.said += took
	return c.end(ctx, x, end)
}

// tookText tells how long a client says that its command took.
func tookText(duration json.RawMessage) (string, error) {
	const most = 40
	var value any
	if len(duration) == 0 || json.Unmarshal(duration, &value) == nil && value == nil {
		return "", nil
	}
	switch v := value.(type) {
	case float64:
		return fmt.Sprintf(", duration=%v", v), nil
	case string:
		if len(v) <= most && !strings.ContainsFunc(v, sdk.Hidden) {
			return ", duration=" + v, nil
		}
	}
	return "", sdk.Errorf(sdk.Validation, "the duration is a number, or a text of %d characters at most", most)
}

// StreamCancel ends a command of sh or env, whoever runs it: a client is told, one in the sandbox is killed. What is left at
// 102 with nobody who runs it is ended as well.
func (c *Clients) StreamCancel(ctx context.Context, run int64, p rpc.StreamCancel) ([]rpc.StreamOutput, error) {
	leave, err := c.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	reason := "cancelled by a person"
	if said := strings.TrimSpace(p.Reason); said != "" {
		reason += ": " + sdk.Excerpt(said)
	}
	if x := c.find(run, p.Path); x != nil {
		return c.cancel(ctx, x, reason)
	}
	if c.Kill(run, p.Path, reason) {
		return c.now(ctx, run, p.Path)
	}
	some, err := c.now(ctx, run, p.Path)
	for _, o := range some {
		if o.Status == sdk.StatusRunning && err == nil && c.over(ctx, run, p.Path) {
			return c.endOutputs(ctx, run, p.Path, nil, cancelledEnd(reason))
		}
	}
	if err == nil {
		err = c.none(ctx, run, p.Path)
	}
	return nil, err
}

// over reports whether the action of a path has ended, so that nobody but this daemon ends its output.
func (c *Clients) over(ctx context.Context, run int64, path string) bool {
	entry, err := c.Store.Entry(ctx, run, path)
	return err == nil && entry.State.Ended()
}

func cancelledEnd(reason string) ended {
	return ended{state: sdk.StateCancelled, outcome: sdk.Aborted, said: reason, cancelled: reason}
}

// cancel ends a client's command and tells that client.
func (c *Clients) cancel(ctx context.Context, x *handed, reason string) ([]rpc.StreamOutput, error) {
	outputs, err := c.end(ctx, x, cancelledEnd(reason))
	c.mu.Lock()
	tell := c.cancelled
	c.mu.Unlock()
	if err == nil && tell != nil {
		tell(x.session, x.run.ID, rpc.StreamCancelled{Run: x.run.Alias, Path: x.path, Reason: reason})
	}
	return outputs, err
}

// CancelIn ends what clients run in a run, and answers how many commands that were.
func (c *Clients) CancelIn(ctx context.Context, run int64, reason string) (n int) {
	for _, x := range c.which(func(x *handed) bool { return x.run.ID == run }) {
		if _, err := c.cancel(ctx, x, reason); err == nil {
			n++
		}
	}
	return n
}

// LeaveStreams ends the commands of a client that is gone.
func (c *Clients) LeaveStreams(session string) {
	leave, err := c.Enter()
	if err != nil {
		return // the next daemon ends them
	}
	defer leave()
	for _, x := range c.which(func(x *handed) bool { return x.session == session }) {
		if _, err := c.end(context.Background(), x, cancelledEnd("the client that ran it is gone")); err != nil && sdk.OutcomeOf(err) != sdk.Conflict {
			c.Log.Error("what a client ran that is gone could not be ended; the next start does", "path", x.path, "error", err)
		}
	}
}

// end ends a client's command, once.
func (c *Clients) end(ctx context.Context, x *handed, end ended) ([]rpc.StreamOutput, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return nil, c.none(ctx, x.run.ID, x.path)
	}
	end.took = time.Since(x.began)
	var rest []sdk.Write
	for i, clean := range x.clean {
		if text := clean.End(); text != "" {
			rest = append(rest, sdk.Write{Path: x.outputs[i], Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: i + 1, Text: text}})
		}
	}
	x.ended = true
	c.drop(x)
	return c.endOutputs(ctx, x.run.ID, x.path, rest, end)
}

// endOutputs ends what is still at 102 of a command's output, with its rest, and has its action tell how it ended. Output that
// has ended is a conflict.
func (c *Clients) endOutputs(ctx context.Context, run int64, path string, rest []sdk.Write, end ended) ([]rpc.StreamOutput, error) {
	of, err := c.Store.Entry(ctx, run, path)
	if err != nil {
		return nil, err
	}
	at, err := sdk.ActionOf(of)
	if err != nil {
		return nil, err
	}
	writes, outputs, bytes, open, ended := rest, Outputs(path), [2]int{}, 0, 0
	var printed strings.Builder
	for i, output := range outputs {
		entry, err := c.Store.Entry(ctx, run, output)
		if sdk.OutcomeOf(err) == sdk.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		text := entry.Body
		for _, w := range rest {
			if w.Path == output {
				text += w.Chunk.Text
			}
		}
		bytes[i] = len(text)
		printed.WriteString(text)
		if entry.State != sdk.StateStreaming {
			ended++
			continue
		}
		open++
		writes = append(writes, sdk.Write{Path: output, Writer: sdk.WriterSystem, State: end.state, Outcome: end.outcome, Loop: entry.Loop, Turn: entry.Turn})
	}
	if open == 0 && ended > 0 { // meanwhile, by its call, whose action says how
		return nil, c.none(ctx, run, path)
	}
	body := ranText(Line(sdk.Tool{}, at.ExactArguments()), end.said, outputs, bytes, printed.String())
	metadata := map[string]any{"output_bytes": bytes}
	if end.exit != nil {
		metadata["exit_code"] = *end.exit
	}
	if end.cancelled != "" {
		metadata[sdk.MetadataCancelled] = end.cancelled
	}
	attributes := map[string]any{"metadata": metadata}
	if end.took > 0 {
		attributes["duration_ms"] = end.took.Milliseconds()
	}
	writes = append(writes, sdk.Write{
		Path: path, Writer: sdk.WriterSystem, Expect: sdk.PhaseEnded, Body: &body, Attributes: encode(attributes), Loop: of.Loop, Turn: of.Turn,
	})
	receipt, err := c.Commit(context.WithoutCancel(ctx), sdk.Change{Run: run, Writes: writes})
	if err != nil {
		return nil, fmt.Errorf("record how the command ended: %w", err)
	}
	return outputsIn(receipt.Entries, bytes), nil
}

// outputsIn are the outputs of a command among entries.
func outputsIn(entries []sdk.Entry, bytes [2]int) (outputs []rpc.StreamOutput) {
	for _, entry := range entries {
		if _, channel, is := sdk.ParseOutputPath(entry.Path); is && channel <= len(bytes) && entry.State != sdk.StateStreaming {
			outputs = append(outputs, rpc.StreamOutput{Path: entry.Path, Bytes: bytes[channel-1], Status: entry.Status()})
		}
	}
	return outputs
}

// now are the outputs of a command as they are.
func (c *Clients) now(ctx context.Context, run int64, path string) (outputs []rpc.StreamOutput, err error) {
	for _, output := range Outputs(path) {
		entry, err := c.Store.Entry(ctx, run, output)
		if sdk.OutcomeOf(err) == sdk.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, rpc.StreamOutput{Path: output, Bytes: len(entry.Body), Status: entry.Status()})
	}
	return outputs, nil
}

// Left ends the output of commands that clients of an earlier daemon ran: their connections
// ended with it. That of commands in the sandbox is ended with their calls.
func (c *Clients) Left(ctx context.Context, left []sdk.EntryEvent) {
	done := map[key]bool{}
	for _, x := range left {
		of, _, is := sdk.ParseOutputPath(x.Entry.Path)
		at := key{x.Run, of.String()}
		if !is || done[at] || !c.ran(ctx, x.Run, at.path) {
			continue
		}
		done[at] = true
		const gone = "the daemon ended, and with it the connection of the client that ran it"
		if _, err := c.endOutputs(ctx, x.Run, at.path, nil, cancelledEnd(gone)); err != nil {
			c.Log.Error("what a client ran could not be ended; it is tried again at the next start", "run", x.Run, "path", at.path, "error", err)
		}
	}
}

// ran reports whether the action of a path ended by being handed over to a client.
func (c *Clients) ran(ctx context.Context, run int64, path string) bool {
	entry, err := c.Store.Entry(ctx, run, path)
	if err != nil || !entry.State.Ended() {
		return false
	}
	at, err := sdk.ActionOf(entry)
	return err == nil && at.Answer != nil && at.Answer.Runs == sdk.RunsClient
}
