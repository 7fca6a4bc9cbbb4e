package cassette

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Next returns step n, counted from 0, which answers a request whose steps before n were
// answered by this cassette. fresh is what is new in the request (Fresh), and nothing else
// is compared. So a conversation that went on before the first step does not count, nor
// does what was left out since to make the prompt fit.
func (c *Cassette) Next(n int, fresh []sdk.Message) (Step, *Difference) {
	at := func(d *Difference) *Difference {
		d.Where = fmt.Sprintf("step %d, %s", n+1, d.Where)
		return d
	}
	if n >= len(c.Steps) {
		got := "one more request"
		if len(fresh) > 0 {
			got = describe(fresh[len(fresh)-1])
		}
		return Step{}, at(&Difference{Where: "the end of the conversation", Expected: fmt.Sprintf("nothing: the cassette ends after %d steps", len(c.Steps)), Got: got})
	}
	s, got := c.Steps[n], slices.Clone(fresh)
	for i, e := range s.Request {
		if e.Role == sdk.RoleTool && i < len(got) && got[i].Role == sdk.RoleTool {
			got[i].Tool = e.Tool // the cassette made the call; a conversation may write its name in another way
		}
		if d := compare(e, got, i); d != nil {
			return Step{}, at(d)
		}
	}
	if more := len(s.Request); more < len(got) {
		return Step{}, at(&Difference{Where: place(more, got[more].Role), Expected: "nothing more: it is the model's turn", Got: describe(got[more])})
	}
	return s, nil
}

// Fresh is a copy of what is new in a request: the messages behind the last of an
// assistant. In the first of a loop that is what the user says: results in front of it
// are of calls that were made before. Images stand in the text, by their digests.
func Fresh(messages []sdk.Message, first bool) []sdk.Message {
	at := len(messages)
	for at > 0 && messages[at-1].Role != sdk.RoleAssistant {
		at--
	}
	var out []sdk.Message
	for _, m := range messages[at:] {
		if m.Role == sdk.RoleSystem || first && len(out) == 0 && m.Role == sdk.RoleTool {
			continue
		}
		out = append(out, described(m))
	}
	return out
}

// Play sends the step's events, each after its pause.
func (s Step) Play(ctx context.Context, send func(sdk.Delta) error) error {
	for _, e := range s.Events {
		if err := pause(ctx, time.Duration(e.DelayMS)*time.Millisecond); err != nil {
			return err
		}
		if err := send(e.Delta); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the playing was given up: %w", errors.Join(err, context.Cause(ctx)))
	}
	return nil
}
