package packet

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// toldCharacters is what the entry that tells of a demotion has beside its text, when it is shown.
const toldCharacters = 120

// Settle is what a turn that is over has to demote of what it brought into sight, so that the packet of the next one fits: in is
// the assembly of that one, sent the prompt of the turn. The packet is estimated by its rows, with the system text that was sent and as
// much as others wrote then: filters hear of it when it is made. Nil is that it fits, or that nobody knows.
func (k *Packet) Settle(ctx context.Context, in sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error) {
	p, err := k.Assemble(ctx, in)
	if err != nil {
		return nil, err
	}
	p.System, p.Ceiling = sent.System, sent.Ceiling
	p.Tokens = k.estimate(&p)
	over := in.Turn - 1
	brought := func(p *sdk.Prompt, r *sdk.Row) bool { return ofTurn(p, r, over) }
	_, all, err := climb(p, []rung{
		{slugAfter, func(p *sdk.Prompt, r *sdk.Row) bool { return brought(p, r) && !wentWrong(r) }},
		{slugAfter, brought},
	}, func(p sdk.Prompt, all []descent) (sdk.Prompt, error) {
		k.picture(&p)
		p.Tokens = k.estimate(&p)
		for i := range all { // which the next packet shows
			p.Tokens += tokensOf(view.Characters(all[i].text(p.Ceiling)) + toldCharacters)
		}
		return p, nil
	})
	return writes(&p, over, all), err
}
