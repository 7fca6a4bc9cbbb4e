package host

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestPrepare: what a plugin says of a project is kept until it is configured
// anew or started again, and a tool that says nothing of that is not asked.
func TestPrepare(t *testing.T) {
	granted := live(t, "base_url = \"one\"\n")
	granted.Grants = append(granted.Grants, sdk.GrantProject)
	r := started(t, nil, granted)
	at := sdk.Place{Tool: "fault__kept", Run: "run", Project: "/p", RunDir: "/r", Network: true}
	want := sdk.Prepared{View: true, Reason: "kept run /p /r"}
	known := func(tool, project string, want sdk.Prepared, known bool) {
		t.Helper()
		if got, ok := r.Prepared(tool, project); got != want || ok != known {
			t.Errorf("%s in %q: %+v %v, want %+v %v", tool, project, got, ok, want, known)
		}
	}
	ask := func() {
		t.Helper()
		if got, err := r.Prepare(t.Context(), at); err != nil || got != want {
			t.Errorf("got %+v %v, want %+v", got, err, want)
		}
		known("kept", "/p", want, true)
		known("kept", "/other", sdk.Prepared{}, false)
	}
	known("kept", "/p", sdk.Prepared{}, false)
	ask()
	bad := at
	bad.Run = "bad"
	_, err := r.Prepare(t.Context(), bad)
	wantOutcome(t, err, sdk.Unavailable)
	known("kept", "/p", want, true)
	bad.Tool = "noop"
	_, err = r.Prepare(t.Context(), bad)
	wantOutcome(t, err, sdk.Unavailable)
	bad.Tool = "no_such_tool"
	_, err = r.Prepare(t.Context(), bad)
	wantOutcome(t, err, sdk.NotFound)

	granted.Body = body(t, "base_url = \"two\"\n")
	r.replace(t, granted)
	known("kept", "/p", sdk.Prepared{}, false)
	ask()
	if _, err := r.call(t, "crash", ""); err == nil {
		t.Fatal("it did not crash")
	}
	ask()
}
