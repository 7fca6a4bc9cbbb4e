package sdk

import "cmp"

// ContextUse is how much of a model's context prompts take, and what happens near its end. What is zero in one is said
// elsewhere: by the agent before the model, by that before the configuration's own block, and else by UsualContextUse.
type ContextUse struct {
	Ceiling   float64 `json:"ceiling,omitempty" kind:"share" default:"0.9" doc:"share of a model's context that a prompt may take; a longer one is not sent"`
	PruneAt   float64 `json:"prune_at,omitempty" kind:"share" default:"0.8" doc:"share of it from which the oldest answers with their results are left out; at most the ceiling"`
	WarnAt    float64 `json:"warn_at,omitempty" kind:"share" default:"0.7" doc:"share of it from which people are told that the conversation is long; 1 tells nobody"`
	KeepTurns int     `json:"keep_turns,omitempty" default:"5" doc:"how many of the last answers stay with their results while there is anything else to leave out"`
}

// UsualContextUse is what holds where nobody says anything else; the tags of ContextUse say it to people.
var UsualContextUse = ContextUse{Ceiling: 0.9, PruneAt: 0.8, WarnAt: 0.7, KeepTurns: 5}

// Or is u, and what it does not say as another one does.
func (u ContextUse) Or(other ContextUse) ContextUse {
	return ContextUse{
		Ceiling: cmp.Or(u.Ceiling, other.Ceiling), PruneAt: cmp.Or(u.PruneAt, other.PruneAt),
		WarnAt: cmp.Or(u.WarnAt, other.WarnAt), KeepTurns: cmp.Or(u.KeepTurns, other.KeepTurns),
	}
}

// Most is what a prompt may take of a context in tokens, so that maxTokens of answer still find room; 0 when the context is
// unknown.
func (u ContextUse) Most(context, maxTokens int) int {
	if context <= 0 {
		return 0
	}
	most := max(int(float64(context)*u.Or(UsualContextUse).Ceiling), 1) // 0 would be unknown
	return max(min(most, context-maxTokens), min(most, max(context/2, 1)))
}

// Prune is from where on a prompt is shortened, of which most tokens fit: the same share of that as of the whole context.
func (u ContextUse) Prune(most int) int {
	u = u.Or(UsualContextUse)
	return int(float64(most) * min(u.PruneAt/u.Ceiling, 1))
}

// Warns reports whether people are told of a prompt of so many tokens.
func (u ContextUse) Warns(tokens, context int) bool {
	at := u.Or(UsualContextUse).WarnAt
	return context > 0 && at < 1 && float64(tokens) > float64(context)*at
}
