package tape

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// Played is a cassette in the place of a loop's model. No method wants one: nil is a loop that plays nothing.
type Played struct {
	*cassette.Cassette
	file string
	raw  []byte // as it was read
}

// ofCassettes begins the aliases of what is played, as those of the provider that plays
// cassettes do: nobody takes what they used for something that a model used.
const ofCassettes = "replay/"

// Mismatch ends a loop that is not the one on its cassette.
type Mismatch struct{ reason string }

// Error implements error.
func (m *Mismatch) Error() string { return m.reason }

// mismatch is for a reason that is no difference of messages.
func mismatch(why string) *Mismatch {
	return &Mismatch{"this is not the conversation on the cassette: " + why}
}

// Differs makes the end of a loop of a difference of its messages.
func Differs(d *cassette.Difference) *Mismatch { return mismatch(d.Error()) }

// Choice is what stands for the model. It has the model's window, and costs nothing.
func (p *Played) Choice() sdk.ModelChoice { return p.choiceOf(p.Cassette) }

func (p *Played) choiceOf(c *cassette.Cassette) sdk.ModelChoice {
	return sdk.ModelChoice{
		Alias: ofCassettes + strings.TrimPrefix(c.Model, ofCassettes), Name: c.Model, Context: c.Context, Price: &sdk.Price{},
		Why: "the cassette " + p.file + " is played in the place of a model",
	}
}

// ToPlay reads the cassette of a prompt, by the absolute path of its file; nil is that it has none. Model is the one
// that the prompt names.
func ToPlay(path string, strict bool, model string) (*Played, error) {
	switch {
	case path == "" && strict:
		return nil, sdk.Errorf(sdk.Validation, "strict goes with a cassette that is played")
	case path == "":
		return nil, nil
	case model != "":
		return nil, sdk.Errorf(sdk.Validation, "a cassette is played in the place of a model: leave out the model %s", model)
	case !filepath.IsAbs(path):
		return nil, sdk.Errorf(sdk.Validation, "the cassette must be the absolute path of a file, not %q", path)
	}
	return read(path, strict)
}

func read(path string, strict bool) (*Played, error) {
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
	return &Played{c, path, raw}, nil
}

// Rest is why a loop that ends well after so many turns, for a reason, is another conversation: there are steps left.
// Nil is that there are none.
func (p *Played) Rest(turns int, reason string) *Mismatch {
	if turns >= len(p.Steps) {
		return nil
	}
	return Differs(&cassette.Difference{
		Where: fmt.Sprintf("step %d, the end of the conversation", turns+1), Expected: fmt.Sprintf("%d steps", len(p.Steps)),
		Got: fmt.Sprintf("the end after %d: %s", turns, reason),
	})
}
