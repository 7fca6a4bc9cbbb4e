package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
	"github.com/bothyd/bothy/sdk/rpc"
)

// tapes is the folder of a run with what is recorded in it, and with copies of what is
// played (ADR 0068).
func (e *Engine) tapes(run sdk.Run) string { return filepath.Join(e.runDir(run), "cassettes") }

// tape is where the recording of a loop is, from its end on.
func (e *Engine) tape(run sdk.Run, l sdk.Loop) string {
	return filepath.Join(e.tapes(run), fmt.Sprintf("%d.json", l.ID))
}

// tapedStep is a line of a recording that is not at its end. A turn that is asked again
// after a crash has another line, which counts.
type tapedStep struct {
	Turn    int           `json:"turn"` // of the loop, from 1 on
	Model   string        `json:"model"`
	Context int           `json:"context,omitempty"`
	Step    cassette.Step `json:"step"`
}

// keepStep adds the answer to the recording of the loop, if there is one. What the disk
// does not take makes the recording none; the work goes on.
func (e *Engine) keepStep(a *activeLoop, c sdk.Completion) {
	if !a.recorded {
		return
	}
	if err := e.writeStep(a, c); err != nil {
		e.log.Error("an answer could not be recorded; the prompt has no cassette", "run", a.run.Alias, "loop", a.loop.Sequence, "turn", a.turns, "error", err)
	}
}

func (e *Engine) writeStep(a *activeLoop, c sdk.Completion) error {
	step := cassette.NewStep(a.turn.fresh, e.clearOf(c), func(name string) bool {
		tool, _, err := e.find(a, name)
		looks := tool.Annotations
		return err == nil && looks.ReadOnly && !looks.Live && !looks.OpenWorld && tool.Name != sdk.ToolDelegate // a child has a cassette of its own
	})
	line, err := json.Marshal(tapedStep{Turn: a.turns, Model: a.taped(), Context: a.choice.Context, Step: step})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.tapes(a.run), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(e.tape(a.run, a.loop)+"l", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || info.Size()+int64(len(line)) > 2*cassette.MaxBytes {
		return errors.Join(err, f.Close(), fmt.Errorf("it is larger than any cassette may be"))
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// takeFresh keeps what is new in the conversation, without secrets, for a loop that is
// recorded or plays. It is taken before anything is left out of the prompt: what fits is a
// matter of the model. One that plays ends where a child had another conversation.
func (e *Engine) takeFresh(ctx context.Context, a *activeLoop, messages []sdk.Message) error {
	if !a.recorded && a.played == nil {
		return nil
	}
	a.turn.fresh = cassette.Fresh(messages, a.turns == 1)
	for i := range a.turn.fresh {
		m := &a.turn.fresh[i]
		m.Text = e.cfg.RedactText(m.Text)
	}
	return e.childrenPlayed(ctx, a)
}

// clearOf is an answer without secrets.
func (e *Engine) clearOf(c sdk.Completion) sdk.Completion {
	clean := e.cfg.RedactText
	out := c
	out.Text, out.Reasoning, out.Calls = clean(c.Text), clean(c.Reasoning), nil
	for _, call := range c.Calls {
		out.Calls = append(out.Calls, sdk.Call{ID: clean(call.ID), Tool: clean(call.Tool), Arguments: clean(call.Arguments)})
	}
	return out
}

// endTape makes the cassette of a loop that has ended, unless it is made already.
func (e *Engine) endTape(ctx context.Context, run sdk.Run, l sdk.Loop) error {
	path := e.tape(run, l)
	c, err := readTape(path + "l")
	if errors.Is(err, fs.ErrNotExist) {
		if _, done := os.Lstat(path); done == nil {
			return nil
		}
		return sdk.Errorf(sdk.NotFound, "nothing was recorded of prompt %d of run %s: its model did not answer", l.Sequence, run.Alias)
	}
	if err == nil {
		err = e.whole(ctx, run, l, len(c.Steps))
	}
	if err == nil {
		err = e.tapeChildren(ctx, run, l, c)
	}
	var raw []byte
	if err == nil {
		raw, err = c.Encode()
	}
	if err == nil {
		err = durable.Replace(path, raw)
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "no cassette can be made of prompt %d of run %s: %w", l.Sequence, run.Alias, err)
	}
	if err := os.Remove(path + "l"); !errors.Is(err, fs.ErrNotExist) { // somebody else made it as well
		return err
	}
	return nil
}

// whole compares what is recorded with the answers that the store has of the loop.
func (e *Engine) whole(ctx context.Context, run sdk.Run, l sdk.Loop, steps int) error {
	turns, err := e.turnsOf(ctx, run, l)
	if err != nil {
		return err
	}
	answered := 0
	for i, t := range turns {
		if t.Finish != "" {
			answered = i + 1
		}
	}
	if steps < answered {
		return fmt.Errorf("%d answers came, and %d could be recorded", answered, steps)
	}
	return nil
}

// turnsOf are the turns of a loop, in their order: each has a step.
func (e *Engine) turnsOf(ctx context.Context, run sdk.Run, l sdk.Loop) ([]sdk.Turn, error) {
	turns, err := e.cfg.Store.Turns(ctx, run.ID)
	return which(turns, func(t sdk.Turn) bool { return t.Loop == l.ID }), err
}

// readTape reads a recording that is not made a cassette yet.
func readTape(path string) (c cassette.Cassette, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }() // it was only read
	d := json.NewDecoder(bufio.NewReader(f))
	for {
		var x tapedStep
		switch err := d.Decode(&x); {
		case errors.Is(err, io.EOF):
			return c, nil
		case err != nil:
			return c, fmt.Errorf("what was recorded cannot be read: %w", err)
		case x.Turn < 1 || x.Turn > len(c.Steps)+1:
			return c, fmt.Errorf("the answer of turn %d could not be recorded", len(c.Steps)+1)
		}
		if x.Turn == 1 {
			c.Model, c.Context = x.Model, x.Context
		}
		c.Steps = c.Steps[:x.Turn-1]
		if x.Context != c.ContextAt(x.Turn-1) {
			x.Step.Context = x.Context
		}
		c.Steps = append(c.Steps, x.Step)
	}
}

// tapePiece is the most of a cassette that is handed out at a time.
const tapePiece = 1 << 20

// Cassette is a piece of what was recorded of a prompt, from an offset on. It is whole
// when the pieces reach Size.
func (e *Engine) Cassette(ctx context.Context, run int64, prompt int, offset int64) (rpc.CassettePiece, error) {
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return rpc.CassettePiece{}, err
	}
	l, _, err := e.promptOf(ctx, r, prompt)
	switch {
	case err != nil:
		return rpc.CassettePiece{}, err
	case !optionsOf(l).Record:
		return rpc.CassettePiece{}, sdk.Errorf(sdk.NotFound, "prompt %d of run %s was not recorded: that is asked for with the prompt", prompt, r.Alias)
	case isOpen(l):
		return rpc.CassettePiece{}, sdk.Errorf(sdk.Conflict, "prompt %d of run %s has not ended; its cassette is there when it has", prompt, r.Alias)
	}
	if err := e.endTape(ctx, r, l); err != nil {
		return rpc.CassettePiece{}, err
	}
	f, err := os.Open(e.tape(r, l))
	if err != nil {
		return rpc.CassettePiece{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return rpc.CassettePiece{}, err
	}
	if offset < 0 || offset > info.Size() {
		return rpc.CassettePiece{}, sdk.Errorf(sdk.Validation, "the cassette has %d bytes, and there is no offset %d", info.Size(), offset)
	}
	piece := make([]byte, min(tapePiece, info.Size()-offset))
	if _, err := f.ReadAt(piece, offset); err != nil && !errors.Is(err, io.EOF) {
		return rpc.CassettePiece{}, err
	}
	for n := len(piece); offset+int64(n) < info.Size() && n > len(piece)-utf8.UTFMax && n > 0; n-- { // whole characters
		if r, size := utf8.DecodeLastRune(piece[:n]); r != utf8.RuneError || size > 1 {
			piece = piece[:n]
			break
		}
	}
	return rpc.CassettePiece{Run: r.Alias, ID: r.ID, Prompt: prompt, Size: info.Size(), Next: offset + int64(len(piece)), Text: string(piece)}, nil
}
