package main

import (
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// TestContract configures the plugin as the daemon does and holds it to the
// contract of its kind, over the wire between daemon and plugins.
func TestContract(t *testing.T) {
	s := configured()
	if _, err := s.Models(t.Context()); err == nil {
		t.Error("models of a provider that is not configured")
	}
	for range 2 { // the second replaces the first
		if err := plugin.Decode(fmt.Appendf(nil, `{"cassettes":%q}`, folder(t, map[string]string{"m.json": twoSteps})), &s.Config); err != nil {
			t.Fatal(err)
		}
		if err := s.Configure(t.Context(), sdk.Settings{}); err != nil {
			t.Fatal(err)
		}
	}
	sdktest.Provider(t, s,
		sdk.Request{Model: "first-run", Messages: []sdk.Message{user(firstPrompt)}},
		sdk.Request{Model: "m", Messages: []sdk.Message{user("go")}})
}

func TestConfigureRefuses(t *testing.T) {
	s := configured()
	s.Config = settings{Cassettes: "relative"}
	if err := s.Configure(t.Context(), sdk.Settings{}); err == nil {
		t.Error("a relative folder was accepted")
	}
}
