package credential

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/credential/ringtest"
)

func startRing(t *testing.T) *ringtest.Service {
	t.Helper()
	s, err := ringtest.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestSecretService(t *testing.T) {
	s, ctx := startRing(t), context.Background()
	ring := SecretService{s.Address()}
	if found, err := ring.Read(ctx, []string{"A", "B"}); err != nil || len(found) != 0 {
		t.Errorf("an empty one has %v, %v", found, err)
	}
	if gone, err := ring.Remove(ctx, "A"); gone || err != nil {
		t.Errorf("removed from an empty one: %v, %v", gone, err)
	}
	for _, value := range []string{"first", "second, of\ntwo lines and ü"} {
		if err := ring.Write(ctx, "A", value); err != nil {
			t.Fatal(err)
		}
		if found, err := ring.Read(ctx, []string{"A", "B"}); err != nil || !maps.Equal(found, map[string]string{"A": value}) {
			t.Errorf("kept %q and found %v, %v", value, found, err)
		}
	}
	s.Set("B", "bee")
	s.Lock(true)
	if found, err := ring.Read(ctx, []string{"A", "C"}); !errors.Is(err, errLocked) || len(found) != 0 {
		t.Errorf("a locked one has %v, %v", found, err)
	}
	if found, err := ring.Read(ctx, []string{"C"}); err != nil || len(found) != 0 {
		t.Errorf("of what it does not have a locked one says %v, %v", found, err)
	}
	if err := ring.Write(ctx, "A", "third"); !errors.Is(err, errLocked) {
		t.Errorf("a locked one keeps: %v", err)
	}
	if gone, err := ring.Remove(ctx, "A"); gone || !errors.Is(err, errLocked) {
		t.Errorf("a locked one removes: %v, %v", gone, err)
	}
	s.Lock(false)
	if gone, err := ring.Remove(ctx, "A"); !gone || err != nil || !maps.Equal(s.Keys(), map[string]string{"B": "bee"}) {
		t.Errorf("removed: %v, %v, and there is %v", gone, err, s.Keys())
	}
	s.Leave()
	if _, err := ring.Read(ctx, []string{"B"}); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("a bus without the service: %v", err)
	}
}

// TestSessionBus: only a bus that is there is asked, and none is started.
func TestSessionBus(t *testing.T) {
	dir := t.TempDir()
	env := func(pairs map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
	}
	if ring, is := sessionBus(env(map[string]string{"XDG_RUNTIME_DIR": dir})).(none); !is || ring.Write(context.Background(), "A", "a") == nil {
		t.Error("a folder without a bus has a keyring")
	}
	s, err := ringtest.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, pairs := range []map[string]string{{"XDG_RUNTIME_DIR": dir}, {"DBUS_SESSION_BUS_ADDRESS": s.Address()}} {
		if err := sessionBus(env(pairs)).Write(context.Background(), "A", "a"); err != nil {
			t.Errorf("%v: %v", pairs, err)
		}
	}
	for _, address := range []string{"disabled:", "unix:path=" + dir + "/nothing", "autolaunch:", "x"} {
		if found, err := (SecretService{address}).Read(context.Background(), []string{"A"}); err == nil {
			t.Errorf("%s has %v", address, found)
		}
	}
}
