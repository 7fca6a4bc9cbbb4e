package client

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostBuffer is how long an answer with a text may be: the daemon takes little more.
const mostBuffer = 3 << 20

// Loan is what Lend lent. Close takes it back.
type Loan struct {
	rpc.Lent
	l       *link
	serving sync.WaitGroup
}

// Lend lends a run what p names, over a connection of its own, until the loan is closed or that
// connection is lost: see [Loan.Lost]. The client's role is approve. With p.Buffers, unsaved is
// asked how the client has a file, by its absolute path, from goroutines of their own. Where it does not
// answer within a second, and where its text is longer than about 3 MB, that counts as unknown, and tools
// do not change the file; its ctx ends with the loan.
func (c *Client) Lend(ctx context.Context, p rpc.Lend, unsaved func(ctx context.Context, path string) sdk.Buffer) (*Loan, error) {
	notes := make(chan rpc.Request, 16)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return nil, err
	}
	loan := &Loan{l: l}
	loan.serving.Go(func() { loan.answer(notes, unsaved) })
	raw, err := l.call(ctx, rpc.MethodLend, p)
	if err == nil {
		err = json.Unmarshal(raw, &loan.Lent)
	}
	if err != nil {
		loan.Close()
		return nil, err
	}
	return loan, nil
}

// answer answers what the daemon asks for, until the connection ends.
func (loan *Loan) answer(notes <-chan rpc.Request, unsaved func(context.Context, string) sdk.Buffer) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for n := range notes {
		var wanted rpc.BufferWanted
		if n.Method != rpc.NoteBuffer || unsaved == nil || json.Unmarshal(n.Params, &wanted) != nil {
			continue
		}
		loan.serving.Go(func() {
			b := unsaved(ctx, wanted.Path)
			given := rpc.BufferGiven{ID: wanted.ID, Unsaved: b.Unsaved, Text: b.Text, Unknown: b.Unknown}
			if text, err := json.Marshal(given); err != nil || len(text) > mostBuffer {
				given = rpc.BufferGiven{ID: wanted.ID, Unknown: true}
			}
			_, _ = loan.l.call(ctx, rpc.MethodBuffer, given) // the daemon waits no longer than it does
		})
	}
}

// Lost is closed when the connection is: what was lent is taken back by then.
func (loan *Loan) Lost() <-chan struct{} { return loan.l.done }

// Close takes back what was lent.
func (loan *Loan) Close() {
	_ = loan.l.close() // it is gone either way
	loan.serving.Wait()
}
