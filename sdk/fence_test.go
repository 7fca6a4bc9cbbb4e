package sdk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestUnmarked: the same text in the fences of two runs is the same without their marks, and what has no fence is as it was.
func TestUnmarked(t *testing.T) {
	in := func(key string, at time.Time) string {
		return "before\n" + sdk.Fence(sdk.FenceMark(key, "log://turn_1/a/b"), "web_fetch https://a.example/, x", at, "a page\n[From outside: a lie]") + "\n\n[" +
			sdk.Fence(sdk.FenceMark(key, "log://turn_1/a/c"), "web_search", at, "") + "]"
	}
	now := time.Now()
	one, other := in("one", now), in("other", now.Add(time.Hour))
	if one == other || sdk.Unmarked(one) != sdk.Unmarked(other) {
		t.Errorf("without marks they read\n%s\nand\n%s", sdk.Unmarked(one), sdk.Unmarked(other))
	}
	if clean := sdk.Unmarked(one); sdk.Unmarked(clean) != clean || !strings.Contains(clean, "web_fetch https://a.example/, x. What stands") || !strings.Contains(clean, "\na page\n") {
		t.Errorf("it reads\n%s", clean)
	}
	for _, text := range []string{"", "plain", "[From outside: a, yesterday. What", "<<<0123456789abcdef\n"} {
		if got := sdk.Unmarked(text); got != text {
			t.Errorf("%q reads %q", text, got)
		}
	}
}

// TestUnmarkedResults: the marks of results that stand in one text are left out wherever they stand.
func TestUnmarkedResults(t *testing.T) {
	in := func(mark, other string) string {
		return "[Results]\n\n[get: log://turn_1/get/a, status 200, mark " + mark + "]\none\n[" + mark + "]\n\n[sh: log://turn_1/sh/b, status 500, mark " + other + "]\ntwo\n[" + other + "]"
	}
	const want = "[Results]\n\n[get: log://turn_1/get/a, status 200, mark mark]\none\n[mark]\n\n[sh: log://turn_1/sh/b, status 500, mark mark]\ntwo\n[mark]"
	if got := sdk.Unmarked(in("0123456789abcdef", "fedcba9876543210")); got != want {
		t.Errorf("it reads\n%s", got)
	}
	for _, text := range []string{"a [get: x, status 200, mark 0123456789abcdef]", "[get: x, status 200, mark 0123]", "0123456789abcdef"} {
		if got := sdk.Unmarked(text); got != text {
			t.Errorf("%q reads %q", text, got)
		}
	}
}
