package view

import (
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// charsPerToken is the transcript's estimate until usage calibrates it.
const charsPerToken = 4

// perMessage is what a message costs beside its text.
const perMessage = 4

// Tokens estimates a text: its characters divided by four, rounded up.
func Tokens(text string) int {
	return (characters(text) + charsPerToken - 1) / charsPerToken
}

// characters counts them. Text is ASCII for the most part, which is looked at eight bytes at a
// time: every text of a conversation is counted at every turn.
func characters(text string) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		s := text[i : i+8]
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&utf8.RuneSelf != 0 {
			break
		}
	}
	return i + utf8.RuneCountInString(text[i:])
}

// Estimate counts a whole prompt in tokens of its model, by what the model's
// server has reported so far.
func (t *Transcript) Estimate(p sdk.Prompt) int {
	return Scaled(promptTokens(p), t.ratios.Of(p.Model))
}

// Observe calibrates the estimate of a model by what its server reported for a
// prompt that was sent as it is here. No answer needs to keep that: a conversation has none of it to be the same again.
func (t *Transcript) Observe(p sdk.Prompt, usage sdk.Usage) float64 {
	if ratio := Counted(promptTokens(p), usage); ratio > 0 {
		t.ratios.Set(p.Model, ratio)
	}
	return 0
}

// Ratio is what the server of a prompt's model counted for each token of an estimate.
func (t *Transcript) Ratio(p sdk.Prompt) float64 { return t.ratios.Of(p.Model) }

// Calibrate has the estimates of a model be by a ratio that was observed before.
func (t *Transcript) Calibrate(model string, ratio float64) { t.ratios.Set(model, ratio) }

func promptTokens(p sdk.Prompt) int {
	n := fixedTokens(p)
	for i := range p.Messages {
		n += messageTokens(&p.Messages[i])
	}
	return n
}

// fixedTokens is what no fitting can take away: system text and tools.
func fixedTokens(p sdk.Prompt) int {
	n := Tokens(p.System)
	for i := range p.Tools {
		spec := &p.Tools[i].ToolSpec
		n += perMessage + Tokens(spec.Name) + Tokens(spec.Description) + (len(spec.Parameters)+charsPerToken-1)/charsPerToken
	}
	return n
}

// messageTokens counts reasoning only with calls: no provider sends back what was thought
// before an answer without any.
func messageTokens(m *sdk.Message) int {
	n := perMessage + Tokens(m.Text) + (len(m.Extra)+charsPerToken-1)/charsPerToken
	if len(m.Calls) > 0 {
		n += Tokens(m.Reasoning)
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		n += perMessage + Tokens(c.Tool) + Tokens(c.Arguments)
	}
	for i := range m.Media {
		n += mediumTokens(&m.Media[i])
	}
	return n
}
