package packet

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Fit puts what the parts and others wrote together into one user message. Of a packet that is longer than its Ceiling (0 is
// unknown) entries are demoted, until it fits: the prompt that is returned is rendered with its rows as they are then, and the
// writes make the entries so. One that is too long all the same is an error of outcome overflow.
func (k *Packet) Fit(ctx context.Context, p sdk.Prompt, render func(context.Context, sdk.Prompt) (sdk.Prompt, error)) (sdk.Prompt, sdk.Fitting, error) {
	ctx = context.WithValue(ctx, rendering{}, k)
	p, err := k.whole(ctx, p, render)
	report := sdk.Fitting{Before: p.Tokens}
	if err != nil {
		return p, report, err
	}
	p, all, err := climb(p, rungs, func(p sdk.Prompt, _ []descent) (sdk.Prompt, error) {
		k.picture(&p)
		p, err := render(ctx, p)
		if err != nil {
			return p, err
		}
		return k.whole(ctx, p, render)
	})
	if report.After = p.Tokens; err != nil {
		return p, report, err // nobody knows whether it would have been enough
	}
	if report.Writes = writes(&p, p.Turn, all); p.Ceiling > 0 && p.Tokens > p.Ceiling {
		err = overflow(&p, all)
	}
	return p, report, err
}

// picture is that of the run's cache.
func (k *Packet) picture(p *sdk.Prompt) {
	c := k.cache(p.Run)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.picture(p)
}

// whole is a rendered prompt as it is sent: one user message, whose figures are those of the whole. Where it has others, as of
// what it was to fit before, it is written once more, and where others than the parts wrote in it.
func (k *Packet) whole(ctx context.Context, p sdk.Prompt, render func(context.Context, sdk.Prompt) (sdk.Prompt, error)) (sdk.Prompt, error) {
	if len(p.Messages) == 0 {
		return p, sdk.Errorf(sdk.Validation, "a hook of assembly.user left no message of the prompt")
	}
	media := p.Messages[0].Media
	written := func() (err error) {
		p.Messages = []sdk.Message{{Role: sdk.RoleUser, Media: media}}
		p, err = render(ctx, p)
		return err
	}
	f := k.figures(&p)
	if !says(&p, f) {
		if err := written(); err != nil {
			return p, err
		}
	}
	if more := k.characters(p.Messages) - f.characters; more != 0 {
		k.write(&p, more)
		if err := written(); err != nil {
			return p, err
		}
	}
	whole := joined(p.Messages)
	k.counted.whole(whole, k.characters(p.Messages), p.Messages)
	p.Messages = []sdk.Message{{Role: sdk.RoleUser, Text: whole, Media: media}}
	p.Tokens = k.Estimate(p)
	return p, nil
}

// joined are the texts of messages as one.
func joined(messages []sdk.Message) string {
	texts := make([]string, 0, len(messages))
	for i := range messages {
		if messages[i].Text != "" {
			texts = append(texts, messages[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}

// says reports whether a prompt that was rendered has these figures.
func says(p *sdk.Prompt, f *figures) bool {
	begin := "<budget" + f.attributes() + ">"
	for i := range p.Messages {
		if strings.HasPrefix(p.Messages[i].Text, begin) {
			return true
		}
	}
	return false
}

// extra is how many characters others than the parts wrote in the last user message of a run: the figures of the next one count
// with as many.
func (k *Packet) extra(p *sdk.Prompt) int { return int(k.cache(p.Run).extra.Load()) }

// write notes that there are so many more than were counted with.
func (k *Packet) write(p *sdk.Prompt, more int) { k.cache(p.Run).extra.Add(int64(more)) }
