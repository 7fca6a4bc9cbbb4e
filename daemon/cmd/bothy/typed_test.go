package main

import "testing"

func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		" a \n": "a", "/greet Ann\n": "/greet Ann", " /greet\n": " /greet", "\n\t/greet": " /greet", "  ": "", "/": "/", " /quit": " /quit",
	} {
		if got := typed(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
