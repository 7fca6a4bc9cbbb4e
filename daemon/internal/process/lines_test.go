package process

import (
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
