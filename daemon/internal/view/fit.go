package view

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// block is how many groups go at a time: the start of a prompt then stays the
// same for some turns, and servers that keep it need not read it again.
const block = 4

// segment is what stays or goes together: a prompt, or an answer with the
// results of its calls.
type segment struct {
	messages []sdk.Message
	raw      int // tokens, uncalibrated
	turn     bool
	calls    bool
	keep     bool
	skill    bool // it holds the text of a skill that the model works by
	gone     bool
}

// fitting is one Fit at work.
type fitting struct {
	p        sdk.Prompt
	ratio    float64
	raw      int // tokens of what is left, uncalibrated
	segments []segment
	report   sdk.Fitting
}

// Fit makes a prompt fit its Ceiling (0 is unknown: nothing is done). The
// oldest answers with their results go first, then old answers and prompts
// without calls; system text, first prompt, current prompt and the last turns
// (KeepTurns of its Use) stay. One message says what went. If that is not enough,
// the longest results are shortened, then the oldest of those turns go. The text of a skill goes
// after all that: first by whole segments, the oldest first, then it is
// shortened where it stays. A prompt that still does not fit is an error of
// outcome overflow.
func (t *Transcript) Fit(_ context.Context, p sdk.Prompt, _ func(context.Context, sdk.Prompt) (sdk.Prompt, error)) (sdk.Prompt, sdk.Fitting, error) {
	f := &fitting{p: p, ratio: t.ratios.Of(p.Model), raw: fixedTokens(p), segments: split(p.Messages)}
	for i := range f.segments {
		f.raw += f.segments[i].raw
	}
	before := f.tokens()
	f.report = sdk.Fitting{Before: before, After: before}
	prune := p.Use.Prune(p.Ceiling)
	if p.Ceiling <= 0 || before <= prune {
		p.Tokens = before
		return p, f.report, nil
	}
	f.protect()
	f.drop(prune, func(s *segment) bool { return s.calls && !s.skill })
	f.drop(prune, func(s *segment) bool { return !s.skill })
	for _, more := range []func(){
		func() { f.shorten(func(m *sdk.Message) bool { return isResult(m) && m.Skill == "" }) },
		func() { f.dropKept(func(s *segment) bool { return !s.skill }) },
		f.dropSkills,
		func() { f.shorten(isResult) },
	} {
		if f.tokens() > p.Ceiling {
			more()
		}
	}
	p.Messages = f.messages()
	p.Tokens = Scaled(promptTokens(p), f.ratio)
	f.report.After = p.Tokens
	if p.Tokens > p.Ceiling {
		return p, f.report, sdk.Errorf(sdk.Overflow,
			"the prompt needs about %d tokens and at most %d fit model %s: shorten the prompt or the project's instructions, offer fewer tools, or choose a model with a larger context",
			p.Tokens, p.Ceiling, p.Model)
	}
	return p, f.report, nil
}

// isResult reports whether a message is what calls came to.
func isResult(m *sdk.Message) bool { return m.Role == sdk.RoleTool || m.Results > 0 }

func split(messages []sdk.Message) []segment {
	segments := make([]segment, 0, len(messages))
	for i := range messages {
		m := &messages[i]
		tokens := messageTokens(m)
		if isResult(m) && len(segments) > 0 {
			last := &segments[len(segments)-1]
			last.calls = true
			last.messages = messages[i-len(last.messages) : i+1 : i+1]
			last.raw += tokens
			last.skill = last.skill || m.Skill != ""
			continue
		}
		segments = append(segments, segment{
			messages: messages[i : i+1 : i+1], raw: tokens,
			turn: m.Role == sdk.RoleAssistant, calls: len(m.Calls) > 0, skill: m.Skill != "",
		})
	}
	return segments
}

// protect marks what stays: the first and the last prompt and the last turns.
func (f *fitting) protect() {
	first, last, turns := -1, -1, 0
	for i := range f.segments {
		if !f.segments[i].turn {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	for i := len(f.segments) - 1; i >= 0; i-- {
		s := &f.segments[i]
		if s.turn && turns < f.p.Use.Or(sdk.UsualContextUse).KeepTurns {
			s.keep = true
			turns++
		}
		s.keep = s.keep || i == first || i == last
	}
}

// drop takes segments that stay not and satisfy which, oldest first, until the
// prompt has at most limit tokens.
func (f *fitting) drop(limit int, which func(*segment) bool) {
	taken := 0
	for i := range f.segments {
		if f.tokens() <= limit && taken%block == 0 {
			return
		}
		if s := &f.segments[i]; !s.keep && !s.gone && which(s) {
			f.remove(s)
			taken++
		}
	}
}

// dropKept gives up the kept turns that satisfy which, oldest first, all but the
// last turn.
func (f *fitting) dropKept(which func(*segment) bool) {
	var turns []*segment
	for i := range f.segments {
		if s := &f.segments[i]; s.turn && !s.gone {
			turns = append(turns, s)
		}
	}
	for i := 0; i < len(turns)-1 && f.tokens() > f.p.Ceiling; i++ {
		if which(turns[i]) {
			f.remove(turns[i])
		}
	}
}

// dropSkills gives up the texts of skills: old prompts that hold one, then
// turns.
func (f *fitting) dropSkills() {
	for i := range f.segments {
		if s := &f.segments[i]; s.skill && !s.turn && !s.keep && !s.gone && f.tokens() > f.p.Ceiling {
			f.remove(s)
		}
	}
	f.dropKept(func(*segment) bool { return true })
}

func (f *fitting) remove(s *segment) {
	s.gone = true
	f.raw -= s.raw
	if s.turn {
		f.report.Groups++
	} else {
		f.report.Prompts++
	}
}

// tokens estimates what is left, with room for the message about what went.
func (f *fitting) tokens() int {
	raw := f.raw
	if f.report.Groups+f.report.Prompts > 0 {
		raw += summaryTokens
	}
	return Scaled(raw, f.ratio)
}

// messages puts together what is left, with one summary where the first
// segment went.
func (f *fitting) messages() []sdk.Message {
	left := 1 // for the summary
	for i := range f.segments {
		if !f.segments[i].gone {
			left += len(f.segments[i].messages)
		}
	}
	out := make([]sdk.Message, 0, left)
	summarized := false
	for i := range f.segments {
		s := &f.segments[i]
		if !s.gone {
			out = append(out, s.messages...)
		} else if !summarized {
			summarized = true
			out = append(out, summary(f.segments))
		}
	}
	return out
}
