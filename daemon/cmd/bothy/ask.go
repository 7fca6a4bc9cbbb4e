package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// asker shows proposals to a person at a terminal and takes the answers. What it
// answers with names the hash of what it showed.
type asker struct {
	c    *console
	cl   *client.Client
	seen string // the hash of what was shown whole: nothing else is let run
}

// errAnswered ends a question that somebody else has answered.
var errAnswered = errors.New("it was answered elsewhere")

const askHelp = `  y          run it, this once
  n          do not run it; the rest of the turn is given up. What follows the n
             is told to the model: n use the test database
  e          change it before it runs; it is judged again
  r          run it, and remember: what you choose then is not asked again in this project
  d          show everything that the answer is bound to
  no answer  is n. Ctrl-C aborts the whole run.`

// ask shows a proposal until there is an answer to it, and answers. Without one,
// because ctx is done, the error is its cause. What is typed counts from the
// moment that the question stands there.
func (a *asker) ask(ctx context.Context, p sdk.Proposal) error {
	if p.Question != nil {
		return a.askQuestion(ctx, p)
	}
	fmt.Fprintln(a.c.err)
	if err := a.show(p); err != nil {
		return err
	}
	for {
		yes := "y"
		if a.seen != p.Hash {
			yes = "y shows all first"
		}
		line, err := a.prompt(ctx, "Run it? ["+yes+"/N, e edit, r remember, d details, ? help] ")
		if err != nil {
			return err
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		done, err := false, error(nil)
		switch strings.ToLower(word) {
		case "y", "yes":
			done, err = a.accept(ctx, &p, sdk.RememberNothing)
		case "", "n", "no":
			done, err = a.answer(ctx, &p, rpc.Resolve{Answer: sdk.Reject, Reason: strings.TrimSpace(rest)})
		case "e", "edit":
			done, err = a.edit(ctx, &p)
		case "r", "remember":
			done, err = a.remember(ctx, &p)
		case "d", "details":
			err = a.details(p)
		case "?", "h", "help":
			a.c.say("%s", askHelp)
		default:
			a.c.say("  %s is no answer: ? lists them", a.c.exact(word))
		}
		if done || err != nil {
			return err
		}
	}
}

// whatLines is how many lines of what would run a question has: with why it is asked,
// and the line that asks, it has five.
const whatLines = 3

// show shows what would run and why it is asked.
func (a *asker) show(p sdk.Proposal) error {
	lines, whole := show.Question(p, a.c.errWidth(), whatLines)
	if a.seen = ""; whole {
		a.seen = p.Hash
	}
	_, err := io.WriteString(a.c.err, a.c.draw(lines))
	return err
}

// details shows all that the answer is bound to.
func (a *asker) details(p sdk.Proposal) error {
	a.seen = p.Hash
	return a.c.propose(p, true)
}

// prompt asks for one line. What was typed before it is forgotten, and nothing of what is
// typed once it is there.
func (a *asker) prompt(ctx context.Context, text string) (string, error) {
	if err := a.c.keys.forget(); err != nil {
		return "", err
	}
	fmt.Fprint(a.c.err, a.c.paint(bold, text))
	line, err := a.c.keys.line(ctx)
	if err != nil {
		fmt.Fprintln(a.c.err)
	}
	if errors.Is(err, io.EOF) {
		return "", nil // Ctrl-D says nothing, and that is no
	}
	return line, err
}

func (a *asker) accept(ctx context.Context, p *sdk.Proposal, r sdk.Remember) (bool, error) {
	if why := show.Unfit(*p); why != "" {
		a.c.say("  %s", a.c.paint(red, why))
		return false, nil
	}
	if a.seen != p.Hash {
		a.c.say("  this is all of it:")
		return false, a.details(*p)
	}
	return a.answer(ctx, p, rpc.Resolve{Answer: sdk.Accept, Remember: r})
}

// answer gives an answer to what was shown and says what came of it. It is not
// done when there is something to ask again, which p is then. Once given, an
// answer is not taken back when ctx ends.
func (a *asker) answer(ctx context.Context, p *sdk.Proposal, r rpc.Resolve) (bool, error) {
	ctx = context.WithoutCancel(ctx)
	r.ID, r.Hash = p.ID, p.Hash
	resolved, err := start.Again(ctx, a.c.daemon(), a.cl, func() (rpc.Resolved, error) { return a.cl.Resolve(ctx, r) })
	if err == nil {
		return a.took(p, r, resolved)
	}
	lost := errors.Is(err, client.ErrDisconnected)
	if !lost && sdk.OutcomeOf(err) != sdk.Conflict {
		var said *rpc.Error
		if !errors.As(err, &said) || sdk.OutcomeOf(err) == sdk.Permission && r.Answer != sdk.Edit {
			return true, err // nobody can answer from here
		}
		a.c.complain(err)
		return false, nil
	}
	a.c.complain(err)
	now, err := start.Again(ctx, a.c.daemon(), a.cl, func() (sdk.Proposal, error) { return a.cl.Proposal(ctx, p.ID) })
	switch {
	case err != nil || now.State != sdk.StateProposed:
		a.c.say("  the proposal was already answered, or it has expired: this answer counts for nothing")
		return true, nil
	case now.Hash != p.Hash:
		a.c.say("  it is another proposal by now:")
	case lost:
		a.c.say("  the answer did not arrive; it is asked again:")
	}
	*p = now
	return false, a.show(now)
}

// took goes on behind an answer. What it did is told by the journal, as that of
// others is; only the rule that it left, and what is to be asked next, is not.
func (a *asker) took(p *sdk.Proposal, r rpc.Resolve, resolved rpc.Resolved) (bool, error) {
	if r.Answer == sdk.Edit && resolved.Proposal.State == sdk.StateProposed {
		a.c.say("  it has to be asked about as it is now:")
		*p = resolved.Proposal
		return false, a.show(*p)
	}
	a.c.sayRule(resolved.Rule)
	return true, nil
}

// sayRule says which rule an answer left, and how to be rid of it.
func (c *console) sayRule(r *sdk.RememberedRule) {
	if r != nil {
		c.say("  remembered as rule %s: %s; `bothy policy forget %s` removes it", c.exact(r.ID), c.exact(ruleText(r.PolicyRule)), c.exact(r.ID))
	}
}

// remember asks what the rule is to be about: each is shown as it would be written. No
// answer accepts nothing.
func (a *asker) remember(ctx context.Context, p *sdk.Proposal) (bool, error) {
	if len(p.Offers) == 0 {
		a.c.say("  no rule can be made of this call")
		return false, nil
	}
	a.c.say("  Run it, and from now on, in %s:", a.c.exact(p.Project))
	var numbers []string
	for i, o := range p.Offers {
		style := show.Plain
		if o.Remember == sdk.RememberTool {
			style = show.Bad
		}
		numbers = append(numbers, strconv.Itoa(i+1))
		lead := show.Spans{{Style: show.Ask, Text: fmt.Sprintf("    %d  ", i+1)}}
		fmt.Fprint(a.c.err, a.c.draw(show.Flow(lead, o.Text, "       ", a.c.errWidth(), style)))
	}
	line, err := a.prompt(ctx, "  Which? ["+strings.Join(numbers, ", ")+"; nothing goes back] ")
	if err != nil {
		return false, err
	}
	if i := slices.Index(numbers, strings.TrimSpace(line)); i >= 0 {
		return a.accept(ctx, p, p.Offers[i].Remember)
	}
	return false, nil
}

// edit lets a person change the call and answers with what came of it.
func (a *asker) edit(ctx context.Context, p *sdk.Proposal) (bool, error) {
	arguments, err := a.edited(ctx, *p)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		a.c.complain(err)
		return false, nil
	case arguments == nil:
		a.c.say("  nothing was changed")
		return false, nil
	}
	return a.answer(ctx, p, rpc.Resolve{Answer: sdk.Edit, Arguments: arguments})
}

// propose shows a proposal where questions stand: on standard error.
func (c *console) propose(p sdk.Proposal, whole bool) error {
	width := columns(c.err, c.errTTY)
	if width > 0 {
		width = max(width, 40)
	}
	if _, err := io.WriteString(c.err, c.draw(show.Details(p, width, whole))); err != nil {
		return fmt.Errorf("showing the proposal: %w", err)
	}
	return nil
}

// asks reports whether there is a person to ask.
func (c *console) asks() bool { return c.inTTY && c.errTTY && c.keys != nil }
