package builtin

import (
	"context"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// knownScheme is that of facts, of which an entry holds one.
const knownScheme = "known"

// charsPerToken is how a text is counted that was shown to no model yet: as the packet counts (decision 133).
const charsPerToken = 2

// Bounded keeps entries of known:// to a number of tokens, which is asked for each time; 0 is no bound.
func (v *Verbs) Bounded(most func() int) *Verbs {
	v.most = most
	return v
}

// Fits says why entries do not hold what a plugin writes into a run without a verb; nil when they do. What verbs write
// is held to the same by their plan.
func (v *Verbs) Fits(ctx context.Context, run sdk.Run, writes []sdk.Write) error {
	return v.plan(ctx, sdk.EntryUse{Run: run, Writer: sdk.WriterPlugin}).fits(writes)
}

// fits refuses writes that leave more in an entry of known:// than one holds. What is there already and has more may
// be looked at, described and removed.
func (p *plan) fits(writes []sdk.Write) error {
	most := 0
	if p.most != nil {
		most = p.most()
	}
	left := map[string]int{} // characters, as the writes before leave them
	for _, w := range writes {
		if most <= 0 || w.Check || w.Look || w.Remove || w.Body == nil && w.Chunk == nil || sdk.SchemeOf(w.Path) != knownScheme {
			continue
		}
		size, err := p.sizeAfter(w, left)
		if err != nil {
			return err
		}
		left[w.Path] = size
		if tokens := (size + charsPerToken - 1) / charsPerToken; tokens > most {
			return sdk.Errorf(sdk.Overflow, "%s would have %d tokens, and an entry of known:// holds %d, which are %d characters: keep one fact in each, under a path of its own; a long text is a file",
				w.Path, tokens, most, most*charsPerToken)
		}
	}
	return nil
}

// sizeAfter is how many characters an entry has after a write.
func (p *plan) sizeAfter(w sdk.Write, left map[string]int) (int, error) {
	if w.Chunk == nil && !w.Append {
		return utf8.RuneCountInString(*w.Body), nil
	}
	size, known := left[w.Path]
	if !known {
		x, err := p.find(w.Path)
		if err != nil {
			return 0, err
		}
		size = utf8.RuneCountInString(x.Body)
	}
	if w.Chunk != nil {
		return size + utf8.RuneCountInString(w.Chunk.Text), nil
	}
	return size + utf8.RuneCountInString(*w.Body), nil
}
