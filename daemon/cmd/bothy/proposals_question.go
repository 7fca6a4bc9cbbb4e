package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type proposalsAnswerCmd struct {
	proposalArg
	Fields []string `arg:"" optional:"" placeholder:"FIELD=VALUE" help:"What the question wants to know; on a terminal it is asked for when absent."`
	Data   string   `placeholder:"JSON" help:"The whole answer, a JSON object; - reads it from standard input."`
	Cancel bool     `help:"Leave the question without an answer."`
}

// Help adds to the verb's help.
func (proposalsAnswerCmd) Help() string {
	return `A plugin may ask you something while it works, and waits an hour at most. What you answer goes to it alone: nobody keeps it. A model asks too (the tool ask_user), and reads what you answer. ` + "`bothy proposals show`" + ` has the names of the fields; 'bothy proposals reject' says that you will not answer. A word on a command line can be read by others of this machine: give a password on the terminal, or by --data -.

Examples:

    bothy proposals answer 1a2b3c4d
    bothy proposals answer 1a2b3c4d city=Bern nights=2
    bothy proposals answer 1a2b3c4d --data '{"city": "Bern"}'
`
}

// Run answers a question.
func (cmd proposalsAnswerCmd) Run(ctx context.Context, c *console) error {
	if cmd.Data != "" && len(cmd.Fields) > 0 || cmd.Cancel && (cmd.Data != "" || len(cmd.Fields) > 0) {
		return usageError{"say FIELD=VALUE, --data or --cancel: each is an answer"}
	}
	if cmd.Data == "-" {
		text, err := c.readInput()
		if err != nil {
			return err
		}
		cmd.Data = text
	}
	return c.withProposal(ctx, cmd.ID, "", func(cl *client.Client, p sdk.Proposal) error {
		if p.Question == nil {
			return usageError{"proposal " + c.exact(p.ID) + " is no question but a call: `bothy proposals accept` lets it run"}
		}
		r := rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Data: json.RawMessage(cmd.Data)}
		switch {
		case cmd.Cancel:
			r.Answer = sdk.Cancel
		case cmd.Data != "":
		case len(cmd.Fields) == 0 && c.asks():
			return (&asker{c: c, cl: cl}).askQuestion(ctx, p)
		default:
			var err error
			if r.Data, err = cmd.fields(c, *p.Question); err != nil {
				return err
			}
		}
		return c.resolve(ctx, cl, r)
	})
}

// fields are the answer that words make; a field without one has its default.
func (cmd proposalsAnswerCmd) fields(c *console, q sdk.Question) (json.RawMessage, error) {
	fields, err := q.Fields()
	if err != nil {
		return nil, err
	}
	typed := map[string]string{}
	for _, word := range cmd.Fields {
		name, value, ok := strings.Cut(word, "=")
		if !ok || !slices.ContainsFunc(fields, func(f sdk.Field) bool { return f.Name == name }) {
			return nil, usageError{c.exact(word) + " is no FIELD=VALUE of the question" + wanted(fields)}
		}
		typed[name] = value
	}
	given := map[string]json.RawMessage{}
	for _, f := range fields {
		value, err := f.Read(typed[f.Name])
		if err != nil {
			return nil, usageError{c.exact(err.Error()) + wanted(fields)}
		}
		if value != nil {
			given[f.Name] = value
		}
	}
	return answerData(q, given)
}

// wanted names the fields of a question behind what is wrong with an answer.
func wanted(fields []sdk.Field) string {
	var names []string
	for _, f := range fields {
		name := show.ExactLine(f.Name)
		if hint := f.Hint(); hint != "" {
			name += " (" + hint + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "; it wants none"
	}
	return "; it wants " + strings.Join(names, ", ")
}

// asksWhat is what a question asks; empty for a call.
func asksWhat(p sdk.Proposal) string {
	if p.Question == nil {
		return ""
	}
	return p.Question.Message
}
