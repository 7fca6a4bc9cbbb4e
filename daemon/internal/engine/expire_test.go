package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

const day = 24 * time.Hour

// aged is a house whose clock can be moved.
func aged(t *testing.T, steps ...step) (*house, func(time.Duration)) {
	h := prepareHouse(t, steps...)
	var mu sync.Mutex
	var ahead time.Duration
	h.config.Clock = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}
	h.start()
	return h, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		ahead = d
	}
}

var week = Keep{Sandbox: 7 * day, Run: 31 * day}

// spec: wrong_retention
func TestExpire(t *testing.T) {
	begun := make(chan struct{}, 1)
	h, move := aged(t, say("one"), hanging(begun))
	x := listen(h)
	rest := h.submit(Submission{Run: "rests"})
	h.await(rest)
	busy := h.submit(Submission{Run: "works"})
	<-begun
	if _, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "read", Arguments: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	pass := func(keep Keep, want string) {
		t.Helper()
		if err := h.engine.Expire(t.Context(), keep); err != nil {
			t.Error(err)
		}
		if got := x.take(); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
	move(6 * day)
	pass(week, "")
	move(8 * day)
	pass(Keep{}, "")
	pass(week, "expired rests, expired tools")
	pass(week, "")
	if h.kinds(rest.Run.ID) != "run.created run.expired" || h.kinds(busy.Run.ID) != "run.created" {
		t.Errorf("%s; %s", h.kinds(rest.Run.ID), h.kinds(busy.Run.ID))
	}
	h.run(Submission{Run: "rests"}) // works and rests again
	move(8 * day)
	pass(week, "expired rests")
	move(40 * day)
	pass(Keep{Sandbox: 7 * day}, "")
	pass(week, "deleted tools, deleted rests")
	if _, err := h.store.Run(t.Context(), rest.Run.ID); sdk.OutcomeOf(err) != sdk.NotFound || h.runFolder(rest.Run.Key) {
		t.Errorf("the run is still there: %v", err)
	}
	if h.kinds(rest.Run.ID) != "run.created run.expired run.expired run.deleted" {
		t.Error(h.kinds(rest.Run.ID))
	}
	if err := h.engine.Abort(t.Context(), busy.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.check(busy.Run.ID)
}

// failingStore refuses a deletion, as a crash or a full disk would.
type failingStore struct {
	*watchedStore
	fail bool
}

func (s *failingStore) DeleteRun(ctx context.Context, run int64, reason string) (sdk.Receipt, error) {
	if s.fail {
		return sdk.Receipt{}, sdk.Errorf(sdk.Unavailable, "the disk is full")
	}
	return s.watchedStore.DeleteRun(ctx, run, reason)
}

// A pass that ends at any step is taken up by the next one.
func TestExpiryIsTakenUp(t *testing.T) {
	h := prepareHouse(t)
	s := &failingStore{watchedStore: h.store, fail: true}
	h.config.Store = s
	later := false
	h.config.Clock = func() time.Time {
		if later {
			return time.Now().Add(32 * day)
		}
		return time.Now()
	}
	h.start()
	x := listen(h)
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	later = true
	if err := os.WriteFile(filepath.Join(h.dir, "runs", a.Run.Key, "home"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	x.refuse["expired"] = errors.New("the plugin is gone")
	if err := h.engine.Expire(t.Context(), Keep{Sandbox: day}); err == nil || h.kinds(a.Run.ID) != "run.created" {
		t.Errorf("%v; %s", err, h.kinds(a.Run.ID))
	}
	wants(t, h.engine.Expire(t.Context(), week), sdk.Unavailable, "the disk is full")
	if !h.runFolder(a.Run.Key) {
		t.Error("the run was not deleted, and its folder has gone")
	}
	// The crash comes after the folder was marked: the run is deleted again.
	if err := os.Rename(filepath.Join(h.dir, "runs", a.Run.Key), filepath.Join(h.dir, "runs", deletedMark+a.Run.Key)); err != nil {
		t.Fatal(err)
	}
	s.fail = false
	x.take()
	if err := h.engine.Expire(t.Context(), week); err != nil {
		t.Error(err)
	}
	if got := x.take(); got != "deleted r" || h.runFolder(deletedMark+a.Run.Key) {
		t.Errorf("heard %q; the marked folder is there: %v", got, h.runFolder(deletedMark+a.Run.Key))
	}
	// The crash comes after the store's commit: only the folder is left. Others
	// that lie there are nobody's to remove.
	for _, name := range []string{deletedMark + "gone/home/x", "other/home"} {
		if err := os.MkdirAll(filepath.Join(h.dir, "runs", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.engine.Expire(t.Context(), Keep{}); err != nil || h.runFolder(deletedMark+"gone") || !h.runFolder("other") {
		t.Errorf("%v; left: %v; foreign: %v", err, h.runFolder(deletedMark+"gone"), h.runFolder("other"))
	}
}

func TestAFolderThatCannotGoIsOfferedAgain(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may remove everything; the hook is not needed then")
	}
	h := newHouse(t)
	locked := filepath.Join(h.dir, "runs", deletedMark+"key", "home")
	if err := os.MkdirAll(filepath.Join(locked, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	var offered []string
	h.hooks.RunDeleted.On(10, "test", func(_ context.Context, e sdk.RunEvent) error {
		offered = append(offered, fmt.Sprint(e.Run.Key, " ", filepath.Base(e.RunDir)))
		return os.Chmod(locked, 0o700)
	})
	if err := h.engine.Expire(t.Context(), Keep{}); err != nil || h.runFolder(deletedMark+"key") {
		t.Errorf("%v; it is there: %v", err, h.runFolder(deletedMark+"key"))
	}
	if want := []string{"key " + deletedMark + "key"}; os.Geteuid() != 0 && !slices.Equal(offered, want) {
		t.Errorf("offered %v", offered)
	}
}

func TestAClosingEngineEndsAPass(t *testing.T) {
	h, move := aged(t)
	h.run(Submission{Run: "r"})
	move(8 * day)
	held := make(chan struct{})
	h.hooks.RunExpired.On(10, "test", func(ctx context.Context, _ sdk.RunEvent) error {
		close(held)
		<-ctx.Done()
		return ctx.Err()
	})
	done := make(chan error, 1)
	go func() { done <- h.engine.Expire(context.Background(), week) }()
	<-held
	if err := h.engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, errStopping) {
		t.Errorf("got %v", err)
	}
	wants(t, h.engine.Expire(t.Context(), week), sdk.Unavailable, "stopping")
}

// TestNothingGoesWhileTheStoreIsFrozen: what could not be told of must not be
// done.
func TestNothingGoesWhileTheStoreIsFrozen(t *testing.T) {
	h, move := aged(t)
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	h.cut()
	move(32 * day)
	h.config.Frozen = true
	h.start()
	x := listen(h)
	if err := h.engine.Expire(t.Context(), week); err != nil {
		t.Error(err)
	}
	wants(t, h.engine.Delete(t.Context(), a.Run.ID), sdk.Unavailable, "cannot be deleted")
	wants(t, h.engine.Reset(t.Context(), a.Run.ID), sdk.Unavailable, "cannot be reset")
	if told := x.take(); told != "" || !h.runFolder(a.Run.Key) {
		t.Errorf("told of %q; the folder is there: %v", told, h.runFolder(a.Run.Key))
	}
}

// TestExpireOfReplacedContents: what runs replaced is kept as long and as much as the configuration says.
func TestExpireOfReplacedContents(t *testing.T) {
	h, _ := aged(t, say("one"))
	store := kept.In(h.config.DataDir)
	put := func(text string, age time.Duration) string {
		digest, _, err := store.Put(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(store.Dir, digest+".gz"), then, then); err != nil {
			t.Fatal(err)
		}
		return digest
	}
	old, young := put("old", 40*day), put("young", day)
	for _, c := range []struct {
		keep       Keep
		old, young bool
	}{
		{Keep{}, true, true},
		{Keep{UndoSize: 1 << 20, Undo: 50 * day}, true, true},
		{Keep{UndoSize: 1 << 20, Undo: 31 * day}, false, true},
		{Keep{UndoSize: 1, Undo: 31 * day}, false, false},
	} {
		if err := h.engine.Expire(t.Context(), c.keep); err != nil {
			t.Fatal(err)
		}
		if store.Has(old) != c.old || store.Has(young) != c.young {
			t.Errorf("%+v: kept %v, %v", c.keep, store.Has(old), store.Has(young))
		}
	}
}
