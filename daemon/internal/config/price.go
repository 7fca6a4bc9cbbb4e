package config

import (
	"fmt"
	"math"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// priceBlock is what a million tokens cost, within a model or provider block. A block
// of the user's file takes the place of a whole block of the defaults.
type priceBlock struct {
	Prompt     float64  `hcl:"prompt"`
	Cached     *float64 `hcl:"cached"`
	Completion float64  `hcl:"completion"`
}

// price takes over the price of a block; nil is none.
func (l *loader) price(r hcl.Range, blocks []priceBlock) *sdk.Price {
	if len(blocks) == 0 {
		return nil
	}
	b := blocks[0]
	for _, x := range []struct {
		name  string
		value float64
	}{{"prompt", b.Prompt}, {"cached", or(b.Cached, 0)}, {"completion", b.Completion}} {
		if !(x.value >= 0 && x.value <= math.MaxFloat32) {
			l.reportAt(r, "Wrong value", fmt.Sprintf("price: %s is %g and cannot be negative; it is what a million tokens cost.", x.name, x.value))
			return nil
		}
	}
	return &sdk.Price{Prompt: b.Prompt, Cached: b.Cached, Completion: b.Completion}
}
