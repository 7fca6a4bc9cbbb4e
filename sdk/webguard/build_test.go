package webguard

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// build builds testdata/probe.
func build(t *testing.T, tags, cgo string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "probe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", tags, "-o", file, "./testdata/probe")
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// TestResolver: names are asked of Go's resolver in a program that is built with cgo, and
// told by its build and by GODEBUG to use libc, as it does for others' lookups.
func TestResolver(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no C compiler")
		}
		t.Skip("there is no C compiler (gcc and libc6-dev)")
	}
	w := webtest.New(t)
	host := w.Here("a")
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "here") }))
	cmd := exec.CommandContext(t.Context(), build(t, "webtest,netcgo", "1"), "http://"+host+"/")
	cmd.Env = append(os.Environ(), "GODEBUG=netdns=cgo+2")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || string(out) != "here" {
		t.Errorf("%v: %s%s", err, out, &said)
	}
	if !strings.Contains(said.String(), "hostLookupOrder(localhost) = cgo") {
		t.Errorf("libc is not used by others, which proves nothing: %s", &said)
	}
	if s := said.String(); !strings.Contains(s, "hostLookupOrder("+host+".) = ") || strings.Contains(s, "hostLookupOrder("+host+".) = cgo") {
		t.Errorf("%s", s)
	}
	if w.Asked(host) != 2 {
		t.Errorf("the name server had %d questions", w.Asked(host))
	}
}

// TestOneResolver: the resolver of what is shipped is made as that of TestResolver is.
func TestOneResolver(t *testing.T) {
	if r := internet().resolver("example.com"); !r.PreferGo || r.Dial != nil {
		t.Errorf("%+v", r)
	}
}

// TestStandInIsNotShipped: what tests may connect to is in programs that are built for
// tests, and in no other.
func TestStandInIsNotShipped(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "webtest": true} {
		program, err := os.ReadFile(build(t, tags, "0"))
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(program, []byte("webguard.standIn")); got != want {
			t.Errorf("with the tags %q: %t", tags, got)
		}
	}
}
