package main

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Keeper says that no channel is here.
func (f *fakeDaemon) Keeper(context.Context, sdk.Origin) (sdk.Run, error) {
	return sdk.Run{}, sdk.Errorf(sdk.Unavailable, "there are no channels here")
}

// fakePeople are those of the channel chat.
type fakePeople struct{ all []rpc.ListedPerson }

func (f *fakePeople) Person(id string) (sdk.Person, bool) {
	i := slices.IndexFunc(f.all, func(p rpc.ListedPerson) bool { return p.ID == id })
	if i < 0 {
		return sdk.Person{}, false
	}
	return f.all[i].Person, true
}

func (f *fakePeople) List(channel string) (found []rpc.ListedPerson) {
	for _, p := range f.all {
		if channel == "" || p.Channel == channel {
			found = append(found, p)
		}
	}
	return found
}

func (f *fakePeople) Add(_ context.Context, p rpc.PersonAdd) (rpc.PersonAdded, error) {
	id := sdk.PersonID(p.Channel, p.Person)
	f.all = append(f.all, rpc.ListedPerson{Person: sdk.Person{ID: id, Name: p.Name, Agent: p.Agent, Owner: p.Owner}, Channel: p.Channel, Called: p.Person})
	return rpc.PersonAdded{ID: id, File: "/c/config.hcl", Changed: true}, nil
}

func (f *fakePeople) Learning(context.Context, rpc.Learning) (rpc.LearningSet, error) {
	return rpc.LearningSet{File: "/c/config.hcl", Changed: true}, nil
}

func (f *fakePeople) Remove(_ context.Context, p rpc.PersonRef) (rpc.PersonRemoved, error) {
	id := sdk.PersonID(p.Channel, p.Person)
	if _, known := f.Person(id); !known {
		return rpc.PersonRemoved{}, sdk.Errorf(sdk.NotFound, "there is no block person %q", p.Channel+"/"+p.Person)
	}
	f.all = slices.DeleteFunc(f.all, func(x rpc.ListedPerson) bool { return x.ID == id })
	return rpc.PersonRemoved{ID: id, File: "/c/config.hcl"}, nil
}

// Owns says that nothing is.
func (f *fakeDaemon) Owns(context.Context, string) (bool, error) { return false, nil }
