package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Commit makes the change durable as a whole, or nothing of it. It opens the
// turn first, makes the children, then adds the notes that go before,
// writes in order, then adds the others, moves the run, closes
// the turn and ends the loop, and the journal tells them so; a turn is closed before
// the next one opens. OpenTurn gets its ID, Run, Sequence and Created filled in.
//
// Secrets are taken out before. The receipt's entries are as each write left them: a
// removed one as it was, one that got a chunk without its stream.
//
// Outcomes: NotFound for a run, loop, turn or entry that is not there;
// Permission for a writer that the scheme does not admit; Conflict for a Create,
// Expect or step that came too late; Validation for what cannot be stored;
// Unavailable when the disk did not take it.
func (s *Store) Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	var receipt sdk.Receipt
	var opened sdk.Turn
	c, err := s.withoutSecrets(c)
	if err != nil {
		return receipt, err
	}
	patches := make([]patch, len(c.Writes))
	for i := range c.Writes {
		if patches[i], err = readPatch(c.Writes[i].Attributes); err != nil {
			return receipt, fmt.Errorf("%s: %w", c.Writes[i].Path, err)
		}
	}
	keys, err := childKeys(c)
	if err != nil {
		return receipt, err
	}
	err = s.update(ctx, "committing a change", func(t *tx) error {
		run, err := t.run(c.Run)
		if err != nil {
			return err
		}
		closing := c.CloseTurn
		if closing != nil && c.OpenTurn != nil && closing.Sequence <= run.Turns {
			if err := t.closeTurn(&run, closing); err != nil {
				return err
			}
			closing = nil
		}
		if c.OpenTurn != nil {
			if opened, err = t.openTurn(&run, *c.OpenTurn); err != nil {
				return err
			}
		}
		if receipt.Children, err = t.makeChildren(&run, c, keys, patches); err != nil {
			return err
		}
		if err := t.notes(&run, c.Before); err != nil {
			return err
		}
		if len(c.Writes) > 0 {
			receipt.Entries = make([]sdk.Entry, len(c.Writes))
		}
		for i := range c.Writes {
			if receipt.Entries[i], err = t.write(&run, &c.Writes[i], patches[i]); err != nil {
				return err
			}
		}
		if err := t.notes(&run, c.Notes); err != nil {
			return err
		}
		if c.Status != 0 {
			if err := t.waitOrGoOn(&run, c.Status); err != nil {
				return err
			}
		}
		if closing != nil {
			if err := t.closeTurn(&run, closing); err != nil {
				return err
			}
		}
		if c.EndLoop != nil {
			if err := t.endLoop(&run, c.EndLoop); err != nil {
				return err
			}
		}
		receipt.Seq = t.head.seq
		return newResolver(t.query).fillEntries(run.ID, receipt.Entries)
	}, c.Queued)
	if err != nil {
		return sdk.Receipt{}, err
	}
	if c.OpenTurn != nil {
		*c.OpenTurn = opened
	}
	return receipt, nil
}

// waitOrGoOn moves a run at work to 202, or back. Every other move has a
// method of its own.
func (t *tx) waitOrGoOn(run *sdk.Run, to int) error {
	atWork := run.Status == sdk.StatusRunning || run.Status == sdk.StatusProposed
	if !atWork || to != sdk.StatusRunning && to != sdk.StatusProposed {
		return sdk.Errorf(sdk.Conflict, "the run %s has the status %d and cannot be moved to %d; only a run at work waits and goes on", run.Alias, run.Status, to)
	}
	return t.moveRun(run, to)
}

// Note keeps a note that belongs to no run and no project, such as a security
// event of the socket.
func (s *Store) Note(ctx context.Context, n sdk.Note) error {
	n, err := s.cleanNote(n)
	if err != nil {
		return err
	}
	return s.update(ctx, "keeping a note", func(t *tx) error { return t.note(&sdk.Run{}, &n) })
}

func (t *tx) notes(run *sdk.Run, all []sdk.Note) error {
	for i := range all {
		if err := t.note(run, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// note writes a row that speaks of no entry. It cannot pass for a row of what
// the store itself does.
func (t *tx) note(run *sdk.Run, n *sdk.Note) error {
	if !isNote(n.Kind) {
		return sdk.Errorf(sdk.Validation, "a note cannot be of the kind %q; its kind begins with %q, or is %s or %s",
			n.Kind, sdk.KindNote+".", sdk.KindRunReset, sdk.KindRunExpired)
	}
	var data json.RawMessage
	if n.Data != nil {
		var err error
		if data, err = canonical(n.Data); err != nil {
			return sdk.Errorf(sdk.Validation, "the data of a note must be JSON: %w", err)
		}
	}
	return t.append(event{kind: n.Kind, project: run.Project, run: run.ID, loop: n.Loop, turn: n.Turn, data: data})
}

func isNote(kind string) bool {
	return kind == sdk.KindRunReset || kind == sdk.KindRunExpired || kind == sdk.KindNote || strings.HasPrefix(kind, sdk.KindNote+".")
}
