package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:11434":        "http://127.0.0.1:11434",
		"0.0.0.0":                "http://127.0.0.1:11434",
		"0.0.0.0:8000":           "http://127.0.0.1:8000",
		":9999":                  "http://127.0.0.1:9999",
		"gpu-box":                "http://gpu-box:11434",
		"[::1]:11434":            "http://[::1]:11434",
		"[::]":                   "http://127.0.0.1:11434",
		"https://ollama.example": "https://ollama.example",
		"http://h:1/v1/":         "http://h:1",
		"http://h:1/api/chat":    "http://h:1",
		"http://h:1/sub/api":     "http://h:1/sub",
	} {
		if got := normalise(in); got != want {
			t.Errorf("normalise(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWithTag(t *testing.T) {
	for in, want := range map[string]string{"llama3.1": "llama3.1:latest", "llama3.1:8b": "llama3.1:8b", "hf.co:443/a/b": "hf.co:443/a/b:latest", "": ""} {
		if got := withTag(in); got != want {
			t.Errorf("withTag(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]float64{"8.0B": 8, "70B": 70, "334M": 0.334, "1.5T": 1500, "8x7B": 56, " 3b ": 3, "": math.Inf(1), "B": math.Inf(1), "huge": math.Inf(1), "-1B": math.Inf(1), "8xB": math.Inf(1), "NaNB": math.Inf(1)} {
		if got := parseSize(in); math.Abs(got-want) > 1e-9 && got != want {
			t.Errorf("parseSize(%q) = %v, want %v", in, got, want)
		}
	}
}

// TestChoiceOrder has the rows M2 and M3, and holds for any list that nothing
// is lost and size decides among equals.
func TestChoiceOrder(t *testing.T) {
	names := func(sizes ...string) []string {
		var list []sized
		for _, s := range sizes {
			list = append(list, sized{Model: sdk.Model{Name: s}, billions: parseSize(s)})
		}
		var out []string
		for _, m := range choiceOrder(list) {
			out = append(out, m.Name)
		}
		return out
	}
	if got := names("70B", "8.0B"); got[0] != "8.0B" {
		t.Errorf("M2: %v", got)
	}
	if got := names("?", "8x7B", "15B", "8.0B"); !slices.Equal(got, []string{"8.0B", "15B", "8x7B", "?"}) {
		t.Errorf("M3: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.SampledFrom([]string{"1B", "2B", "3x2B", "10M", "x"})).Draw(t, "sizes")
		got := names(list...)
		if !slices.IsSortedFunc(got, func(a, b string) int {
			switch x, y := parseSize(a), parseSize(b); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}) || len(got) != len(list) {
			t.Errorf("%v became %v", list, got)
		}
	})
}
