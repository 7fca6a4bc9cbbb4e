package server

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEveryNotification: discover names each that package rpc does, and no other.
// spec: notifications
func TestEveryNotification(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "../../../sdk/rpc/method.go", nil, 0)
	must(t, err)
	want := []string{rpc.MethodHello}
	ast.Inspect(file, func(n ast.Node) bool {
		x, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(x.Names[0].Name, "Note") {
			name, err := strconv.Unquote(x.Values[0].(*ast.BasicLit).Value)
			must(t, err)
			want = append(want, name)
		}
		return true
	})
	h := open(t, nil)
	catalogue, err := h.discover(context.Background(), nil, rpc.Empty{})
	must(t, err)
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(catalogue.Notifications)); !slices.Equal(got, want) {
		t.Errorf("discover names %v, and there are %v", got, want)
	}
}

// TestNothingElseIsNotified: what is sent unasked has one of these names, wherever it is sent.
func TestNothingElseIsNotified(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	sent := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			of := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				of = f.Name
			case *ast.SelectorExpr:
				of = f.Sel.Name
			}
			if !slices.Contains([]string{"encodeNote", "note", "send"}, of) {
				return true
			}
			switch arg := call.Args[0].(type) {
			case *ast.BasicLit:
				t.Errorf("%s sends %s, which discover does not know", name, arg.Value)
			case *ast.SelectorExpr:
				if what := arg.Sel.Name; strings.HasPrefix(what, "Method") && what != "MethodHello" {
					t.Errorf("%s sends rpc.%s, which is no notification", name, what)
				} else {
					sent[what] = true
				}
			}
			return true
		})
	}
	for _, name := range []string{"NoteState", "NoteProgress", "NoteProposal", "NoteStreamCancelled", "NoteRender", "NoteNotify", "NoteGap", "MethodHello"} {
		if !sent[name] {
			t.Errorf("nobody sends %s, or this test does not see it: it sees %v", name, sent)
		}
	}
}

// TestOneShape: by their schemas, getRun answers with all that run/state has, in the same form.
// spec: notifications
func TestOneShape(t *testing.T) {
	h := open(t, nil)
	catalogue, err := h.discover(context.Background(), nil, rpc.Empty{})
	must(t, err)
	var state, detail struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	must(t, json.Unmarshal(catalogue.Notifications[rpc.NoteState].Params, &state))
	must(t, json.Unmarshal(catalogue.Methods[rpc.MethodRun].Result, &detail))
	if len(state.Properties) != 7 {
		t.Errorf("run/state has %d members", len(state.Properties))
	}
	for name, form := range state.Properties {
		if string(detail.Properties[name]) != string(form) {
			t.Errorf("%s is %s, and in getRun %s", name, form, detail.Properties[name])
		}
	}
}
