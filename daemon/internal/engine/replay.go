package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// played is a cassette in the place of a loop's model (ADR 0068).
type played struct {
	*cassette.Cassette
	file string
	raw  []byte // as it was read; nil once it lies in the run's folder
}

// ofCassettes begins the aliases of what is played, as those of the provider that plays
// cassettes do: nobody takes what they used for something that a model used.
const ofCassettes = "replay/"

// choice is what stands for the model. It has the model's window, and costs nothing.
func (p *played) choice() sdk.ModelChoice {
	return sdk.ModelChoice{
		Alias: ofCassettes + strings.TrimPrefix(p.Model, ofCassettes), Name: p.Model, Context: p.Context, Price: &sdk.Price{},
		Why: "the cassette " + p.file + " is played in the place of a model",
	}
}

// playContext takes the window of the model that the next answer came from.
func (a *activeLoop) playContext() {
	if a.played != nil {
		a.choice.Context = a.played.ContextAt(a.turns - 1)
	}
}

// taped is the name of the loop's model on its cassette.
func (a *activeLoop) taped() string {
	if a.played != nil {
		return a.played.Model
	}
	return a.choice.Alias
}

// toPlay reads the cassette of a submission; nil is that it has none.
func toPlay(s Submission) (*played, error) {
	switch {
	case s.Replay == "" && s.Strict:
		return nil, sdk.Errorf(sdk.Validation, "strict goes with a cassette that is played")
	case s.Replay == "":
		return nil, nil
	case s.Model != "":
		return nil, sdk.Errorf(sdk.Validation, "a cassette is played in the place of a model: leave out the model %s", s.Model)
	case !filepath.IsAbs(s.Replay):
		return nil, sdk.Errorf(sdk.Validation, "the cassette must be the absolute path of a file, not %q", s.Replay)
	}
	return readPlayed(s.Replay, s.Strict)
}

func readPlayed(path string, strict bool) (*played, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, sdk.Errorf(sdk.NotFound, "the cassette cannot be opened: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, sdk.Errorf(sdk.Validation, "the cassette %s is no file", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, cassette.MaxBytes+1))
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the cassette cannot be read: %w", err)
	}
	c, err := cassette.Read(bytes.NewReader(raw))
	if err == nil && strict {
		err = c.Strict()
	}
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "the cassette %s cannot be played: %w", path, err)
	}
	return &played{c, path, raw}, nil
}

// keepPlayed puts a copy of the submission's cassette into the folder of the run, for the
// daemon that takes the loop up, and returns its name there; "" is that there is none.
func (e *Engine) keepPlayed(run sdk.Run, s Submission) (string, error) {
	if s.played == nil {
		return "", nil
	}
	sum := sha256.Sum256(s.played.raw)
	name := hex.EncodeToString(sum[:]) + ".json"
	err := os.MkdirAll(e.tapes(run), 0o700)
	if err == nil {
		err = durable.Replace(filepath.Join(e.tapes(run), name), s.played.raw)
	}
	if err != nil {
		return "", sdk.Errorf(sdk.Unavailable, "keep the cassette in the run's folder: %w", err)
	}
	return name, nil
}

// choose finds the model of a loop, or what is played in its place.
func (e *Engine) choose(ctx context.Context, a *activeLoop) (err error) {
	o := a.given()
	a.recorded = o.Record
	if o.Replay == "" {
		a.choice, err = e.cfg.Models.Resolve(ctx, a.loop.Model)
		a.choice.Context = a.run.Limit(a.choice.Context)
		return err
	}
	if a.played, err = e.playedOf(ctx, a.run, o); err != nil {
		return err
	}
	a.played.raw, a.choice = nil, a.played.choice()
	return nil
}

// completion sends a request to the loop's model, or plays its answer.
func (e *Engine) completion(ctx context.Context, a *activeLoop, req sdk.Request, r *stream.Reader) error {
	if a.played == nil {
		turn := a.turn.row.Sequence
		return e.cfg.Models.Complete(ctx, a.choice.Alias, req, r.Take, func(retry sdk.Retry) error {
			return e.retrying(ctx, a, turn, r, retry)
		})
	}
	step, differs := a.played.Next(a.turns-1, a.turn.fresh)
	if differs != nil {
		return differs
	}
	return step.Play(ctx, r.Take)
}

// endPlayed is the end of a loop that plays a cassette: one that ends well with steps
// left is another conversation.
func (a *activeLoop) endPlayed(end ending) ending {
	if a.played == nil || a.turns >= len(a.played.Steps) || end.status != sdk.StatusOK && end.status != sdk.StatusNoContent {
		return end
	}
	d := &cassette.Difference{
		Where: fmt.Sprintf("step %d, the end of the conversation", a.turns+1), Expected: fmt.Sprintf("%d steps", len(a.played.Steps)),
		Got: fmt.Sprintf("the end after %d: %s", a.turns, end.reason),
	}
	end.status, end.stop, end.reason = sdk.StatusFailed, sdk.StopMismatch, mismatch(d)
	return end
}

// mismatch is the reason of a loop that is not the one on its cassette.
func mismatch(d *cassette.Difference) string {
	return "this is not the conversation on the cassette: " + d.Error()
}
