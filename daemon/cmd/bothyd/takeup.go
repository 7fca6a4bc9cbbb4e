package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// takeUpTime is longer than a daemon waits for plugins that start, and then for those
// that are exchanged.
const takeUpTime = 30 * time.Second

// takeUp has the daemon that runs put the configuration in force which a verb has
// changed, and returns when that is done: what it did, as the end of a sentence. The
// error says why a plugin of these labels does not serve then, or that it could not be
// asked. A daemon of another configuration is left alone.
func takeUp(files *inspect.Files, labels ...string) (did string, err error) {
	ctx, stop := interruptible()
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, takeUpTime)
	defer cancel()
	cl := client.Client{Name: "bothyd", Role: rpc.RoleAdmin}
	defer func() { _ = cl.Close() }() // all was asked
	const later = "a daemon takes it up when it starts"
	var down *client.NotRunningError
	switch now, err := cl.Status(ctx); {
	case errors.As(err, &down) || err == nil && now.Config != files.Path:
		return later, nil
	case err != nil:
		return later, fmt.Errorf("the daemon that runs could not be asked to take it up: %w", err)
	}
	r, err := cl.Reload(ctx)
	if err != nil {
		return later, fmt.Errorf("the daemon that runs did not take it up: %w", err)
	}
	if !r.Applied {
		return "the daemon that runs goes on with what it had", sdk.Errorf(sdk.Validation, "the daemon that runs did not take it up, since its configuration has a mistake: bothy config check shows it")
	}
	list, err := settled(ctx, &cl, labels)
	for _, p := range list {
		if p.State != "ready" && p.State != "stopped" {
			err = errors.Join(err, sdk.Errorf(sdk.Unavailable, "%s does not serve, it is %s: %s", p.Instance, p.State, cmp.Or(p.Error, "it has not come up yet")))
		}
	}
	return "the daemon that runs has taken it up", err
}

// settled are the plugins of these labels once none of them is starting, or as they are when
// ctx ends.
func settled(ctx context.Context, cl *client.Client, labels []string) ([]rpc.Plugin, error) {
	for {
		list, err := cl.Plugins(ctx)
		list = slices.DeleteFunc(list, func(p rpc.Plugin) bool { return !slices.Contains(labels, p.Instance) })
		if err != nil || !slices.ContainsFunc(list, func(p rpc.Plugin) bool { return p.State == "starting" }) {
			return list, err
		}
		select {
		case <-ctx.Done():
			return list, nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}
