package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// providerFaults is a provider whose model's name says what goes wrong.
type providerFaults struct{}

func (providerFaults) Models(context.Context) ([]sdk.Model, error) {
	return []sdk.Model{{Name: "good", Context: 1000}}, nil
}

func (providerFaults) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	name, value, _ := strings.Cut(req.Model, "=")
	switch name {
	case "crash":
		os.Exit(7)
	case "limited":
		return &sdk.ProviderError{Class: sdk.ClassRateLimit, Message: "slow down", Status: 429, RetryAfter: time.Hour}
	case "once":
		if _, err := os.Stat(value); err == nil {
			break
		}
		if err := os.WriteFile(value, nil, 0o600); err != nil {
			return err
		}
		return &sdk.ProviderError{Class: sdk.ClassServer, Message: "try again", Status: 500, RetryAfter: time.Millisecond}
	case "cut":
		return send(sdk.Delta{Text: "half an ans"})
	case "mute":
		<-ctx.Done()
		return ctx.Err()
	case "stall":
		if err := send(sdk.Delta{Text: "and then"}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	for _, d := range []sdk.Delta{{Text: "hel"}, {Text: "lo"}, {Usage: &sdk.Usage{Total: 3}}, {Finish: &sdk.Finish{Reason: "stop"}}} {
		if err := send(d); err != nil {
			return err
		}
	}
	return nil
}
