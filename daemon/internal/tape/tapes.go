// Package tape records what models answer to prompts, and reads what is played in their place (ADR 0068).
package tape

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Store is what is known of the loops that are recorded.
type Store interface {
	delegate.Store
	Run(ctx context.Context, id int64) (sdk.Run, error)
}

// Tapes are the recordings of prompts, and copies of what is played. They lie in the folders of runs.
type Tapes struct {
	Store Store
	Dir   func(sdk.Run) string // the folder of a run
}

func (t Tapes) folder(run sdk.Run) string { return filepath.Join(t.Dir(run), "cassettes") }

// Path is where the recording of a loop is, from its end on.
func (t Tapes) Path(run sdk.Run, l sdk.Loop) string {
	return filepath.Join(t.folder(run), fmt.Sprintf("%d.json", l.ID))
}

// Keep puts a copy of a prompt's cassette into the folder of its run, for the daemon that takes the loop up, and
// returns its name there; "" is that there is none.
func (t Tapes) Keep(run sdk.Run, p *Played) (string, error) {
	if p == nil {
		return "", nil
	}
	sum := sha256.Sum256(p.raw)
	name := hex.EncodeToString(sum[:]) + ".json"
	err := os.MkdirAll(t.folder(run), 0o700)
	if err == nil {
		err = durable.Replace(filepath.Join(t.folder(run), name), p.raw)
	}
	if err != nil {
		return "", sdk.Errorf(sdk.Unavailable, "keep the cassette in the run's folder: %w", err)
	}
	return name, nil
}

// Line is a line of a recording that is not at its end. A turn that is asked again
// after a crash has another line, which counts.
type Line struct {
	Turn    int           `json:"turn"` // of the loop, from 1 on
	Model   string        `json:"model"`
	Context int           `json:"context,omitempty"`
	Step    cassette.Step `json:"step"`
}

// Add adds an answer to the recording of a loop.
func (t Tapes) Add(run sdk.Run, l sdk.Loop, answer Line) error {
	line, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.folder(run), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.Path(run, l)+"l", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || info.Size()+int64(len(line)) > 2*cassette.MaxBytes {
		return errors.Join(err, f.Close(), fmt.Errorf("it is larger than any cassette may be"))
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// End makes the cassette of a loop that has ended, unless it is made already.
func (t Tapes) End(ctx context.Context, run sdk.Run, l sdk.Loop) error {
	path := t.Path(run, l)
	c, err := lines(path + "l")
	if errors.Is(err, fs.ErrNotExist) {
		if _, done := os.Lstat(path); done == nil {
			return nil
		}
		return sdk.Errorf(sdk.NotFound, "nothing was recorded of prompt %d of run %s: its model did not answer", l.Sequence, run.Alias)
	}
	var turns []sdk.Turn
	if err == nil {
		turns, err = t.turns(ctx, run, l)
	}
	if err == nil {
		err = whole(turns, len(c.Steps))
	}
	if err == nil {
		err = t.children(ctx, run, l, turns, c)
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

// whole compares what is recorded with the answers that the store has of the loop's turns.
func whole(turns []sdk.Turn, steps int) error {
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

// turns are those of a loop, in their order: each has a step.
func (t Tapes) turns(ctx context.Context, run sdk.Run, l sdk.Loop) (all []sdk.Turn, err error) {
	turns, err := t.Store.Turns(ctx, run.ID)
	for _, turn := range turns {
		if turn.Loop == l.ID {
			all = append(all, turn)
		}
	}
	return all, err
}

// lines reads a recording that is not made a cassette yet.
func lines(path string) (c cassette.Cassette, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }() // it was only read
	d := json.NewDecoder(bufio.NewReader(f))
	for {
		var x Line
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

// mostPiece is the most of a cassette that is handed out at a time.
const mostPiece = 1 << 20

// Piece is a piece of what was recorded of a loop that has ended, from an offset on. It is whole
// when the pieces reach Size.
func (t Tapes) Piece(ctx context.Context, r sdk.Run, l sdk.Loop, offset int64) (rpc.CassettePiece, error) {
	if err := t.End(ctx, r, l); err != nil {
		return rpc.CassettePiece{}, err
	}
	f, err := os.Open(t.Path(r, l))
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
	piece := make([]byte, min(mostPiece, info.Size()-offset))
	if _, err := f.ReadAt(piece, offset); err != nil && !errors.Is(err, io.EOF) {
		return rpc.CassettePiece{}, err
	}
	for n := len(piece); offset+int64(n) < info.Size() && n > len(piece)-utf8.UTFMax && n > 0; n-- { // whole characters
		if r, size := utf8.DecodeLastRune(piece[:n]); r != utf8.RuneError || size > 1 {
			piece = piece[:n]
			break
		}
	}
	return rpc.CassettePiece{Run: r.Alias, ID: r.ID, Prompt: l.Sequence, Size: info.Size(), Next: offset + int64(len(piece)), Text: string(piece)}, nil
}
