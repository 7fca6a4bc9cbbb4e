package process

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLastWordsAreNoLog(t *testing.T) {
	l := NewLines(hclog.NewNullLogger())
	l.levelled = io.Discard
	_, _ = l.Write([]byte(`{"@level":"warn","@message":"an old warning","path":"/home/somebody"}
{"@level":"error","@message":"out of paper","@module":"x"}
{"@broken
`))
	l.Flush()
	if got, want := l.last(), `"out of paper\n{\"@broken"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLoggedLines: the lines of a plugin's logger keep their level and the order of their
// members, without what the log has itself; no line of JSON is more than a line.
func TestLoggedLines(t *testing.T) {
	for line, want := range map[string]string{
		`{"@level":"warn","@message":"low","@module":"jq","@timestamp":"2026-01-02T03:04:05.000000Z","z":1,"a":"b c","m":9007199254740993}`: `[WARN]  low: z=1 a="b c" m=9007199254740993`,
		`{"@level":"error","@message":"out"}`:                              "[ERROR] out",
		`{"@level":"loud","@message":"odd"}`:                               "[INFO]  odd",
		`{"@level":"off","@message":"off"}`:                                "[INFO]  off",
		`{"@level":"info","@message":null,"@timestamp":5}`:                 "[INFO]  <nil>",
		`{"@message":{"a":1},"@level":5}`:                                  "[INFO]  map[a:1]",
		`{"@level":"info","@message":"nested","o":{"k":[1,"x"]},"n":null}`: `[INFO]  nested: o="{\"k\":[1,\"x\"]}" n=<nil>`,
		`{"@level":"info"`:                                                 `[INFO]  {"@level":"info"`,
		`{"@level":"info"} and more`:                                       `[INFO]  {"@level":"info"} and more`,
		"printed":                                                          "[INFO]  printed",
	} {
		var out bytes.Buffer
		l := NewLines(hclog.New(&hclog.LoggerOptions{Output: &out, DisableTime: true, Level: hclog.Trace}))
		l.levelled = io.Discard
		_, _ = l.Write([]byte(line + "\n"))
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestLastWordsOfADump: of a dump the beginning tells what happened, of other words the end.
func TestLastWordsOfADump(t *testing.T) {
	long := strings.Repeat("a line of many\n", 1000)
	for said, want := range map[string]string{
		long + "panic: boom\n\ngoroutine 1\n" + long:                  `"panic: boom\n\ngoroutine 1\na line`,
		"fatal error: runtime: cannot allocate memory\n" + long:       `"fatal error: runtime: cannot allocate memory\na line`,
		long + "cannot open my database\n":                            `cannot open my database"`,
		"panic: mended\n{\"@level\":\"info\"}\n" + long + "the end\n": `the end"`,
	} {
		l := NewLines(hclog.NewNullLogger())
		l.levelled = io.Discard
		_, _ = l.Write([]byte(said))
		if got := l.last(); !strings.HasPrefix(got, want) && !strings.HasSuffix(got, want) {
			t.Errorf("%.40s: %s", said, got)
		}
	}
}
