package sdk

import (
	"encoding/json"
	"testing"
)

// TestSpans: what is no part of a text is none, and a span is the same when it is read again.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		at   Span
		want string
		ok   bool
	}{
		{Span{0, 1}, "a", true}, {Span{1, 3}, "ä", true}, {Span{4, 4}, "", true}, {Span{}, "", true},
		{Span{1, 2}, "", false}, {Span{0, 5}, "", false}, {Span{-1, 1}, "", false}, {Span{3, 1}, "", false},
	} {
		if got, ok := c.at.Of("aäb"); ok != c.ok || ok && got != c.want {
			t.Errorf("%v is %q, %v", c.at, got, ok)
		}
		raw, err := json.Marshal(c.at)
		var again Span
		if err == nil {
			err = json.Unmarshal(raw, &again)
		}
		if err != nil || again != c.at {
			t.Errorf("%v is read as %v, %v", c.at, again, err)
		}
	}
	if err := new(Span).UnmarshalJSON([]byte(`{"start":1}`)); err == nil {
		t.Error("an object is a span")
	}
}
