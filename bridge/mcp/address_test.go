package main

import (
	"strings"
	"testing"
)

func TestAddressOf(t *testing.T) {
	for uri, want := range map[string]*address{
		"bothy://runs/chat-1":                         {run: "chat-1"},
		"bothy://runs/chat%2D1":                       {run: "chat-1"},
		"bothy://runs/a/changes":                      {run: "a", part: partDiff},
		"bothy://runs/a/prompts/12":                   {run: "a", part: partPrompt, prompt: 12},
		"bothy://runs/":                               nil,
		"bothy://runs/a/":                             nil,
		"bothy://runs/a/prompts":                      nil,
		"bothy://runs/a/prompts/0":                    nil,
		"bothy://runs/a/prompts/x":                    nil,
		"bothy://runs/a/prompts/1/2":                  nil,
		"bothy://runs/../secret":                      nil,
		"bothy://runs/a%2Fb":                          nil,
		"bothy://runs/%":                              nil,
		"bothy://other/a":                             nil,
		"file:///etc/passwd":                          nil,
		runsURI + strings.Repeat("a", 100):            nil,
		"bothy://runs/a/prompts/99999999999999999999": nil,
	} {
		a, is := addressOf(uri)
		if is != (want != nil) || want != nil && a != *want {
			t.Errorf("%s: %+v, %v", uri, a, is)
		}
	}
}

// FuzzAddressOf: whatever names something names a run by a name that one can have, and is written again as it was meant.
func FuzzAddressOf(f *testing.F) {
	for _, uri := range []string{"bothy://runs/a", "bothy://runs/a/changes", "bothy://runs/a/prompts/1", "bothy://runs/%61/prompts/+1"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		a, is := addressOf(uri)
		if !is {
			return
		}
		if !runName.MatchString(a.run) || (a.part == partPrompt) != (a.prompt > 0) {
			t.Errorf("%q: %+v", uri, a)
		}
		if again, is := addressOf(runURI(a.run)); !is || again.run != a.run {
			t.Errorf("%q: %+v, and again %+v", uri, a, again)
		}
	})
}
