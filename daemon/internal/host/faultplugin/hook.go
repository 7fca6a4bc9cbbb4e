package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// hookFaults hears turn.verdict and denies, dies, hangs, or waits for its end.
type hookFaults struct{}

func (hookFaults) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: "turn.verdict", Priority: sdk.DefaultPriority, Failure: sdk.FailClosed}}
}

func (hookFaults) Event(ctx context.Context, name string, payload json.RawMessage) error {
	switch name {
	case "run.deleted":
		return nil
	case "run.rested":
		return rested(ctx, payload)
	}
	return sdk.Errorf(sdk.NotFound, "nobody waits for %s", name)
}

// rested does what the rest says as its reason: it dies, waits for its end, or asks for an entry, and says what it was told.
func rested(ctx context.Context, payload json.RawMessage) error {
	var rest sdk.Rest
	if err := json.Unmarshal(payload, &rest); err != nil {
		return err
	}
	switch rest.Why {
	case "die":
		os.Exit(8)
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	case "ask":
		e, err := host.From(ctx).Entry(ctx, "known://a")
		if err == nil {
			err = sdk.Errorf(sdk.Conflict, "it has %s", e.Body)
		}
		return err
	}
	return nil
}

func (hookFaults) Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	switch string(value) {
	case `"die"`:
		os.Exit(8)
	case `"hang"`:
		forever()
	case `"wait"`:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return json.Marshal(name + " " + string(value))
}
