package sdk_test

import (
	"reflect"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestSandboxFor: a project has what its block says, and the rest of the sandbox block;
// a run without a project has little.
func TestSandboxFor(t *testing.T) {
	s := sdk.Sandbox{Memory: 2 << 30, CPUs: 4, Pids: 512, Tmp: 64 << 20, Workspace: "project", Image: "image", Projects: []sdk.ProjectSandbox{
		{Root: "/p/big", Set: sdk.Sandbox{Memory: 8 << 30, Workspace: "direct"}},
		{Root: "/p/small", Set: sdk.Sandbox{Pids: 16}},
	}}
	with := func(change func(*sdk.Sandbox)) sdk.Sandbox {
		c := s
		c.Projects = nil
		change(&c)
		return c
	}
	for root, want := range map[string]sdk.Sandbox{
		"/p/other":     with(func(*sdk.Sandbox) {}),
		"/p/big":       with(func(c *sdk.Sandbox) { c.Memory, c.Workspace = 8<<30, "direct" }),
		"/p/big/below": with(func(*sdk.Sandbox) {}),
		"/p/small":     with(func(c *sdk.Sandbox) { c.Pids = 16 }),
		"":             with(func(c *sdk.Sandbox) { c.Memory, c.CPUs, c.Pids, c.Workspace = 512<<20, 1, 128, "private" }),
	} {
		if got := s.For(root); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", root, got, want)
		}
	}
	if got := (sdk.Sandbox{Memory: 1 << 20, CPUs: 0.5, Pids: 8}).For(""); got.Memory != 1<<20 || got.CPUs != 0.5 || got.Pids != 8 {
		t.Errorf("a run without a project has more than the sandbox block says: %+v", got)
	}
}

// TestSandboxForEveryField: what a project block may set is taken over.
func TestSandboxForEveryField(t *testing.T) {
	var set sdk.Sandbox
	v := reflect.ValueOf(&set).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Tag.Get("project") == "" {
			continue
		}
		switch field := v.FieldByIndex(f.Index); field.Kind() {
		case reflect.Int64:
			field.SetInt(7)
		case reflect.Float64:
			field.SetFloat(7)
		default:
			field.SetString("7")
		}
	}
	got := sdk.Sandbox{Projects: []sdk.ProjectSandbox{{Root: "/p", Set: set}}}.For("/p")
	if !reflect.DeepEqual(got, set) {
		t.Errorf("got %+v, want %+v", got, set)
	}
}
