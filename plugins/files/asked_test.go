package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestAskedPaths: what policy asks about by its name is written, since policy has
// decided; another way to it is written only when a person agreed to the call.
func TestAskedPaths(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	ctx := context.Background()
	files := map[string]string{
		".vscode/tasks.json": "{}", "v": "-> .vscode", ".git/config": "[diff \"x\"]\ntextconv = ./tools/conv.sh\n", "tools/conv.sh": "x", "tools/other": "x", "t": "-> tools", "lib/.git/config": "[alias]\nr = !./run.sh\n", "lib/run.sh": "x", ".github/workflows/ci.yml": "x",
	}
	for _, name := range []string{".vscode/tasks.json", "tools/conv.sh", ".vscode/new.json", "sub/.envrc", ".husky/pre-commit", ".github/workflows/new.yml", ".gitattributes"} {
		tp := newProject(t, files)
		if _, err := tp.write(ctx, writeArgs{Path: name, Content: "y"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"v/tasks.json", "v/new.json", "t/conv.sh", "lib/run.sh"} {
		tp := newProject(t, files)
		tp.unchangedBy(func() {
			_, err := tp.write(ctx, writeArgs{Path: name, Content: "y"})
			wantOutcome(t, err, sdk.Permission, "protected", "person")
		})
		tp.staging = true
		if _, err := tp.planWrite(ctx, writeArgs{Path: name, Content: "y"}); err != nil {
			t.Errorf("showing %s: %v", name, err)
		}
		tp.staging, tp.base = false, "agreed"
		if _, err := tp.write(ctx, writeArgs{Path: name, Content: "y"}); err != nil {
			t.Errorf("%s, agreed: %v", name, err)
		}
	}
	tp := newProject(t, files)
	tp.unchangedBy(func() {
		_, err := tp.delete(ctx, deleteArgs{Path: "lib", Recursive: true})
		wantOutcome(t, err, sdk.Permission, "lib/run.sh")
	})
	if _, err := tp.create(ctx, createArgs{Path: "sub/.config"}); err != nil {
		t.Errorf("a folder that would hold something: %v", err)
	}
}

// TestProtectionOfTheCall: what the configuration says comes with the call.
func TestProtectionOfTheCall(t *testing.T) {
	ctx := context.Background()
	f := &files{}
	tp := newProject(t, map[string]string{".claude": "-> shared", "shared/x": "x", "keys": "-> private", "private/x": "x"})
	tp.rules = f.rulesOf(sdk.Invocation{Protection: sdk.Protection{Refuse: []string{"private"}, Free: []string{".claude"}}})
	if _, err := tp.write(ctx, writeArgs{Path: ".claude/settings.json", Content: "y"}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"private/x", "keys/x", "a/private/x"} {
		_, err := tp.write(ctx, writeArgs{Path: name, Content: "y"})
		wantOutcome(t, err, sdk.Permission, "protected")
	}
}

// TestCredentials: they are read by their own name only, about which policy asks,
// and no search goes into them by itself.
func TestCredentials(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{".env": "KEY=canary\n", "e": "-> .env", "a/prod.env": "canary\n", "a/x": "canary\n", "d": "-> .ssh", ".ssh/id_rsa": "canary\n"})
	for _, name := range []string{".env", "a/prod.env", ".ssh/id_rsa"} {
		if got, err := tp.read(ctx, readArgs{Path: name}); err != nil || got.text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"e", "d/id_rsa"} {
		_, err := tp.read(ctx, readArgs{Path: name})
		if name == "d/id_rsa" && err == nil {
			continue // its last name says what it is
		}
		wantOutcome(t, err, sdk.Permission, "credentials")
		_, err = tp.diff(ctx, diffArgs{Path: "a/x", Other: name})
		wantOutcome(t, err, sdk.Permission, "credentials")
		_, err = tp.copy(ctx, moveArgs{Source: name, Destination: "copy"})
		wantOutcome(t, err, sdk.Permission, "credentials")
		_, err = tp.grep(ctx, grepArgs{Pattern: "canary", Path: name})
		wantOutcome(t, err, sdk.Permission, "credentials")
	}
	got, err := tp.grep(ctx, grepArgs{Pattern: "canary"})
	if err != nil {
		t.Fatal(err)
	}
	data := got.data.(grepData)
	if len(data.Matches) != 1 || data.Matches[0].Path != "a/x" || len(data.Secret) != 3 {
		t.Errorf("found %+v", data)
	}
	if want := "[.env skipped: credentials are kept there; to search it, name it]\n"; !strings.Contains(got.text, want) {
		t.Errorf("the answer says %q", got.text)
	}
	got, err = tp.grep(ctx, grepArgs{Pattern: "canary", Path: ".ssh"})
	if err != nil || len(got.data.(grepData).Matches) != 1 {
		t.Errorf("where it is named: %+v, %v", got.data, err)
	}
}
