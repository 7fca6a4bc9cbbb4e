package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// contextBlock is the block about the context of models: of a file for all, within a model block for that model,
// within an agent block for that agent.
const contextBlock = "context"

// contextUse is what the context block of an agent or a model says; there may be none.
func (l *loader) contextUse(of string, blocks hcl.Blocks) sdk.ContextUse {
	var set Config
	for i, b := range blocks {
		if i > 0 {
			l.reportAt(b.DefRange, "Block given twice", fmt.Sprintf("The %s has one context block; put both into one.", of))
			break
		}
		attrs := l.attributes(b)
		has := func(s setting) bool { return s.block == contextBlock }
		l.take(&set, contextBlock, attrs, has, "Unknown attribute", "context has no attribute %q; it has "+names(has)+".", nil)
		l.shares(set.Use, attrs)
	}
	return set.Use
}

// shares reports a context block that prunes above its own ceiling. Where another block has one of the two, the lower
// one counts.
func (l *loader) shares(u sdk.ContextUse, attrs hcl.Attributes) {
	if prune := attrs["prune_at"]; prune != nil && attrs["ceiling"] != nil && u.PruneAt > u.Ceiling && u.Ceiling > 0 {
		l.reportAt(prune.Expr.Range(), "Wrong value", fmt.Sprintf("context.prune_at is %g and the ceiling beside it %g: nothing above the ceiling is sent, so prune at most there.", u.PruneAt, u.Ceiling))
	}
}
