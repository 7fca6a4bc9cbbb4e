package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/bothyd/bothy/sdk"
)

// hookFaults hears turn.verdict and denies, dies, hangs, or waits for its end.
type hookFaults struct{}

func (hookFaults) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: "turn.verdict", Priority: sdk.DefaultPriority, Failure: sdk.FailClosed}}
}

func (hookFaults) Event(_ context.Context, name string, _ json.RawMessage) error {
	if name == "run.deleted" {
		return nil
	}
	return sdk.Errorf(sdk.NotFound, "nobody waits for %s", name)
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
