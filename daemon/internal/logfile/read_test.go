package logfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const written = `2026-01-02T03:04:05.000Z [INFO]  bothyd: serving: version=dev pid=12
2026-01-02T03:04:06.000Z [ERROR] bothyd.server: a handler panicked: method=status
  stack=
  | goroutine 1
  | main.go:12
2026-01-02T03:04:07.000Z [DEBUG] bothyd.host: no colon
2026-01-02T03:04:08.000Z [WARN]  bothyd: [odd] text: with: colons
`

func readAll(t *testing.T, path string, q Query) []string {
	t.Helper()
	var got []string
	err := Read(context.Background(), path, q, func(l Line) error {
		got = append(got, strings.Join([]string{l.Level, l.Name, l.Text}, "|"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "[odd] folder", "bothyd.log")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, path, Query{}); got != nil {
		t.Errorf("without a log: %q", got)
	}
	older, newer, _ := strings.Cut(written, "2026-01-02T03:04:07")
	for name, text := range map[string]string{path + ".3": older, path: "2026-01-02T03:04:07" + newer + "no message\n\xff", path + ".old": "x"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serving, panicked := "info|bothyd|serving: version=dev pid=12", "error|bothyd.server|a handler panicked: method=status\n  stack=\n  | goroutine 1\n  | main.go:12"
	colon, odd := "debug|bothyd.host|no colon", "warn|bothyd|[odd] text: with: colons\nno message"
	for name, c := range map[string]struct {
		q    Query
		want []string
	}{
		"all":              {Query{}, []string{serving, panicked, colon, odd}},
		"the last":         {Query{Last: 2}, []string{colon, odd}},
		"more than all":    {Query{Last: 20}, []string{serving, panicked, colon, odd}},
		"warn and worse":   {Query{Level: "warn"}, []string{panicked, odd}},
		"the last that is": {Query{Level: "error", Last: 1}, []string{panicked}},
		"since":            {Query{Since: time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)}, []string{colon, odd}},
		"none":             {Query{Since: time.Date(2027, 1, 2, 3, 4, 7, 0, time.UTC)}, nil},
	} {
		if got := readAll(t, path, c.q); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s", name, strings.Join(got, "\n"))
		}
	}
	if err := Read(context.Background(), path, Query{Level: "loud"}, nil); err == nil || !strings.Contains(err.Error(), "loud") {
		t.Errorf("level loud: %v", err)
	}
}

// TestFollowLog follows a log from before there is one, across many rotations,
// a restart and a file that was cut: no line is missing and none comes twice.
func TestFollowLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothyd.log")
	const lines = 3000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	read := make(chan error, 1)
	enough := errors.New("enough")
	next := 0
	go func() {
		read <- Read(ctx, path, Query{Follow: true, Last: 10, Missed: func() { t.Error("files went unread") }}, func(l Line) error {
			var n int
			if _, err := fmt.Sscanf(l.Text, "line %d", &n); err != nil || n != next {
				return fmt.Errorf("got %q, want line %d", l.Text, next)
			}
			if next++; next == lines {
				return enough
			}
			return nil
		})
	}()
	write := func(f *file, n int) {
		fmt.Fprintf(f, "%s [INFO]  bothyd: line %d\n", time.Now().Format(timeFormat), n)
	}
	f := openFile(path, 1000, 500)
	for n := range lines {
		write(f, n)
		switch {
		case n%700 == 0:
			<-time.After(2 * followPause) // the follower reads up to here
		case n%900 == 0:
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			f = openFile(path, 1000, 500)
		}
	}
	if err := <-read; !errors.Is(err, enough) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestFollowLateLog: a follower that was asleep while files went says so, and
// goes on with what is there; it ends in order when it is told to.
func TestFollowLateLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothyd.log")
	if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	missed := make(chan struct{}, 1)
	got := make(chan string, 10)
	read := make(chan error, 1)
	go func() {
		read <- Read(ctx, path, Query{Follow: true, Last: 1, Missed: func() { missed <- struct{}{} }}, func(l Line) error {
			got <- l.Text
			return nil
		})
	}()
	if text := <-got; !strings.Contains(text, "colons") {
		t.Errorf("%q", text)
	}
	if err := os.WriteFile(path+".new", []byte("2026-01-02T03:05:00.000Z [INFO]  bothyd: other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	<-missed
	if text := <-got; text != "other" {
		t.Errorf("%q", text)
	}
	if err := os.WriteFile(path, []byte("2026-01-02T03:05:00.000Z [INFO]  bothyd: cut\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "cut" {
		t.Errorf("%q", text)
	}
	cancel()
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// FuzzParseLine: whatever stands in a log, a message's text is the end of its
// line.
func FuzzParseLine(f *testing.F) {
	for line := range strings.Lines(written) {
		f.Add(strings.TrimSuffix(line, "\n"))
	}
	f.Add("2026-01-02T03:04:05.000Z [")
	f.Fuzz(func(t *testing.T, line string) {
		l, begins := parseLine(line)
		if l.Raw != line || !strings.HasSuffix(line, l.Text) || begins == l.Time.IsZero() && begins {
			t.Errorf("%q gave %+v", line, l)
		}
	})
}
