package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

type forgotten struct {
	Key string `json:"key" jsonschema:"what the facts are about, as recall and the memory have it"`
}

func (m *memory) forgetTool() tool.Func {
	return tool.Plain("forget", "Forgets all that is remembered under a key, for all later conversations.", m.forget).
		Annotated(sdk.Annotations{Idempotent: true, Destructive: true}).Keeps()
}

// forget removes all facts of a key.
func (m *memory) forget(ctx context.Context, in forgotten) (string, error) {
	facts, err := m.factsOf(ctx, tool.CallOf(ctx))
	if err != nil {
		return "", err
	}
	found := facts.under(in.Key)
	if len(found) == 0 {
		return fmt.Sprintf("nothing is remembered under %s", fact.Plain(in.Key)), nil
	}
	err = drop(ctx, found)
	if sdk.OutcomeOf(err) == sdk.Permission {
		err = agreedToForget(ctx, found)
	}
	switch {
	case err != nil:
		return "", err
	case len(found) == 1:
		return "1 fact is forgotten: " + found[0].Key, nil
	}
	return fmt.Sprintf("%d facts are forgotten: %s", len(found), found[0].Key), nil
}

// drop removes facts, all or none.
func drop(ctx context.Context, facts []fact.Fact) error {
	writes := make([]sdk.Write, len(facts))
	for i, f := range facts {
		writes[i] = sdk.Write{Path: f.Path, Remove: true}
	}
	_, err := host.From(ctx).Write(ctx, writes...)
	return err
}

// agreedToForget is agreedTo for what is to be forgotten.
func agreedToForget(ctx context.Context, facts []fact.Fact) error {
	message := "This conversation has read what came from outside. Shall this be forgotten?\n"
	for i, f := range facts {
		if i == 10 {
			message += fmt.Sprintf("\n... and %d more", len(facts)-i)
			break
		}
		message += "\n" + f.String()
	}
	answer, err := host.Question(ctx, sdk.Question{Message: message})
	switch {
	case sdk.OutcomeOf(err) == sdk.Unavailable && err != nil:
		return sdk.Errorf(sdk.Permission, "this conversation has read what came from outside, and nobody can be asked now whether this is to be forgotten; the person does it with bothy memory rm")
	case err != nil:
		return err
	case answer.Answer != sdk.Accept:
		return sdk.Errorf(sdk.Permission, "the person was asked and does not want it forgotten; go on without")
	}
	return drop(ctx, facts)
}
