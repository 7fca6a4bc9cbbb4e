package inspect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// guards are the subscriptions of a plugin that may refuse calls.
var guards = []sdk.Subscription{{Name: "tool.before", Failure: sdk.FailClosed}}

// TestSubscriptions: what a plugin declared last is known to the next daemon, also that it
// declared nothing, until its block is gone.
func TestSubscriptions(t *testing.T) {
	data := t.TempDir()
	s := New(Config{Log: quiet, DataDir: data})
	check := func(label string, subs []sdk.Subscription, known bool) {
		t.Helper()
		got, is := s.Subscriptions(label)
		if is != known || !slices.Equal(got, subs) {
			t.Errorf("%s: %v %v, want %v %v", label, got, is, subs, known)
		}
	}
	check("guard", nil, false)
	s.Subscribes("guard", guards)
	s.Subscribes("tool", nil)
	for range 2 {
		check("guard", guards, true)
		check("tool", nil, true)
		check("other", nil, false)
		s = New(Config{Log: quiet, DataDir: data})
	}
	s.SubscribesNoMore(func(label string) bool { return label == "tool" })
	s = New(Config{Log: quiet, DataDir: data})
	check("guard", nil, false)
	check("tool", nil, true)
	if left, err := os.ReadDir(filepath.Join(data, "plugins")); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// TestSubscriptionsBroken: of a file that cannot be read nothing is believed, it lies aside
// for a person, and what plugins declare from then on is kept.
func TestSubscriptionsBroken(t *testing.T) {
	whole := `{"guard":[{"name":"tool.before","priority":0,"failure":"closed"}],"tool":null}`
	for _, text := range []string{"", whole[:len(whole)-20], whole[:1], `{"guard": 1, "tool": null}`, `[]`, strings.Repeat("\x00", 100)} {
		data := t.TempDir()
		file := filepath.Join(data, "plugins", "subscriptions")
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		s := New(Config{Log: quiet, DataDir: data})
		for _, label := range []string{"guard", "tool"} {
			if subs, known := s.Subscriptions(label); known {
				t.Errorf("%q: %s is believed to hear %v", text, label, subs)
			}
		}
		if aside, err := os.ReadFile(file + ".broken"); err != nil || string(aside) != text {
			t.Errorf("%q lies aside as %q (%v)", text, aside, err)
		}
		s.Subscribes("guard", guards)
		if subs, known := New(Config{Log: quiet, DataDir: data}).Subscriptions("guard"); !known || !slices.Equal(subs, guards) {
			t.Errorf("%q: %v %v", text, subs, known)
		}
	}
}
