package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestWriting: each piece is told once, whatever happens to the connection or to the daemon.
func TestWriting(t *testing.T) {
	say := func(s string) rpc.Preview { return rpc.Preview{Turn: 1, Text: s} }
	for name, c := range map[string]struct {
		pieces []rpc.Preview
		end    string
		want   []string // what was told, piece by piece, the end last
	}{
		"written":                    {[]rpc.Preview{{Turn: 1, Text: "on", First: true}, say("e")}, "one", []string{"on", "e", ""}},
		"not heard":                  {nil, "one", []string{"one"}},
		"the end was not heard":      {[]rpc.Preview{say("o")}, "one", []string{"o", "ne"}},
		"joined in the middle":       {[]rpc.Preview{{Turn: 1, Text: "on", Whole: true}, say("e")}, "one", []string{"on", "e", ""}},
		"a piece was dropped":        {[]rpc.Preview{say("o"), {Turn: 1, Text: "x", Dropped: true}, say("y")}, "one", []string{"o", "", "", "ne"}},
		"whole again after that":     {[]rpc.Preview{say("o"), {Turn: 1, Dropped: true}, {Turn: 1, Text: "on", Whole: true}, say("e")}, "one", []string{"o", "", "n", "e", ""}},
		"its end alone":              {[]rpc.Preview{say("o"), {Turn: 1, Text: "n", Whole: true, Dropped: true}, say("e")}, "one", []string{"o", "", "", "ne"}},
		"the same again":             {[]rpc.Preview{say("on"), {Turn: 1, Restart: true}, say("o"), say("n"), say("e")}, "one", []string{"on", "", "", "", "e", ""}},
		"another":                    {[]rpc.Preview{say("on"), {Turn: 1, Restart: true}, say("t"), say("wo")}, "two", []string{"on", "", anew + "t", "wo", ""}},
		"shorter":                    {[]rpc.Preview{say("one"), {Turn: 1, Restart: true}, say("on")}, "on", []string{"one", "", "", anew + "on"}},
		"with blanks around it":      {[]rpc.Preview{say("one\n\n")}, "one", []string{"one\n\n", ""}},
		"another turn":               {[]rpc.Preview{{Turn: 7, Text: "before"}, say("o")}, "one", []string{"before", "o", "ne"}},
		"nothing but calls":          {nil, "", []string{""}},
		"deleted since":              {[]rpc.Preview{say("o")}, "", []string{"o", ""}},
		"begun with the whole of it": {[]rpc.Preview{{Turn: 1, Text: "one", Restart: true, Whole: true}}, "one", []string{"one", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var w writing
			var got []string
			for _, p := range c.pieces {
				_, text := w.take(p)
				got = append(got, text)
			}
			_, text := w.end(1, "", c.end)
			if got = append(got, text); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestWritingThoughts: reasoning is told apart from the text, and once.
func TestWritingThoughts(t *testing.T) {
	var w writing
	var thought, text strings.Builder
	for _, p := range []rpc.Preview{{Turn: 1, Reasoning: "h"}, {Turn: 1, Reasoning: "m"}, {Turn: 1, Text: "yes"}} {
		a, b := w.take(p)
		thought.WriteString(a)
		text.WriteString(b)
	}
	a, b := w.end(1, "hmm", "yes")
	if got := thought.String() + a + "|" + text.String() + b; got != "hmm|yes" {
		t.Errorf("%q", got)
	}
}
