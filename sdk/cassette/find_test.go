package cassette

import (
	"strings"
	"testing"
)

func TestDifferenceIsShownWhereItIs(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	d := differs("x", long+"a"+long, long+"b"+long)
	for _, s := range []string{d.Expected, d.Got} {
		if len(s) > clipAt+20 || !strings.HasPrefix(s, `"…`) || !strings.HasSuffix(s, `…"`) {
			t.Errorf("%q", s)
		}
	}
	if !strings.Contains(d.Expected, "a") || !strings.Contains(d.Got, "b") {
		t.Errorf("%q and %q do not show the difference", d.Expected, d.Got)
	}
}

func TestSameArguments(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true,null]}`, `{ "b" : [true, null], "a" : 1.0 }`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":"1"}`, `{"a":1}`, false},
		{`[1,2]`, `[2,1]`, false},
		{``, ``, true},
		{`{}`, ``, false},
		{`{} {}`, `{}`, false},
	} {
		if got := sameArguments(c.a, c.b); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}
