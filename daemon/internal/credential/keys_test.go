package credential

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// fakeRing keeps keys in memory, and fails when told to.
type fakeRing struct {
	mu    sync.Mutex
	keys  map[string]string
	fails error
	reads [][]string
}

func (f *fakeRing) Read(_ context.Context, names []string) (map[string]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads = append(f.reads, names)
	found := map[string]string{}
	for _, name := range names {
		if v, ok := f.keys[name]; ok {
			found[name] = v
		}
	}
	return found, f.fails
}

func (f *fakeRing) Write(_ context.Context, name, value string) error {
	if err := f.fails; err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[name] = value
	return nil
}

func (f *fakeRing) Remove(_ context.Context, name string) (bool, error) {
	if err := f.fails; err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, had := f.keys[name]
	delete(f.keys, name)
	return had, nil
}

// fixture is keys with an environment, a keyring and a file of their own.
type fixture struct {
	*Keys
	env     map[string]string
	ring    *fakeRing
	learned *learned
}

// learned are the values that were told of.
type learned struct {
	mu     sync.Mutex
	values []string
}

// Add implements Hider.
func (l *learned) Name(_, value string) { l.Renew("", value) }

// Renew implements Hider.
func (l *learned) Renew(_ string, values ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values = append(l.values, values...)
}

func (l *learned) has(value string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.values, value)
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{env: map[string]string{}, ring: &fakeRing{keys: map[string]string{}}, learned: &learned{}}
	getenv := func(name string) (string, bool) { v, ok := f.env[name]; return v, ok }
	f.Keys = New(getenv, filepath.Join(t.TempDir(), "bothy", FileName), f.ring, f.learned)
	return f
}

func (f *fixture) want(t *testing.T, name, value string, place Place) {
	t.Helper()
	got, at, err := f.find(name)
	if got != value || at != place || (value == "") != (err != nil) {
		t.Errorf("%s is %q in %q (%v), want %q in %q", name, got, at, err, value, place)
	}
	if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("%s: %v", name, err)
	}
}

// TestWhereAKeyIsLookedFor takes one place away after the other.
func TestWhereAKeyIsLookedFor(t *testing.T) {
	f, ctx := newFixture(t), context.Background()
	if !f.Give("K", "given-value") {
		t.Fatal("not taken")
	}
	f.env["K"], f.ring.keys["K"] = "env-value", "ring-value"
	if err := writeFile(f.Path(), map[string]string{"K": "file-value", "UNASKED": "other-value"}); err != nil {
		t.Fatal(err)
	}
	f.Again() // the keyring was asked before it was given
	f.Expect([]string{"K"})
	f.want(t, "K", "env-value", Environment)
	delete(f.env, "K")
	f.want(t, "K", "ring-value", Keyring)
	delete(f.ring.keys, "K")
	f.want(t, "K", "ring-value", Keyring) // it is asked once
	f.Again()
	f.want(t, "K", "file-value", File)
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	f.Expect(nil)
	f.want(t, "K", "given-value", Memory)
	if _, err := f.Logout(ctx, "K"); err != nil {
		t.Fatal(err)
	}
	f.want(t, "K", "", "")
	for _, value := range []string{"given-value", "ring-value", "file-value", "other-value"} {
		if !f.learned.has(value) {
			t.Errorf("%s was told to nobody", value)
		}
	}
	if _, err := f.Find("K"); !strings.Contains(err.Error(), "bothy auth login K") || !strings.Contains(err.Error(), f.Path()) {
		t.Errorf("no way to give it in: %v", err)
	}
}

// TestTheKeyringIsAskedOnce: for all names at once, not for what is in the environment, and never
// again after it failed.
func TestTheKeyringIsAskedOnce(t *testing.T) {
	f := newFixture(t)
	f.env["E"] = "x"
	f.Expect([]string{"A", "B", "E"})
	f.Expect([]string{"A", "B", "C", "E"})
	for range 3 {
		f.want(t, "A", "", "")
		f.want(t, "D", "", "")
	}
	if want := [][]string{{"A", "B"}, {"C"}, {"D"}}; !slices.EqualFunc(f.ring.reads, want, slices.Equal) {
		t.Errorf("asked for %v, want %v", f.ring.reads, want)
	}
	f.ring.fails = errors.New("it burns")
	f.want(t, "F", "", "")
	f.want(t, "G", "", "")
	if n := len(f.ring.reads); n != 4 {
		t.Errorf("asked %d times", n)
	}
	if _, err := f.Find("G"); !strings.Contains(err.Error(), "not in the keyring (it burns)") {
		t.Error(err)
	}
	f.Again()
	f.ring.fails = nil
	f.ring.keys["G"] = "gee"
	f.want(t, "G", "gee", Keyring)
}

// TestAKeyringThatHangs costs two seconds once, whatever it does with its context.
func TestAKeyringThatHangs(t *testing.T) {
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f.Keys.ring = hanging{release}
		begin := time.Now()
		f.Expect([]string{"A", "B"})
		f.want(t, "A", "", "")
		f.want(t, "C", "", "")
		if took := time.Since(begin); took != askTime {
			t.Errorf("it took %v", took)
		}
		begin = time.Now()
		kept, err := f.Login(t.Context(), "A", "value-a", false)
		if took := time.Since(begin); err != nil || kept.Place != Memory || len(kept.Warnings) != 1 || took != changeTime {
			t.Errorf("%+v, %v after %v", kept, err, took)
		}
		f.want(t, "A", "value-a", Memory)
		close(release)
	})
}

// hanging ends when the test does.
type hanging struct{ release chan struct{} }

func (h hanging) Read(context.Context, []string) (map[string]string, error) {
	<-h.release
	return nil, nil
}
func (h hanging) Write(context.Context, string, string) error  { <-h.release; return nil }
func (h hanging) Remove(context.Context, string) (bool, error) { <-h.release; return false, nil }

// TestASilentSecretService: a call ends with its context wherever the service falls silent.
func TestASilentSecretService(t *testing.T) {
	for _, from := range []string{"the greeting", "the search"} {
		s := startRing(t)
		s.Set("A", "a")
		if from == "the greeting" {
			s.Silence(true)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := SecretService{s.Address()}.Read(ctx, []string{"A"})
			done <- err
		}()
		if from == "the search" {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			s.Silence(true)
			go func() {
				_, err := SecretService{s.Address()}.Read(ctx, []string{"A"})
				done <- err
			}()
		}
		cancel()
		if err := <-done; err == nil {
			t.Errorf("from %s on: no error", from)
		}
	}
}

func TestLogin(t *testing.T) {
	f, ctx := newFixture(t), context.Background()
	place := func(name, value string, inFile bool) Place {
		t.Helper()
		kept, err := f.Login(ctx, name, value, inFile)
		if err != nil {
			t.Fatal(err)
		}
		return kept.Place
	}
	f.Give("K", "zero-value")
	if p := place("K", "first-value", false); p != Keyring || len(f.given) != 0 {
		t.Errorf("in %s, and given are %v", p, f.given)
	}
	f.want(t, "K", "first-value", Keyring)
	if _, err := os.Stat(f.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was written without --file: %v", err)
	}
	if p := place("K", "second-value", true); p != File || len(f.ring.keys) != 0 {
		t.Errorf("in %s, and the keyring has %v", p, f.ring.keys)
	}
	f.want(t, "K", "second-value", File)
	f.ring.fails = errors.New("it burns")
	if _, err := f.Login(ctx, "K", "third-value", false); sdk.OutcomeOf(err) != sdk.Conflict || strings.Contains(err.Error(), "value") {
		t.Errorf("a key that would not count: %v", err)
	}
	f.want(t, "K", "second-value", File)
	kept, err := f.Login(ctx, "OTHER", "other-value", false)
	if err != nil || kept.Place != Memory || len(kept.Warnings) != 1 || !strings.Contains(kept.Warnings[0], "until the daemon ends") {
		t.Errorf("without a keyring: %+v, %v", kept, err)
	}
	f.env["K"] = "env-value"
	if kept, err := f.Login(ctx, "K", "fourth-value", true); err != nil || len(kept.Warnings) != 1 || !strings.Contains(kept.Warnings[0], "goes before") {
		t.Errorf("with one in the environment: %+v, %v", kept, err)
	}
	for _, value := range []string{"zero-value", "first-value", "second-value", "third-value", "other-value", "fourth-value"} {
		if !f.learned.has(value) {
			t.Errorf("%s was told to nobody", value)
		}
	}
}

func TestLogout(t *testing.T) {
	f, ctx := newFixture(t), context.Background()
	if _, err := f.Login(ctx, "K", "file-value", true); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Login(ctx, "STAYS", "stays-value", true); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Login(ctx, "K", "ring-value", false); err != nil {
		t.Fatal(err)
	}
	f.env["K"] = "env-value"
	if from, err := f.Logout(ctx, "K"); err != nil || !slices.Equal(from, []Place{Keyring, File}) {
		t.Errorf("removed from %v, %v", from, err)
	}
	if keys, err := readFile(f.Path()); err != nil || !maps.Equal(keys, map[string]string{"STAYS": "stays-value"}) || len(f.ring.keys) != 0 {
		t.Errorf("left %v and %v, %v", keys, f.ring.keys, err)
	}
	if _, err := f.Logout(ctx, "K"); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "environment") {
		t.Errorf("what is in the environment: %v", err)
	}
	if _, err := f.Logout(ctx, "NONE"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("what is nowhere: %v", err)
	}
	f.ring.keys["R"] = "r-value"
	f.want(t, "R", "r-value", Keyring)
	f.ring.fails = errors.New("it burns")
	if _, err := f.Logout(ctx, "R"); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "it burns") {
		t.Errorf("a keyring that keeps it: %v", err)
	}
}
