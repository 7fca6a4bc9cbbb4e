package lend

import (
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestLoans: each run has its own, under names that are no other's, until they are taken back.
func TestLoans(t *testing.T) {
	var l Loans
	one, two := sdk.Run{Key: "one"}, sdk.Run{Key: "two"}
	lent, back := l.Add(one, []rpc.LentServer{
		{Name: "My Notes", Command: "/usr/bin/notes", Args: []string{"${secret(\"x\")}", "%{ if true }"}, Env: map[string]string{"KEY": "${env(\"HOME\")}"}},
		{Name: "my-notes", URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer abc"}, Transport: "http"},
		{Name: "2"}, {Name: "both", Command: "/x", URL: "https://example.com"}, {Name: "日本", Command: "/x"},
		{Name: strings.Repeat("long ", 20), Command: "/x"},
	})
	var names []string
	for _, as := range lent {
		if (as.Server == "") != (as.Problem != "") {
			t.Errorf("%+v", as)
		}
		names = append(names, as.Server)
	}
	if want := []string{"_7692c3ad_my_notes", "_7692c3ad_my_notes_2", "", "", "_7692c3ad_server", "_7692c3ad_long_long_long_l"}; !slices.Equal(names, want) {
		t.Errorf("the names are %q", names)
	}
	if _, again := l.Add(two, []rpc.LentServer{{Name: "notes", Command: "/x"}}); len(l.Servers("two")) != 1 || len(l.Servers("one")) != 4 {
		t.Errorf("lent are %q and %q", l.Servers("one"), l.Servers("two"))
	} else {
		again()
	}
	for _, name := range l.Servers("one") {
		if !sdk.IsLent(name) {
			t.Errorf("%s could be in the configuration", name)
		}
	}
	blocks := l.Blocks()
	if len(blocks) != 4 {
		t.Fatalf("%d blocks", len(blocks))
	}
	attributes, _ := blocks[0].Body.JustAttributes()
	for name, want := range map[string]string{"arguments": `${secret("x")} %{ if true }`, "environment": `${env("HOME")}`} {
		v, diags := attributes[name].Expr.Value(blocks[0].Eval)
		got := ""
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			got = strings.TrimSpace(got + " " + e.AsString())
		}
		if diags.HasErrors() || got != want {
			t.Errorf("%s is %q, %v: it is taken as it is", name, got, diags)
		}
	}
	if b := blocks[0]; !b.Lazy || b.Off || b.Confine == nil || b.Plugin != "mcp" || !slices.Equal(b.Grants, []string{sdk.GrantTools}) { // for questions to the person
		t.Errorf("it runs as %+v", b)
	}
	if index := slices.IndexFunc(blocks, func(b inspect.Spec) bool { return b.Digest == "" }); index >= 0 {
		t.Errorf("block %d has no digest, by which a change is known", index)
	}
	back()
	if len(l.Blocks())+len(l.Servers("one")) != 0 {
		t.Error("it is not taken back")
	}
}
