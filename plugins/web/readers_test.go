package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// breakOutArgument has the test's program try what a reader must not be able to do.
const breakOutArgument = "break-out"

// breakOut says what worked of that, within walls.
func breakOut() {
	if err := wall(); err != nil {
		fmt.Print("no walls: ", err)
		os.Exit(0)
	}
	for name, attempt := range map[string]func() error{
		"read a file":  func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"write a file": func() error { return os.WriteFile("/tmp/bothy-broke-out", nil, 0o600) },
		"list":         func() error { _, err := os.ReadDir("/"); return err },
		"its own proc": func() error { _, err := os.ReadFile("/proc/self/environ"); return err },
		"connect":      func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
		"a socket":     func() error { _, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); return err },
		"a program":    func() error { return exec.Command("/bin/true").Run() },
		"a signal":     func() error { return syscall.Kill(os.Getppid(), 0) },
		"a priority":   func() error { return syscall.Setpriority(syscall.PRIO_PROCESS, os.Getppid(), 19) },
		"a group's":    func() error { return syscall.Setpriority(syscall.PRIO_PGRP, 0, 19) },
	} {
		err := attempt()
		if !errors.Is(err, syscall.EPERM) {
			fmt.Printf("%s: %v\n", name, err)
		}
	}
	if err := giveWay(); err != nil {
		fmt.Println("give way: ", err)
	}
	fmt.Print("held")
	os.Exit(0)
}

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

// TestWalls: what reads documents has no files, no network and no programs.
func TestWalls(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux holds a process to what it has open")
	}
	if raced {
		t.Skip("what watches for races makes calls of the system that a reader is refused")
	}
	out, err := exec.CommandContext(t.Context(), ownProgram(), breakOutArgument).Output()
	if err != nil || string(out) != "held" {
		t.Errorf("%v: %s", err, out)
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
		kind kind
		body []byte
		want []sdk.Outcome
	}{
		"a PDF that needs 8 GB":      {kindPDF, pdfOf("/Filter /FlateDecode", inflating(t, chunk, 2<<10)), []sdk.Outcome{sdk.OutOfMemory, sdk.Timeout}},
		"a PDF of nested bombs":      {kindPDF, pdfOf("/Filter [/FlateDecode /FlateDecode]", inflating(t, inflating(t, chunk, 1<<10), 8)), []sdk.Outcome{sdk.OutOfMemory, sdk.Timeout, sdk.Validation}},
		"no PDF":                     {kindPDF, []byte("%PDF-1.4\nnothing of it"), []sdk.Outcome{sdk.Validation}},
		"a PDF with a loop of pages": {kindPDF, bytes.Replace(pdfOf("", words("x")), []byte("/Kids [5 0 R ]"), []byte("/Kids [2 0 R ]"), 1), []sdk.Outcome{sdk.OutOfMemory, sdk.Timeout, sdk.Validation}},
		"HTML nested without end":    {kindHTML, bytes.Repeat([]byte("<div><b>"), 100_000), []sdk.Outcome{sdk.Validation, sdk.Timeout, sdk.OutOfMemory}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := s.read(t.Context(), document{Kind: c.kind, Address: "https://example.org/x", Form: formMarkdown, Most: 1_000_000}, c.body)
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
	text, said, err := s.read(t.Context(), document{Kind: kindPDF, Address: "https://example.org/y", Most: 100}, pdfOf("", words("Kettles boil."), words("Pots do too.")))
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
	_, _, err := s.read(t.Context(), document{Kind: kindHTML, Address: "https://example.org/", Most: 1}, bytes.Repeat([]byte("x"), 1<<20))
	if sdk.OutcomeOf(err) != sdk.Timeout {
		t.Errorf("late: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.patience = time.Hour
	cancel()
	if _, _, err = s.read(ctx, document{Kind: kindHTML, Most: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLostReader: one that died while it waited is not held against the document.
func TestLostReader(t *testing.T) {
	s := readersOf(t)
	s.tend()
	if err := s.ahead[0].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	text, _, err := s.read(t.Context(), document{Kind: kindHTML, Address: "https://example.org/", Form: formMarkdown, Most: 100}, []byte("<p>here"))
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
			text, _, err := s.read(t.Context(), document{Kind: kindHTML, Address: "https://example.org/", Form: formMarkdown, Most: 100}, []byte("<p>"+want))
			if err != nil || text != want {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	all.Wait()
}

// bounded holds what any document comes to.
func bounded(t *testing.T, s *readers, d document, body []byte) {
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
		for _, in := range []string{string(formMarkdown), string(formMain), string(formRaw)} {
			f.Add([]byte(page), "text/html; charset=shift_jis", in)
		}
	}
	s := readersOf(f)
	f.Fuzz(func(t *testing.T, page []byte, header, in string) {
		bounded(t, s, document{Kind: kindHTML, Type: header, Address: "https://example.org/a?b", Form: form(in), Most: 4096}, page)
	})
}

func FuzzPDF(f *testing.F) {
	f.Add(pdfOf("", words("Kettles boil.")))
	f.Add(pdfOf("/Filter /FlateDecode", inflating(f, words("x"), 3)))
	s := readersOf(f)
	f.Fuzz(func(t *testing.T, file []byte) {
		bounded(t, s, document{Kind: kindPDF, Address: "https://example.org/a.pdf", Most: 4096}, file)
	})
}
