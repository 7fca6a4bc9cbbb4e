package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestKeepStacks: few are kept of each plugin, for nobody else to read.
func TestKeepStacks(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1_700_000_000, 0)
	var last string
	for n := range 2 * keptStacks {
		for _, instance := range []string{"a", "a-b"} {
			file, err := KeepStacks(dir, instance, fmt.Append(nil, n), now.Add(time.Duration(n)*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			last = file
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(last), "*"))
	if err != nil || len(left) != 2*keptStacks {
		t.Fatalf("kept %v: %v", left, err)
	}
	for _, f := range left {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info, err)
		}
		text, err := os.ReadFile(f)
		if err != nil || string(text) < fmt.Sprint(keptStacks) {
			t.Errorf("%s is an old one (%s): %v", f, text, err)
		}
	}
	if info, err := os.Stat(filepath.Dir(last)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v %v", info, err)
	}
}

// TestAskedWhereItStands: what comes before it is asked is logged, and no more is kept
// than is bearable.
func TestAskedWhereItStands(t *testing.T) {
	var log strings.Builder
	l := NewLines(hclog.New(&hclog.LoggerOptions{Output: &log}))
	write := func(text string) {
		if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	write("before\n")
	l.ask()
	write(strings.Repeat("x", mostStacks-1))
	write("yz\n")
	if text := string(l.answer()); len(text) != mostStacks || !strings.HasSuffix(text, "xy") {
		t.Errorf("kept %d bytes", len(text))
	}
	if l.Flush(); !strings.HasSuffix(log.String(), "before\n") {
		t.Errorf("logged %.200q", log.String())
	}
}
