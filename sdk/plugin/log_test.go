package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestLines: what is logged is what go-hclog writes, by which the daemon reads it.
func TestLines(t *testing.T) {
	var ours, theirs bytes.Buffer
	log := slog.New(newLines(&ours, "p")).With("run", 7)
	like := hclog.New(&hclog.LoggerOptions{Name: "p", Level: hclog.Debug, Output: &theirs, JSONFormat: true}).With("run", 7)
	log.Debug("a \"quoted\"\nline", "n", 1.5, "ok", true)
	like.Debug("a \"quoted\"\nline", "n", 1.5, "ok", true)
	log.Info("b", "error", errors.New("boom"), "level", "mine", "msg", "mine")
	like.Info("b", "error", errors.New("boom"), "level", "mine", "msg", "mine")
	log.Warn("c", "list", []string{"x"})
	like.Warn("c", "list", []string{"x"})
	log.Error("d", "took", 90*time.Second)
	like.Error("d", "took", "1m30s")
	log.WithGroup("g").With("a", 1).Info("e", slog.Group("h", "b", 2), "nan", math.NaN())
	like.Info("e", "g.a", 1, "g.h.b", 2, "g.nan", "!json: unsupported value: NaN")
	a, b := strings.Split(ours.String(), "\n"), strings.Split(theirs.String(), "\n")
	if len(a) != len(b) {
		t.Fatalf("%d lines, want %d:\n%s", len(a), len(b), ours.String())
	}
	for i := range a[:len(a)-1] {
		if got, want := members(t, a[i]), members(t, b[i]); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		if !strings.HasPrefix(a[i], `{"@level":`) {
			t.Errorf("the daemon knows a line by its beginning: %s", a[i])
		}
	}
}

// members are those of a line but for its time, which must be one.
func members(t *testing.T, line string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000000Z07:00", m["@timestamp"].(string)); err != nil {
		t.Error(err)
	}
	delete(m, "@timestamp")
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
