package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
)

type telegram struct{ settings settings }

type settings struct {
	Token string `hcl:"token" secret:"true" doc:"x"`
	API   string `hcl:"api" default:"https://api.telegram.org" doc:"x"`
}

func (t *telegram) configure(context.Context, sdk.Settings) error { return nil }
func (t *telegram) Serve(ctx context.Context, access channel.Access, say func(string)) error {
	return nil
}
