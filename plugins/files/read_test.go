package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 2*megabytes)
	tp := newProject(t, map[string]string{
		"five": "1\n2\n3\n4\n5\n", "open": "1\n2", "empty": "", "crlf": "a\r\nb\r\n", "newline": "\n",
		"long": "a\n" + long + "\nb\n", "latin": "caf\xe9\n", "big": strings.Repeat("0123456789\n", 200_000),
	})
	tests := []struct {
		name       string
		first, end int // 0 is left out
		text       string
		from, to   int
		total      int // -1 is not told
		more       bool
	}{
		{"five", 0, 0, "1\n2\n3\n4\n5\n", 1, 5, 5, false},
		{"five", 2, 3, "2\n3\n", 2, 3, -1, true},
		{"five", 5, 5, "5\n", 5, 5, 5, false},
		{"five", 4, 99, "4\n5\n", 4, 5, 5, false},
		{"five", 0, 1, "1\n", 1, 1, -1, true},
		{"five", 3, 0, "3\n4\n5\n", 3, 5, 5, false},
		{"open", 0, 0, "1\n2", 1, 2, 2, false},
		{"open", 2, 2, "2", 2, 2, 2, false},
		{"empty", 0, 0, "", 0, 0, 0, false},
		{"empty", 1, 5, "", 0, 0, 0, false},
		{"newline", 0, 0, "\n", 1, 1, 1, false},
		{"crlf", 2, 2, "b\r\n", 2, 2, 2, false},
		{"latin", 0, 0, "caf\uFFFD\n", 1, 1, 1, false},
		{"long", 1, 1, "a\n", 1, 1, -1, true},
		{"long", 3, 3, "b\n", 3, 3, 3, false},
		{"big", 199_999, 0, "0123456789\n0123456789\n", 199_999, 200_000, 200_000, false},
	}
	for _, tt := range tests {
		args := readArgs{Path: tt.name}
		if tt.first > 0 {
			args.StartLine = &tt.first
		}
		if tt.end > 0 {
			args.EndLine = &tt.end
		}
		got, err := tp.read(context.Background(), args)
		if err != nil {
			t.Errorf("%s %d-%d: %v", tt.name, tt.first, tt.end, err)
			continue
		}
		data := got.data.(readData)
		total := -1
		if data.TotalLines != nil {
			total = *data.TotalLines
		}
		if got.text != tt.text || got.truncated || data.StartLine != tt.from || data.EndLine != tt.to || total != tt.total || data.More != tt.more {
			t.Errorf("%s %d-%d: %.40q, truncated %v, total %d, %+v", tt.name, tt.first, tt.end, got.text, got.truncated, total, data)
		}
		if data.InvalidUTF8 != (tt.name == "latin") {
			t.Errorf("%s: invalid_utf8 %v", tt.name, data.InvalidUTF8)
		}
	}
}

func TestReadOfMoreThanTheLimit(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"big":  strings.Repeat("0123456789\n", 200_000),
		"wide": "é" + strings.Repeat("é", megabytes) + "\nb\n",
	})
	whole, err := tp.read(ctx, readArgs{Path: "big"})
	if err != nil {
		t.Fatal(err)
	}
	one := 1
	got, err := tp.read(ctx, readArgs{Path: "big", StartLine: &one})
	if err != nil || got.text != whole.text {
		t.Fatal(err)
	}
	data := got.data.(readData)
	if !got.truncated || !data.More || data.EndLine != megabytes/11 || !strings.Contains(got.text, "go on with start_line 181819]") {
		t.Errorf("truncated %v, %+v, ends %q", got.truncated, data, got.text[len(got.text)-120:])
	}
	if len(got.text) > megabytes+200 {
		t.Errorf("%d bytes were read", len(got.text))
	}

	tp.most--
	got, err = tp.read(ctx, readArgs{Path: "wide", StartLine: &one, EndLine: &one})
	tp.most++
	if err != nil {
		t.Fatal(err)
	}
	if text, note, _ := strings.Cut(got.text, "\n"); strings.Trim(text, "é") != "" || !strings.Contains(note, "line 1 is longer") || !got.truncated {
		t.Errorf("a cut line ends %q, then %q", text[len(text)-10:], note)
	}
}

func TestReadRefuses(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"five": "1\n2\n3\n4\n5\n", "dir/x": "x"})
	full := filepath.Join(tp.dir, "fifo")
	if err := syscall.Mkfifo(full, 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(tp.dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	number := func(n int) *int { return &n }
	tests := []struct {
		args    readArgs
		outcome sdk.Outcome
		words   string
	}{
		{readArgs{Path: "gone"}, sdk.NotFound, "gone does not exist"},
		{readArgs{Path: "gone/x"}, sdk.NotFound, "gone does not exist"},
		{readArgs{Path: "five/x"}, sdk.Validation, "not a directory"},
		{readArgs{Path: "dir"}, sdk.Validation, "list_files"},
		{readArgs{Path: "."}, sdk.Validation, "directory"},
		{readArgs{Path: "fifo"}, sdk.Validation, "fifo"},
		{readArgs{Path: "sock"}, sdk.Validation, "sock"},
		{readArgs{Path: "five", StartLine: number(0)}, sdk.Validation, "counted from 1"},
		{readArgs{Path: "five", EndLine: number(-1)}, sdk.Validation, "counted from 1"},
		{readArgs{Path: "five", StartLine: number(3), EndLine: number(2)}, sdk.Validation, "before"},
		{readArgs{Path: "five", StartLine: number(6)}, sdk.Validation, "has 5 lines"},
	}
	for _, tt := range tests {
		_, err := tp.read(ctx, tt.args)
		wantOutcome(t, err, tt.outcome, tt.words)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = tp.read(ended, readArgs{Path: "five"})
	wantOutcome(t, err, sdk.Aborted)
}

func TestSpecialFilesAreNeverChanged(t *testing.T) {
	tp := newProject(t, map[string]string{"spare": "s"})
	if err := syscall.Mkfifo(filepath.Join(tp.dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	_, err := tp.write(ctx, writeArgs{Path: "fifo", Content: "x"})
	wantOutcome(t, err, sdk.Validation, "fifo")
	_, err = tp.edit(ctx, editArgs{Path: "fifo", OldText: "x"})
	wantOutcome(t, err, sdk.Validation, "fifo")
	_, err = tp.copy(ctx, moveArgs{Source: "fifo", Destination: "x"})
	wantOutcome(t, err, sdk.Validation, "fifo")
	_, err = tp.copy(ctx, moveArgs{Source: "spare", Destination: "fifo", Overwrite: true})
	wantOutcome(t, err, sdk.Validation, "fifo")
	_, err = tp.grep(ctx, grepArgs{Pattern: "x", Path: "fifo"})
	wantOutcome(t, err, sdk.Validation, "fifo")
	if _, err := tp.grep(ctx, grepArgs{Pattern: "x"}); err != nil {
		t.Error(err) // a fifo on the way is passed by
	}
}

func TestReadDescribesBinaryFiles(t *testing.T) {
	tp := newProject(t, map[string]string{
		"image": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "late": strings.Repeat("a", sniffed) + "\x00", "text": "a\n",
		"edge": strings.Repeat("a", sniffed-1) + "\x00",
	})
	for name, binary := range map[string]bool{"image": true, "edge": true, "late": false, "text": false} {
		got, err := tp.read(context.Background(), readArgs{Path: name})
		if err != nil {
			t.Fatal(err)
		}
		data := got.data.(readData)
		if data.Binary != binary || binary != strings.Contains(got.text, "binary file") {
			t.Errorf("%s: %+v, %.60q", name, data, got.text)
		}
		if name == "image" && data.Type != "image/png" {
			t.Errorf("type %s", data.Type)
		}
	}
}

// countingLines is a file of endless lines that counts how much of it was read.
type countingLines struct{ read int64 }

func (c *countingLines) Read(p []byte) (int, error) {
	const line = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456\n"
	n := 0
	for n < len(p) {
		n += copy(p[n:], line[(c.read+int64(n))%int64(len(line)):])
	}
	c.read += int64(n)
	return n, nil
}

// TestReadOfAGigabyte reads a range in the middle of a gigabyte: in bounded
// memory, and nothing much behind the range.
func TestReadOfAGigabyte(t *testing.T) {
	const gigabyte, width = 1 << 30, 128
	endless := &countingLines{}
	r := bufio.NewReaderSize(endless, 64<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const first = gigabyte/width - 10
	got, err := readLines(context.Background(), r, first, first+9, 10_000_000)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if got.count != 10 || len(got.text) != 10*width || got.ended || got.cut {
		t.Errorf("%d lines, %d bytes, %+v", got.count, len(got.text), got.ended)
	}
	if endless.read > gigabyte+128<<10 {
		t.Errorf("%d bytes were read for a range that ends at %d", endless.read, gigabyte)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// TestReadOfAGigabyteFile does the same on disk, where the file has one line of
// a gigabyte behind the range.
func TestReadOfAGigabyteFile(t *testing.T) {
	tp := newProject(t, map[string]string{"big": strings.Repeat("line\n", 10_000)})
	tp.most = 10_000_000
	if err := os.Truncate(filepath.Join(tp.dir, "big"), 1<<30); err != nil {
		t.Fatal(err)
	}
	first, last := 9_000, 9_001
	got, err := tp.read(context.Background(), readArgs{Path: "big", StartLine: &first, EndLine: &last})
	if err != nil || got.text != "line\nline\n" {
		t.Fatalf("%.40q, %v", got.text, err)
	}
	got, err = tp.read(context.Background(), readArgs{Path: "big"})
	if err != nil || !got.truncated || !strings.Contains(got.text[len(got.text)-150:], "go on with start_line") && !strings.Contains(got.text[len(got.text)-150:], "cut here") {
		t.Errorf("%v, ends %q", err, got.text[max(0, len(got.text)-150):])
	}
}

func TestReadStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for name, source := range map[string]io.Reader{"lines": &countingLines{}, "one line": endlessLine{}} {
		r := bufio.NewReaderSize(source, 64<<10)
		if _, err := readLines(ctx, r, int(^uint(0)>>1), int(^uint(0)>>1), megabytes); err != context.DeadlineExceeded {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endlessLine never ends its only line.
type endlessLine struct{}

func (endlessLine) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
