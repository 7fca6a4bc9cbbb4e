package main

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sdk"
)

// exchange swaps two names over and over, each time in one step, until the test
// ends or stop is called.
func exchange(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil && err != unix.ENOENT {
					t.Errorf("exchange: %v", err)
					return
				}
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		wg.Wait()
	})
}

// raceRounds is how often calls are made while links change places; more, until
// some were done and some refused.
const raceRounds = 40

// TestSwappedLinks lets every operation go through a folder that is a link to a
// forbidden place every other moment. What is there must never change.
func TestSwappedLinks(t *testing.T) {
	for _, target := range []string{"../outside", ".git/hooks", "../../outside/dir", ".bothy"} {
		t.Run(target, func(t *testing.T) {
			ctx := context.Background()
			tp := newProject(t, map[string]string{
				"x/f": "fine", "x/d/f": "fine", "spare": "s", "y": "-> " + target,
				".git/hooks/f": "hook", ".git/hooks/d/f": "hook", ".bothy/f": "trusted", ".bothy/d/f": "trusted",
				"../outside/f": "out", "../outside/d/f": "out", "../outside/dir/f": "out",
			})
			watched := []string{"project/.git/", "project/.bothy/", "outside/"}
			before := tp.snapshot()
			stop := exchange(t, filepath.Join(tp.dir, "x"), filepath.Join(tp.dir, "y"))
			defer stop()

			done, refused := 0, 0
			count := func(err error) {
				switch sdk.OutcomeOf(err) {
				case sdk.Internal:
					if err != nil {
						t.Fatal(err)
					}
					done++
				case sdk.Permission:
					refused++
				}
			}
			for round := 0; round < raceRounds || done == 0 || refused == 0; round++ {
				_, err := tp.write(ctx, writeArgs{Path: "x/f", Content: "evil"})
				count(err)
				_, err = tp.write(ctx, writeArgs{Path: "x/d/new/f", Content: "evil"})
				count(err)
				_, err = tp.edit(ctx, editArgs{"x/f", "o", "evil"})
				count(err)
				_, err = tp.create(ctx, createArgs{Path: "x/d/made"})
				count(err)
				_, err = tp.delete(ctx, deleteArgs{Path: "x/d", Recursive: true})
				count(err)
				_, err = tp.copy(ctx, moveArgs{"spare", "x/g", true})
				count(err)
				_, err = tp.move(ctx, moveArgs{"x/g", "x/h", true})
				count(err)
				_, err = tp.move(ctx, moveArgs{"x/f", "x/i", true})
				count(err)
				got, err := tp.read(ctx, readArgs{Path: "x/f"})
				count(err)
				if got.text == "out" {
					t.Fatal("a file outside was read")
				}
			}
			stop()
			after := tp.snapshot()
			for name, what := range before {
				if isBelow(name, watched) && after[name] != what {
					t.Errorf("%s was %q and is %q", name, what, after[name])
				}
			}
			for name := range after {
				if _, ok := before[name]; !ok && isBelow(name, watched) {
					t.Errorf("%s appeared", name)
				}
			}
		})
	}
}

func isBelow(name string, folders []string) bool {
	for _, folder := range folders {
		if len(name) > len(folder) && name[:len(folder)] == folder {
			return true
		}
	}
	return false
}

// TestSwappedFinalLink does the same with the last name of the path.
func TestSwappedFinalLink(t *testing.T) {
	ctx := context.Background()
	for _, target := range []string{".git/config", "../outside/secret"} {
		tp := newProject(t, map[string]string{".git/config": "secret", "x": "fine", "y": "-> " + target})
		stop := exchange(t, filepath.Join(tp.dir, "x"), filepath.Join(tp.dir, "y"))
		for range raceRounds {
			// A write may replace the link itself, and then there is no race left.
			_, err := tp.write(ctx, writeArgs{Path: "x", Content: "fine"})
			if outcome := sdk.OutcomeOf(err); err != nil && outcome != sdk.Permission && outcome != sdk.Conflict {
				t.Error(err)
				break
			}
			if got, _ := tp.read(ctx, readArgs{Path: "x"}); got.text == "secret" && target != ".git/config" {
				t.Error("a file outside was read")
			}
			_, err = tp.edit(ctx, editArgs{"x", "e", "evil"})
			if err != nil && sdk.OutcomeOf(err) == sdk.Internal {
				t.Error(err)
				break
			}
		}
		stop()
		if tp.get(".git/config") != "secret" || tp.get("../outside/secret") != "secret" {
			t.Fatal("a swapped link was written through")
		}
	}
}

// TestSwappedFifo lets a folder become a fifo between looking and opening. No
// call may hang on it.
func TestSwappedFifo(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"x/f": "fine", "d/g": "x"})
	if err := unix.Mkfifo(filepath.Join(tp.dir, "y"), 0o644); err != nil {
		t.Fatal(err)
	}
	stop := exchange(t, filepath.Join(tp.dir, "x"), filepath.Join(tp.dir, "y"))
	defer stop()
	fine := func(err error) {
		if err != nil && sdk.OutcomeOf(err) == sdk.Internal {
			t.Error(err)
		}
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for range raceRounds {
			_, err := tp.read(ctx, readArgs{Path: "x/f"})
			fine(err)
			_, err = tp.write(ctx, writeArgs{Path: "x/f", Content: "new"})
			fine(err)
			_, err = tp.create(ctx, createArgs{Path: "x/made/deep"})
			fine(err)
			_, err = tp.read(ctx, readArgs{Path: "x"})
			fine(err)
			_, err = tp.list(ctx, listArgs{Recursive: true})
			fine(err)
			_, err = tp.list(ctx, listArgs{Path: "x"})
			fine(err)
			_, err = tp.grep(ctx, grepArgs{Pattern: "e"})
			fine(err)
		}
	}()
	select {
	case <-finished:
	case <-time.After(5 * time.Minute):
		t.Fatal("a call hangs on a fifo")
	}
}

// TestSwappedLinksAfterStaging stages calls through such a folder and carries
// out what was shown.
func TestSwappedLinksAfterStaging(t *testing.T) {
	for _, target := range []string{"../outside", ".git/hooks", ".bothy"} {
		s := newStaging(t, map[string]string{
			"x/f": "fine", "spare": "s", "y": "-> " + target,
			".git/hooks/f": "hook", ".bothy/f": "trusted", "../outside/f": "out",
		})
		watched := []string{"project/.git/", "project/.bothy/", "outside/"}
		before := s.snapshot()
		stop := exchange(t, filepath.Join(s.dir, "x"), filepath.Join(s.dir, "y"))
		done, refused := 0, 0
		took := func() bool { return done > 0 && refused > 0 } // the race, on a busy machine later
		for round := 0; round < raceRounds || !took(); round++ {
			for _, c := range []struct {
				tool      string
				arguments object
			}{
				{"write_file", object{"path": "x/f", "content": time.Now().String()}},
				{"write_file", object{"path": "x/new/f", "content": "evil"}},
				{"copy_path", object{"source": "spare", "destination": "x/g", "overwrite": true}},
				{"delete_path", object{"path": "x/g"}},
			} {
				staged, err := s.stage(c.tool, c.arguments)
				if err != nil {
					if outcome := sdk.OutcomeOf(err); outcome == sdk.Internal {
						t.Fatal(err)
					}
					continue
				}
				if strings.Contains(staged.Diff, "hook") || strings.Contains(staged.Diff, "trusted") || strings.Contains(staged.Diff, "-out") {
					t.Fatalf("a forbidden file was shown: %s", staged.Diff)
				}
				switch got := s.invoke(c.tool, c.arguments, staged.Base); {
				case got.Success:
					done++
				case got.Outcome == sdk.Internal:
					t.Fatal(got.Error)
				default:
					refused++
				}
			}
		}
		stop()
		after := s.snapshot()
		for name, what := range before {
			if isBelow(name, watched) && after[name] != what {
				t.Errorf("%s was %q and is %q", name, what, after[name])
			}
		}
		for name := range after {
			if _, ok := before[name]; !ok && isBelow(name, watched) {
				t.Errorf("%s appeared", name)
			}
		}
	}
}
