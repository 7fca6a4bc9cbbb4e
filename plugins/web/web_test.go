package main

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// TestMain is a reader, where a test's readers start one: they start the program that runs.
func TestMain(m *testing.M) {
	reader.Finish(article)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if raced {
			if program, err := unraced(); err == nil {
				_ = os.RemoveAll(filepath.Dir(program)) // a folder for what is temporary
			}
		}
		os.Exit(code)
	}))
}

// unraced is the plugin's program as it is shipped, built once.
var unraced = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bothy-plugin-web-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "web")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return program, nil
})

// asReader has readers start a program that can be one.
func asReader(t testing.TB, s *readers) {
	t.Helper()
	if !raced {
		return
	}
	program, err := unraced()
	if err != nil {
		t.Fatal(err)
	}
	s.program = program
}

// site is a plugin and a server on the loopback whose origin it may ask.
type site struct {
	*web
	*httptest.Server
	run *notebook
}

// notebook is a daemon that keeps what calls bring, as a run does.
type notebook struct {
	sdktest.Daemon
	mu      sync.Mutex
	entries map[string]sdk.Entry
}

func (n *notebook) keep(e sdk.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries[e.Path] = e
}

func (n *notebook) Entry(_ context.Context, path string) (sdk.Entry, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e, is := n.entries[path]; is {
		return e, nil
	}
	return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "%s is not in view", path)
}

func newSite(t testing.TB, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{web: newWeb(), Server: httptest.NewServer(handler), run: &notebook{entries: map[string]sdk.Entry{}}}
	asReader(t, s.readers)
	t.Cleanup(s.Server.Close)
	s.settings = settings{MaxText: 1_000_000, MaxPDF: 5 << 20, Origins: []string{s.URL}}
	if err := s.configure(t.Context(), sdk.Settings{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.readers.close)
	return s
}

// fetch calls web_fetch as the daemon does, and keeps what it brings.
func (s *site) fetch(t testing.TB, arguments map[string]any, sameHost bool) (sdk.ToolResult, error) {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	ctx := host.With(t.Context(), s.run)
	r, err := s.tools().Invoke(ctx, sdk.Invocation{Tool: "web_fetch", Arguments: raw, SameHost: sameHost}, &sdktest.Recorder{})
	for _, w := range r.Writes {
		s.run.keep(sdk.Entry{Path: w.Path, Body: *w.Body, Attributes: w.Attributes, Writer: sdk.WriterPlugin, Visibility: w.Visibility})
	}
	return r, err
}

// get fetches a path of the site, which must work.
func (s *site) get(t testing.TB, path string, more ...any) sdk.ToolResult {
	t.Helper()
	arguments := map[string]any{"url": s.URL + path}
	for i := 0; i+1 < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	r, err := s.fetch(t, arguments, false)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

// serves is a handler that has one body, of a type.
func serves(header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if header != "" {
			w.Header().Set("Content-Type", header)
		}
		_, _ = w.Write([]byte(body)) // who does not read it is the test
	}
}

// pdfOf is a PDF with a page for each text. The filters are those of the contents.
func pdfOf(filters string, contents ...[]byte) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	kids := ""
	for i := range contents {
		kids += fmt.Sprintf("%d 0 R ", 5+2*i)
	}
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(contents))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	object("<< /Title (Of kettles) >>")
	for i, c := range contents {
		object("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 6+2*i)
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n<< /Length %d %s >>\nstream\n", len(at), len(c), filters)
		b.Write(c)
		b.WriteString("\nendstream\nendobj\n")
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

func words(text string) []byte { return fmt.Appendf(nil, "BT /F1 12 Tf 72 720 Td (%s) Tj ET", text) }

// inflating is a stream of zlib that comes to a chunk, so many times.
func inflating(t testing.TB, chunk []byte, times int) []byte {
	var once bytes.Buffer
	w, err := flate.NewWriter(&once, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(chunk); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return append([]byte{0x78, 0x9c}, bytes.Repeat(once.Bytes(), times)...)
}
