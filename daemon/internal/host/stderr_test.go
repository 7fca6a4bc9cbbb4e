package host

import (
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLastWordsAreNoLog(t *testing.T) {
	l := newLineLimiter(hclog.NewNullLogger())
	l.copy(io.Discard, strings.NewReader(`{"@level":"warn","@message":"an old warning","path":"/home/somebody"}
{"@level":"error","@message":"out of paper","@module":"x"}
{"@broken
panic: really
`))
	if got, want := l.last(), `"out of paper\n{\"@broken\npanic: really"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
