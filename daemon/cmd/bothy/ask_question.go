package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

const questionHelp = `  y          answer it: what is wanted is asked for, one by one
  n          do not answer it, and say so
  c          leave it without an answer
  d          show all of it
  no answer  is n. What you answer goes to the plugin that asks, and is not kept.`

// askQuestion shows what a plugin asks until the person has answered, or has said that they will
// not. Without either, because ctx is done, the error is its cause.
func (a *asker) askQuestion(ctx context.Context, p sdk.Proposal) error {
	fmt.Fprintln(a.c.err)
	if err := a.show(p); err != nil {
		return err
	}
	for {
		what := "Answer it?"
		if p.Question.URL != "" {
			what = "Will you open it?"
		}
		yes := "y"
		if a.seen != p.Hash {
			yes = "y shows all first"
		}
		line, err := a.prompt(ctx, what+" ["+yes+"/N, c leave it, d details, ? help] ")
		if err != nil {
			return err
		}
		done := false
		switch word := strings.ToLower(strings.TrimSpace(line)); word {
		case "y", "yes":
			done, err = a.answerFields(ctx, &p)
		case "", "n", "no":
			done, err = a.answer(ctx, &p, rpc.Resolve{Answer: sdk.Reject})
		case "c", "cancel":
			done, err = a.answer(ctx, &p, rpc.Resolve{Answer: sdk.Cancel})
		case "d", "details":
			err = a.details(p)
		case "?", "h", "help":
			a.c.say("%s", questionHelp)
		default:
			a.c.say("  %s is no answer: ? lists them", a.c.exact(word))
		}
		if done || err != nil {
			return err
		}
	}
}

// answerFields asks for what a question wants to know, and answers with that.
func (a *asker) answerFields(ctx context.Context, p *sdk.Proposal) (bool, error) {
	if a.seen != p.Hash {
		a.c.say("  this is all of it:")
		return false, a.details(*p)
	}
	fields, err := p.Question.Fields()
	if err != nil {
		return false, err
	}
	given := map[string]json.RawMessage{}
	for _, f := range fields {
		value, err := a.field(ctx, f)
		switch {
		case errors.Is(err, io.EOF):
			a.c.say("  nothing is answered yet")
			return false, nil
		case err != nil:
			return false, err
		case value != nil:
			given[f.Name] = value
		}
	}
	data, err := answerData(*p.Question, given)
	if err != nil {
		return false, err
	}
	return a.answer(ctx, p, rpc.Resolve{Answer: sdk.Accept, Data: data})
}

// answerData is the data of an answer; nil where none is wanted.
func answerData(q sdk.Question, given map[string]json.RawMessage) (json.RawMessage, error) {
	if q.Schema == nil {
		return nil, nil
	}
	return json.Marshal(given)
}

// field asks for one thing until what is typed fits. The error is io.EOF when the person ends it.
func (a *asker) field(ctx context.Context, f sdk.Field) (json.RawMessage, error) {
	fmt.Fprint(a.c.err, a.c.draw(show.Field(f, a.c.errWidth())))
	for {
		if err := a.c.keys.forget(); err != nil {
			return nil, err
		}
		fmt.Fprint(a.c.err, a.c.paint(bold, "  > "))
		read := a.c.keys.line
		if f.Secret() {
			read = a.c.keys.unseen
		}
		line, err := read(ctx)
		if err != nil {
			fmt.Fprintln(a.c.err)
			return nil, err
		}
		value, err := f.Read(line)
		if err == nil {
			return value, nil
		}
		a.c.say("    %s", a.c.exact(err.Error()))
	}
}
