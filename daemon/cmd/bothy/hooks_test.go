package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestHooks: the whole catalogue is printed, without a daemon.
func TestHooks(t *testing.T) {
	b := newBench(t)
	b.want(t, exitOK, "hooks")
	b.golden(t, "hooks")
	b.want(t, exitOK, "hooks", "--json")
	var got struct {
		Hooks []hookInfo
		Types []payloadType
	}
	if err := json.Unmarshal([]byte(b.out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Hooks) != len(sdk.Hooks()) {
		t.Errorf("%d hooks, the catalogue has %d", len(got.Hooks), len(sdk.Hooks()))
	}
	fields := map[string][]payloadField{}
	for _, typ := range got.Types {
		fields[typ.Name] = typ.Fields
	}
	for _, h := range got.Hooks {
		if !strings.HasPrefix(h.Payload, "map of ") && len(fields[h.Payload]) == 0 {
			t.Errorf("%s carries %s, whose members are not told", h.Name, h.Payload)
		}
	}
}
