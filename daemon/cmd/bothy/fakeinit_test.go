package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What only clients of the run specification ask for.

func (f *fakeDaemon) Init(_ context.Context, root string) (sdk.Project, error) {
	return sdk.Project{ID: 1, Root: root}, nil
}

func (f *fakeDaemon) Add(context.Context, rpc.ModelAdd) (rpc.ModelAdded, error) {
	return rpc.ModelAdded{}, nil
}

func (f *fakeDaemon) Remove(context.Context, rpc.ModelRef) (rpc.ModelRemoved, error) {
	return rpc.ModelRemoved{}, nil
}
