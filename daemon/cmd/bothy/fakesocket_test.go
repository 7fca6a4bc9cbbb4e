package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What only front ends ask for, and no verb.

func (f *fakeDaemon) Find(context.Context, rpc.FilesParams) (rpc.Files, error) {
	return rpc.Files{}, nil
}

func (f *fakeDaemon) Read(context.Context, rpc.FileParams) (rpc.FileText, error) {
	return rpc.FileText{}, nil
}

func (f *fakeDaemon) ScanProject(_ context.Context, root string) (sdk.Project, sdk.Scanned, error) {
	return sdk.Project{ID: 1, Root: root}, sdk.Scanned{Files: 1234, Changed: 1, Partial: true}, nil
}

// ConstrainProject takes the constraint for one that is kept.
func (f *fakeDaemon) ConstrainProject(_ context.Context, root, pattern string, to sdk.Constraint) (sdk.Project, sdk.Scanned, error) {
	f.constrained = pattern + " " + string(to)
	return sdk.Project{ID: 1, Root: root}, sdk.Scanned{Files: 3, Removed: 2}, nil
}

func (f *fakeDaemon) Tree(context.Context, sdk.Project, string) ([]rpc.TreeFile, error) {
	return []rpc.TreeFile{
		{ProjectFile: sdk.ProjectFile{Path: "a.go", FileFacts: sdk.FileFacts{Size: 2048, Tokens: 512}}},
		{ProjectFile: sdk.ProjectFile{Path: "vendor/b.go", FileFacts: sdk.FileFacts{Size: 1}}, Constraint: sdk.ConstraintReadOnly},
	}, nil
}

func (f *fakeDaemon) Constraints(context.Context, sdk.Project) ([]sdk.FileConstraint, error) {
	return []sdk.FileConstraint{{Pattern: "vendor", Constraint: sdk.ConstraintReadOnly}}, nil
}

func (f *fakeDaemon) AbortHeld(context.Context, int64) (int, error) { return 0, nil }

func (f *fakeDaemon) Release(context.Context, int64) (int, error) { return 0, nil }

func (f *fakeDaemon) TakeBack(context.Context, int64, int) (rpc.TakenBack, error) {
	return rpc.TakenBack{}, nil
}

// Cassette hands out that of a prompt which was to be recorded, in two pieces.
func (f *fakeDaemon) Cassette(_ context.Context, _ int64, prompt int, offset int64) (rpc.CassettePiece, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.prompts[prompt-1].Record {
		return rpc.CassettePiece{}, sdk.Errorf(sdk.NotFound, "nothing was recorded")
	}
	const text = "the cassette"
	next := min(offset+7, int64(len(text)))
	return rpc.CassettePiece{Size: int64(len(text)), Next: next, Text: text[offset:next]}, nil
}

func (f *fakeDaemon) CancelCall(context.Context, int64, string) ([]string, error) { return nil, nil }

// noStreams are no commands that clients run.
type noStreams struct{ server.Streams }

func (noStreams) LeaveStreams(string)                                       {}
func (noStreams) StreamsCancelled(func(string, int64, rpc.StreamCancelled)) {}

func (f *fakeDaemon) Scheme(string) (sdk.Scheme, bool) { return sdk.Scheme{}, false }

func (f *fakeDaemon) UseEntries(_ context.Context, _ bool, _ func(string) bool, run sdk.Run, calls []sdk.EntryCall) ([]sdk.EntryDone, error) {
	text, err := json.Marshal(calls)
	return []sdk.EntryDone{{Text: fmt.Sprintf("%s %s", run.Alias, text)}}, err
}

func (f *fakeDaemon) Touched(context.Context, int64) (map[int64]rpc.PromptFiles, error) {
	return nil, nil
}

func (f *fakeDaemon) CheckConfig(context.Context, rpc.ConfigCheck) rpc.ConfigChecked {
	return rpc.ConfigChecked{}
}

func (f *fakeDaemon) Guards(string, string) sdk.Guards { return sdk.Guards{} }

func (f *fakeDaemon) Price(string) *sdk.Price { return nil }

func (f *fakeDaemon) Usage(context.Context, time.Time, func(sdk.Used) error) error { return nil }
