package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// cassetteFlags record a prompt, or play what was recorded in the place of its model.
type cassetteFlags struct {
	Record string `placeholder:"FILE" complete:"file" help:"Save what the model answers in FILE, which only you can read: a cassette for --replay."`
	Force  bool   `help:"With --record: overwrite a file that is there."`
	Replay string `placeholder:"FILE" complete:"file" help:"Play a cassette in the place of the model. A conversation that is another one ends with its first difference and the exit code 1."`
	Strict bool   `help:"With --replay: compare the results of all tools, also of those that do more than read."`
}

// check refuses what cannot work before anything is done. It makes the paths absolute, and
// asks for the role that playing a file needs.
func (f *cassetteFlags) check(c *console, model string) error {
	switch {
	case f.Force && f.Record == "":
		return usageError{"--force goes with --record"}
	case f.Strict && f.Replay == "":
		return usageError{"--strict goes with --replay"}
	case f.Replay != "" && model != "":
		return usageError{"--replay plays a cassette in the place of a model: leave out --model " + model}
	}
	if f.Replay != "" {
		f.Replay, c.role = c.path(f.Replay), rpc.RoleApprove
	}
	if f.Record == "" {
		return nil
	}
	var err error
	if f.Record, err = c.newFile(f.Record, f.Force); err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Dir(f.Record)); err != nil || !info.IsDir() {
		return usageError{fmt.Sprintf("there is no folder %s for the cassette", filepath.Dir(f.Record))}
	}
	return nil
}

// save fetches the cassette of a prompt that has ended, and writes it to its file.
func (f cassetteFlags) save(ctx context.Context, c *console, cl *client.Client, accepted rpc.Accepted, s *loopState, tell bool) error {
	if f.Record == "" {
		return nil
	}
	if s.End.Stop == sdk.StopProposal {
		return errors.New("the prompt has not ended, so that there is no cassette of it yet")
	}
	raw, err := start.Repeat(ctx, c.daemon(), cl, func() ([]byte, error) {
		var b bytes.Buffer
		err := cl.Cassette(ctx, rpc.PromptRef{Run: strconv.FormatInt(accepted.ID, 10), Prompt: accepted.Sequence}, &b)
		return b.Bytes(), err
	})
	if err == nil {
		err = f.write(raw)
	}
	if err != nil {
		return fmt.Errorf("the cassette: %w", err)
	}
	if tell {
		c.say("recorded in %s", show.Line(f.Record))
	}
	return nil
}

// write makes the file, which is whole or not there.
func (f cassetteFlags) write(raw []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(f.Record), ".bothy-cassette-") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(raw)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		put := os.Link // never over a file that came meanwhile
		if f.Force {
			put = os.Rename
		}
		err = put(temporary.Name(), f.Record)
	}
	if err != nil || !f.Force {
		err = errors.Join(err, os.Remove(temporary.Name()))
	}
	return err
}
