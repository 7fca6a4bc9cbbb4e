package main

import (
	"context"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeAuth are the keys of a fake daemon; it keeps what it is given.
type fakeAuth struct {
	mu     sync.Mutex
	list   rpc.Keys
	lacks  []string
	logins []rpc.KeyLogin
	gone   []rpc.KeyRef
	given  []map[string]string
}

func (f *fakeAuth) Login(_ context.Context, p rpc.KeyLogin) (rpc.KeyKept, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logins = append(f.logins, p)
	kept := rpc.KeyKept{Name: p.Of, Place: rpc.KeyInMemory, File: "/c/credentials.json", Warnings: []string{"there is no keyring"}}
	if p.File {
		kept.Place, kept.Warnings = rpc.KeyInFile, nil
	}
	return kept, nil
}

func (f *fakeAuth) Logout(_ context.Context, p rpc.KeyRef) (rpc.KeyRemoved, error) {
	f.gone = append(f.gone, p)
	return rpc.KeyRemoved{Name: "OPENAI_API_KEY", From: []string{rpc.KeyInKeyring}, Still: rpc.KeyInEnvironment}, nil
}

func (f *fakeAuth) List() rpc.Keys { return f.list }

func (f *fakeAuth) Lacks() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lacks
}

// Give takes all that it is given.
func (f *fakeAuth) Give(_ context.Context, _ int, p rpc.KeysGive) (taken rpc.KeysTaken, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.given, f.lacks = append(f.given, p.Keys), nil
	for name := range p.Keys {
		taken.Taken = append(taken.Taken, name)
	}
	return taken, nil
}
