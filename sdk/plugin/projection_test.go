package plugin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

func echoed(_ context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
	if e.Body == "panic" {
		panic("no such page")
	}
	return string(level) + " " + e.Body, nil
}

// TestProjections: a plugin says in its manifest of which schemes it shows the entries, and asks for the grant that this needs.
func TestProjections(t *testing.T) {
	shown := []sdk.Scheme{{Name: "b", ModelVisible: true}, {Name: "a", ModelVisible: true}}
	o := Options{Name: "notes", Tool: greeter(nil), Schemes: shown, Projections: map[string]Projection{"b": echoed, "a": echoed}}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	s := newService(o)
	if m := s.manifest(); !slices.Equal(m.Projections, []string{"a", "b"}) || !slices.Equal(m.Grants, []string{sdk.GrantEntries}) {
		t.Errorf("%+v", m)
	}
	for _, c := range []struct {
		path, body, level string
		want              string // the text, or what the failure says
	}{
		{"a://1", "tea", "visible", "visible tea"},
		{"b://1", "tea", "summarized", "summarized tea"},
		{"c://1", "tea", "visible", "projects no entries of c://"},
		{"a://1", "tea", "archived", `not at "archived"`},
		{"a://1", "panic", "visible", "the plugin's projection of a:// panicked: no such page"},
	} {
		resp, err := s.Project(t.Context(), &pb.ProjectRequest{Entry: &pb.Entry{Path: c.path, Body: c.body}, Level: c.level})
		if got := resp.GetText() + resp.GetFailure().GetMessage(); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	for want, change := range map[string]func(){
		"no function for a://":         func() { o.Projections = map[string]Projection{"a": nil} },
		"not among Options.Schemes":    func() { o.Projections = map[string]Projection{"known": echoed} },
		"set ModelVisible of the sche": func() { o.Schemes, o.Projections = []sdk.Scheme{{Name: "a"}}, map[string]Projection{"a": echoed} },
	} {
		change()
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
