package model

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/daemon/internal/credential/ringtest"
)

// TestAKeyIsSeenWhereverItIs: a provider whose key came is taken and asked for its models, and
// the reason says where the key is; without it, it is neither.
func TestAKeyIsSeenWhereverItIs(t *testing.T) {
	ring, err := ringtest.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	path := filepath.Join(t.TempDir(), credential.FileName)
	keys := credential.New(func(string) (string, bool) { return "", false }, path, credential.SecretService{Address: ring.Address()}, &audit.Redactor{})
	cfg, diags := config.Load(config.Source{
		Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Getenv: func(string) (string, bool) { return "", false }, Secrets: &audit.Redactor{}, Keys: keys,
	})
	if cfg == nil {
		t.Fatal(diags)
	}
	m := New(cfg, listed{"groq": {{Name: "llama"}}}, nil, func(string, string) {})
	m.dial = func(context.Context, string) error { return os.ErrNotExist }
	const own = "groq/llama-3.3-70b-versatile"
	seen := func(want, why string, lists bool) {
		t.Helper()
		got, err := m.Resolve(context.Background(), "")
		if err != nil || got.Alias != want || !strings.Contains(got.Why, why) {
			t.Errorf("took %s because %q, %v; want %s (%s)", got.Alias, got.Why, err, want, why)
		}
		found := false
		for _, x := range m.List(context.Background()).Models {
			found = found || x.Alias == "groq/llama"
		}
		if found != lists {
			t.Errorf("that its models are listed is %v", found)
		}
	}
	login := func(inFile bool) {
		t.Helper()
		if _, err := keys.Login(context.Background(), "GROQ_API_KEY", "a-key-of-groq", inFile); err != nil {
			t.Fatal(err)
		}
	}
	seen("replay/first-run", "there is no key of a known provider", false)
	login(false)
	seen(own, "its key is in the keyring, and no local server", true)
	login(true)
	seen(own, "its key is in "+path, true)
	if _, err := keys.Logout(context.Background(), "GROQ_API_KEY"); err != nil {
		t.Fatal(err)
	}
	seen("replay/first-run", "there is no key of a known provider", false)
	ring.Lock(true)
	login(false)
	seen(own, "its key is known to this daemon until it ends", true)
}

// TestPriceOfNothing: a run that nobody gave a prompt has no model, and one whose provider is gone
// has no block.
func TestPriceOfNothing(t *testing.T) {
	m := chooser(t, "", nil)
	for _, name := range []string{"", "nobody", "nobody/x"} {
		if p := m.Price(name); p != nil {
			t.Errorf("%q costs %+v", name, p)
		}
	}
}
