package main

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestGiven: a run that was given some paths to change changes no other, through links and with folders neither.
func TestGiven(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"src/a": "x", "src/d/b": "x", "docs/a": "x", "docs/d/b.pb.go": "x", "docs/d/c": "x", "src/out": "-> ../docs/a"})
	tp.given = givenOf(sdk.Invocation{Writes: []string{"src/**", "docs/*/*.pb.go", "docs/d", "gen/*.go"}})
	tp.unchangedBy(func() {
		for name, do := range map[string]func() error{
			"written":        func() error { _, err := tp.write(ctx, writeArgs{Path: "docs/a", Content: "y"}); return err },
			"through a link": func() error { _, err := tp.write(ctx, writeArgs{Path: "src/out", Content: "y"}); return err },
			"a folder above": func() error { _, err := tp.write(ctx, writeArgs{Path: "new/a", Content: "y"}); return err },
			"made":           func() error { _, err := tp.create(ctx, createArgs{Path: "docs/e"}); return err },
			"with a folder":  func() error { _, err := tp.delete(ctx, deleteArgs{Path: "docs/d", Recursive: true}); return err },
			"moved away":     func() error { _, err := tp.move(ctx, moveArgs{Source: "docs/a", Destination: "src/b"}); return err },
			"moved there":    func() error { _, err := tp.move(ctx, moveArgs{Source: "src/a", Destination: "docs/b"}); return err },
			"a folder to a file's": func() error {
				_, err := tp.copy(ctx, moveArgs{Source: "src/d", Destination: "docs/d/x.pb.go"})
				return err
			},
		} {
			err := do()
			t.Log(name)
			wantOutcome(t, err, sdk.Permission, "not given to this run")
		}
	})
	for name, do := range map[string]func() error{
		"written":       func() error { _, err := tp.write(ctx, writeArgs{Path: "gen/a.go", Content: "y"}); return err },
		"with a folder": func() error { _, err := tp.delete(ctx, deleteArgs{Path: "src/d", Recursive: true}); return err },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
