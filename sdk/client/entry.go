package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Entry reads one entry of a run, whole, by its exact path; an empty one when it is gone.
func (c *Client) Entry(ctx context.Context, run int64, path string) (sdk.Entry, error) {
	page, err := c.Entries(ctx, rpc.EntriesParams{Run: strconv.FormatInt(run, 10), Pattern: path})
	if err != nil {
		return sdk.Entry{}, fmt.Errorf("reading %s: %w", path, err)
	}
	for _, e := range page.Entries {
		if e.Path == path {
			return e, nil
		}
	}
	return sdk.Entry{}, nil
}

// Complete gives a row of the journal the body of an answer or of an ended action that was
// too long for it. Rows that have a body, or are of something else or an image, stay as they are, and
// so does one whose entry is another by now: a later row tells what it became.
func (c *Client) Complete(ctx context.Context, row *sdk.JournalRow) error {
	var change sdk.EntryChange
	if row.Kind != sdk.KindEntrySet || sdk.SchemeOf(row.Path) == sdk.MediumImage || row.Body != nil || row.BodyHash == "" || json.Unmarshal(row.Data, &change) != nil || !change.State.Ended() {
		return nil
	}
	e, err := c.Entry(ctx, row.Run, row.Path)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256([]byte(e.Body)); hex.EncodeToString(sum[:]) == row.BodyHash {
		row.Body = &e.Body
	}
	return nil
}
