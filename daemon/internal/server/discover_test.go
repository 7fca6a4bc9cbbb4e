package server

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEveryNotification: discover names each that package rpc does, and no other.
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

// TestOneShape: by their schemas, getRun answers with all that run/state has, in the same form.
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
