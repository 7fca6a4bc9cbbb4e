package wire

import (
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// Entries writes entries.
func Entries(entries []sdk.Entry) []*pb.Entry {
	out := make([]*pb.Entry, len(entries))
	for i, e := range entries {
		out[i] = &pb.Entry{
			Path: Text(e.Path), Body: Text(e.Body), AttributesJson: e.Attributes,
			Visibility: Text(string(e.Visibility)), State: Text(string(e.State)), Outcome: Text(string(e.Outcome)),
			Writer: Text(string(e.Writer)), Scope: Text(e.Scope), Phase: Text(string(e.Phase)), Hash: Text(e.Hash),
			Loop: e.Loop, Turn: int64(e.Turn), Version: int64(e.Version),
			CreatedUnixNs: nanoseconds(e.Created), UpdatedUnixNs: nanoseconds(e.Updated),
		}
	}
	return out
}

// ReadEntries reads entries; nil when there are none.
func ReadEntries(entries []*pb.Entry) []sdk.Entry {
	if len(entries) == 0 {
		return nil
	}
	out := make([]sdk.Entry, len(entries))
	for i, e := range entries {
		out[i] = sdk.Entry{
			Path: e.GetPath(), Body: e.GetBody(), Attributes: e.GetAttributesJson(),
			Visibility: sdk.Visibility(e.GetVisibility()), State: sdk.State(e.GetState()), Outcome: sdk.Outcome(e.GetOutcome()),
			Writer: sdk.Writer(e.GetWriter()), Scope: e.GetScope(), Phase: sdk.Phase(e.GetPhase()), Hash: e.GetHash(),
			Loop: e.GetLoop(), Turn: int(e.GetTurn()), Version: int(e.GetVersion()),
			Created: moment(e.GetCreatedUnixNs()), Updated: moment(e.GetUpdatedUnixNs()),
		}
	}
	return out
}

// Done writes what uses of verbs came to.
func Done(done []sdk.EntryDone) []*pb.EntryDone {
	out := make([]*pb.EntryDone, len(done))
	for i, d := range done {
		out[i] = &pb.EntryDone{Text: Text(d.Text), Entries: Entries(d.Entries), Overwrote: d.Overwrote, Left: int64(d.Left), More: int64(d.More)}
	}
	return out
}

// ReadDone reads what uses of verbs came to.
func ReadDone(done []*pb.EntryDone) []sdk.EntryDone {
	out := make([]sdk.EntryDone, len(done))
	for i, d := range done {
		out[i] = sdk.EntryDone{Text: d.GetText(), Entries: ReadEntries(d.GetEntries()), Overwrote: d.GetOverwrote(), Left: int(d.GetLeft()), More: int(d.GetMore())}
	}
	return out
}

// nanoseconds since 1970; 0 for the zero time, which has none.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
