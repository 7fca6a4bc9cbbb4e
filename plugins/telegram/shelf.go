package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// scheme is that of the entries in which the plugin keeps its records: no model sees them.
const scheme = "telegram"

// entries is a shelf of entries that the daemon keeps for the channel.
type entries struct{ daemon daemon }

// All implements shelf.
func (e entries) All(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	for p := (rpc.EntriesParams{Pattern: scheme + "://**", Limit: 1000}); ; {
		var page rpc.Entries
		if err := e.daemon.Call(ctx, rpc.MethodEntries, p, &page); err != nil {
			return nil, err
		}
		for _, entry := range page.Entries {
			all[entry.Path[len(scheme+"://"):]] = []byte(entry.Body)
		}
		if page.Next == 0 {
			return all, nil
		}
		p.Offset = page.Next
	}
}

// Put implements shelf.
func (e entries) Put(ctx context.Context, name string, content []byte) error {
	body := string(content)
	return e.daemon.Call(ctx, rpc.MethodSet, rpc.Set{Path: scheme + "://" + name, Body: &body}, nil)
}

var _ shelf = entries{}
