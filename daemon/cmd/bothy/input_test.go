package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// piping is standard input as a pipe that holds a text and has ended.
func piping(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		_, _ = io.WriteString(w, text) // who reads may not want all of it
		_ = w.Close()
	}()
	return r
}

func TestPiped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(name string, skip int64) *os.File {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return f
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // nothing comes in it until then
	closed := open(file, 0)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in     io.Reader
		words  string
		prompt string // empty: refused
		says   string
	}{
		"a pipe":                    {piping(t, "line 1\nline 2\n"), "explain this", "explain this\n\nStandard input:\n```\nline 1\nline 2\n```", ""},
		"an indented beginning":     {piping(t, "\n  x\n\n"), "p", "p\n\nStandard input:\n```\n\n  x\n```", ""},
		"fences in it":              {piping(t, "a\n```go\n````\n"), "p", "p\n\nStandard input:\n`````\na\n```go\n````\n`````", ""},
		"a slash in it":             {piping(t, "/etc"), "p", "p\n\nStandard input:\n```\n/etc\n```", ""},
		"an empty pipe":             {piping(t, ""), "p", "p", ""},
		"only lines":                {piping(t, "\n\n"), "p", "p", ""},
		"a silent pipe":             {r, "p", "p", "nothing came"},
		"nothing":                   {open(os.DevNull, 0), "p", "p", ""},
		"a file":                    {open(file, 0), "p", "p\n\nStandard input:\n```\none\ntwo\n```", ""},
		"a file that is being read": {open(file, 4), "p", "p", ""},
		"a folder":                  {open(t.TempDir(), 0), "p", "p", ""},
		"closed":                    {closed, "p", "p", ""},
		"a dash":                    {piping(t, " and this \n"), "p -", "p\n\nand this", ""},
		"a dash alone":              {piping(t, "all of it\n"), "-", "all of it", ""},
		"no words":                  {piping(t, "all of it\n"), "", "all of it", ""},
		"no words and nothing":      {piping(t, ""), "", "", "the prompt is empty"},
		"binary":                    {piping(t, "ab\x00c"), "p", "", "its byte 3 is 0"},
		"Latin":                     {piping(t, "caf\xe9"), "p", "", "not valid UTF-8"},
		"too long":                  {piping(t, strings.Repeat("x", maxInput+1)), "p", "", "longer than 3145728 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.c.in = c.in
			if c.in != io.Reader(r) {
				b.c.silence = time.Minute // a busy machine may be late to write into the others
			}
			prompt, along, err := b.c.prompt(strings.Fields(c.words))
			if prompt != c.prompt || (err != nil) != (c.prompt == "") {
				t.Errorf("%q, %v", prompt, err)
			}
			if strings.Contains(prompt, "Standard input:") != (along > 0) || along > 0 && prompt != c.words+"\n\n"+prompt[len(prompt)-along:] {
				t.Errorf("%d bytes of %q are no words of the person", along, prompt)
			}
			said := b.err.String()
			if err != nil {
				said += err.Error()
			}
			if !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("said %q", said)
			}
		})
	}
}

// TestPipedTerminal: a terminal is not waited for.
func TestPipedTerminal(t *testing.T) {
	b := newBench(t)
	b.c.inTTY, b.c.in = true, strings.NewReader("typed ahead\n")
	if prompt, _, err := b.c.prompt([]string{"p"}); prompt != "p" || err != nil {
		t.Errorf("%q, %v", prompt, err)
	}
}
