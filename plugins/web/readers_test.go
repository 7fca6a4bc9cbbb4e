package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
)

// TestDoctorReach: doctor is told what is open, and what parses documents.
func TestDoctorReach(t *testing.T) {
	var said strings.Builder
	for _, f := range (settings{Ports: []string{"8443"}, Origins: []string{"http://127.0.0.1:8080"}}).findings(sdk.Settings{Instance: "plugin web", Config: []byte("{}")}) {
		fmt.Fprintln(&said, f.Name, f.Level, f.Detail)
	}
	want := []string{"plugin web, reach ok public addresses at the ports 80, 443, 8443; besides http://127.0.0.1:8080."}
	if runtime.GOOS == "linux" {
		want = append(want, "plugin web, reader ok ")
	}
	for _, w := range want {
		if !strings.Contains(said.String(), w) {
			t.Errorf("without %q: %s", w, &said)
		}
	}
}

// TestReaderBeginsEarly: a reader reads before most of the program is initialized, and has the rest of it where an article is wanted.
func TestReaderBeginsEarly(t *testing.T) {
	program := readersOf(t).program
	for _, in := range []reader.Form{reader.Markdown, reader.Main} {
		cmd := exec.CommandContext(t.Context(), program, reader.Argument)
		cmd.Env = []string{"GODEBUG=inittrace=1"}
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"kind": "html", "form": %q, "most": 9}`+"\n<p>here", in))
		var said, trace strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &trace
		if err := cmd.Run(); err != nil || !strings.HasSuffix(said.String(), "\nhere") {
			t.Errorf("%s: %v, %s", in, err, &said)
		}
		for _, late := range []string{"net/http", "google.golang.org/grpc", "github.com/bothyd/bothy/sdk", "codeberg.org/readeck/go-readability/v2"} {
			if has := strings.Contains(trace.String(), "init "+late+" @"); has != (in == reader.Main) {
				t.Errorf("%s: %s is initialized: %v", in, late, has)
			}
		}
	}
}

// TestReaderAtRest: one that waits for no request reads as any other.
func TestReaderAtRest(t *testing.T) {
	program := readersOf(t).program
	for _, arguments := range [][]string{{reader.Argument}, {reader.Argument, reader.AtRest}} {
		cmd := exec.CommandContext(t.Context(), program, arguments...)
		cmd.Stdin = strings.NewReader(`{"kind": "html", "form": "markdown", "most": 9}` + "\n<p>here")
		if out, err := cmd.Output(); err != nil || string(out) != `{"length":4}`+"\nhere" {
			t.Errorf("%q: %v: %s", arguments, err, out)
		}
	}
}

func readersOf(t testing.TB) *readers {
	s := newReaders()
	asReader(t, s)
	t.Cleanup(s.close)
	return s
}

// TestHostileDocuments: each costs its own reader, says so in one sentence, and nothing of others.
func TestHostileDocuments(t *testing.T) {
	s := readersOf(t)
	chunk := bytes.Repeat([]byte("BT (AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA) Tj ET\n"), 16<<10) // about 1 MB
	for name, c := range map[string]struct {
		kind reader.Kind
		body []byte
		want []sdk.Outcome
	}{
		"a PDF that needs 8 GB":      {reader.PDF, pdfOf("/Filter /FlateDecode", inflating(t, chunk, 2<<10)), []sdk.Outcome{sdk.OutOfMemory, sdk.Timeout}},
		"a PDF of nested bombs":      {reader.PDF, pdfOf("/Filter [/FlateDecode /FlateDecode]", inflating(t, inflating(t, chunk, 1<<10), 8)), []sdk.Outcome{sdk.OutOfMemory, sdk.Timeout, sdk.Validation}},
		"no PDF":                     {reader.PDF, []byte("%PDF-1.4\nnothing of it"), []sdk.Outcome{sdk.Validation}},
		"a PDF with a loop of pages": {reader.PDF, bytes.Replace(pdfOf("", words("x")), []byte("/Kids [5 0 R ]"), []byte("/Kids [2 0 R ]"), 1), []sdk.Outcome{sdk.OutOfMemory, sdk.Timeout, sdk.Validation}},
		"HTML nested without end":    {reader.HTML, bytes.Repeat([]byte("<div><b>"), 100_000), []sdk.Outcome{sdk.Validation, sdk.Timeout, sdk.OutOfMemory}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := s.read(t.Context(), reader.Document{Kind: c.kind, Address: "https://example.org/x", Form: reader.Markdown, Most: 1_000_000}, c.body)
			failed, is := errors.AsType[*sdk.Error](err)
			if !is || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			for _, want := range c.want {
				if failed.Outcome == want {
					return
				}
			}
			t.Errorf("%s: %v", failed.Outcome, err)
		})
	}
	text, said, err := s.read(t.Context(), reader.Document{Kind: reader.PDF, Address: "https://example.org/y", Most: 100}, pdfOf("", words("Kettles boil."), words("Pots do too.")))
	if err != nil || said.Title != "Of kettles" || !strings.Contains(text, "Kettles boil.") || !strings.Contains(text, "Pots do too.") {
		t.Errorf("%q, %+v, %v", text, said, err)
	}
}

// TestLateReader: one that does not end is ended, and so is one whose call is.
func TestLateReader(t *testing.T) {
	stuck := filepath.Join(t.TempDir(), "stuck")
	if err := os.WriteFile(stuck, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := readersOf(t)
	s.program, s.patience = stuck, 50*time.Millisecond
	_, _, err := s.read(t.Context(), reader.Document{Kind: reader.HTML, Address: "https://example.org/", Most: 1}, bytes.Repeat([]byte("x"), 1<<20))
	if sdk.OutcomeOf(err) != sdk.Timeout {
		t.Errorf("late: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.patience = time.Hour
	cancel()
	if _, _, err = s.read(ctx, reader.Document{Kind: reader.HTML, Most: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestReaderOutOfTime: a document that takes more of a processor than it may is ended by its reader, whatever the plugin waits.
func TestReaderOutOfTime(t *testing.T) {
	s := readersOf(t)
	s.patience = time.Hour
	endless := bytes.Replace(pdfOf("", words("x"), words("y")), []byte("[5 0 R 7 0 R ]"), []byte("[2 0 R 2 0 R ]"), 1) // pages that are their own, twice
	_, _, err := s.read(t.Context(), reader.Document{Kind: reader.PDF, Address: "https://example.org/x", Most: 100}, endless)
	if sdk.OutcomeOf(err) != sdk.Timeout || !strings.Contains(err.Error(), "more of a processor to read than the 5s") {
		t.Error(err)
	}
}

// TestLostReader: one that died while it waited is not held against the document.
func TestLostReader(t *testing.T) {
	s := readersOf(t)
	s.tend()
	if err := s.ahead[0].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	text, _, err := s.read(t.Context(), reader.Document{Kind: reader.HTML, Address: "https://example.org/", Form: reader.Markdown, Most: 100}, []byte("<p>here"))
	if err != nil || text != "here" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestReadersAhead: there is one for each request that is under way and has none, up to a bound, and one in any case.
func TestReadersAhead(t *testing.T) {
	s := readersOf(t)
	waiting := func(want int) {
		t.Helper()
		if s.tending.Wait(); len(s.ahead) != want {
			t.Fatalf("%d wait, not %d", len(s.ahead), want)
		}
	}
	s.tend()
	waiting(1)
	one, other := s.expect(), s.expect()
	waiting(2)
	r, done, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	s.tend()
	waiting(1)
	other()
	waiting(1) // for the next request, beside the document that is read
	r.end()
	done()
	one()
	waiting(1)
	var answered []func()
	for range mostAhead + 3 {
		answered = append(answered, s.expect())
	}
	waiting(mostAhead)
	for _, f := range answered {
		f()
	}
	waiting(1)
	s.close()
	s.expect()()
	waiting(0)
}

// TestReadersSideBySide: many documents at once are read, each for itself.
func TestReadersSideBySide(t *testing.T) {
	s := readersOf(t)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			want := fmt.Sprintf("page %d", i)
			text, _, err := s.read(t.Context(), reader.Document{Kind: reader.HTML, Address: "https://example.org/", Form: reader.Markdown, Most: 100}, []byte("<p>"+want))
			if err != nil || text != want {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	all.Wait()
}

// bounded holds what any document comes to.
func bounded(t *testing.T, s *readers, d reader.Document, body []byte) {
	text, said, err := s.read(t.Context(), d, body)
	if _, is := errors.AsType[*sdk.Error](err); err != nil && !is {
		t.Errorf("%v", err)
	}
	if len(text) > 2*d.Most || !utf8.ValidString(text) || !utf8.ValidString(said.Title) {
		t.Errorf("%d bytes, title %q", len(text), said.Title)
	}
}

func FuzzHTML(f *testing.F) {
	for _, page := range []string{"<title>x</title><p>y", "<table><tr><td>1</table>", "<svg><title>z</title></svg><a href='//[x'>b</a>", "<meta charset=utf-16>\xff\xfe", "<ul><li><pre><code>`</ul>"} {
		for _, in := range []string{string(reader.Markdown), string(reader.Main), string(reader.Raw)} {
			f.Add([]byte(page), "text/html; charset=shift_jis", in)
		}
	}
	s := readersOf(f)
	f.Fuzz(func(t *testing.T, page []byte, header, in string) {
		bounded(t, s, reader.Document{Kind: reader.HTML, Type: header, Address: "https://example.org/a?b", Form: reader.Form(in), Most: 4096}, page)
	})
}

func FuzzPDF(f *testing.F) {
	f.Add(pdfOf("", words("Kettles boil.")))
	f.Add(pdfOf("/Filter /FlateDecode", inflating(f, words("x"), 3)))
	s := readersOf(f)
	f.Fuzz(func(t *testing.T, file []byte) {
		bounded(t, s, reader.Document{Kind: reader.PDF, Address: "https://example.org/a.pdf", Most: 4096}, file)
	})
}
