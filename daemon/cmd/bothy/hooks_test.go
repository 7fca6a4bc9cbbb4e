package main

import (
	"encoding/json"
	"fmt"
	"os"
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

// TestHooksPage: docs/hooks.md has the catalogue as it is. Behind its last heading the
// page is written by -update.
func TestHooksPage(t *testing.T) {
	const file, heading = "../../../docs/hooks.md", "## Names\n\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	prose, _, _ := strings.Cut(string(page), heading)
	var types payloadTypes
	var names strings.Builder
	for _, p := range sdk.Hooks() {
		word := types.word(p.Payload)
		fmt.Fprintf(&names, "| `%s` | %s | %s | %s | %s |\n", p.Name, p.Kind, word, failureWord(p), p.Doc)
	}
	want := prose + heading + "| name | kind | payload | failure | when |\n|---|---|---|---|---|\n" + names.String() +
		"\n## Payloads\n\nAs JSON; a member with ? may be missing.\n\n| type | members |\n|---|---|\n"
	for _, typ := range types.found {
		name, members, _ := strings.Cut(typ.String(), ": ")
		want += fmt.Sprintf("| %s | %s |\n", name, strings.ReplaceAll(members, "|", `\|`))
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("docs/hooks.md is not what the catalogue says; go test -update writes it anew")
	}
}
