package sdk_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestAddressStands(t *testing.T) {
	const page = "https://example.org/a"
	for text, want := range map[string]bool{
		"":                                    false,
		page:                                  true,
		"read " + page + " and say":           true,
		"read " + page + ".":                  true,
		"read " + page + ", please":           true,
		"(see " + page + ").":                 true,
		"[a](" + page + ")":                   true,
		"<" + page + ">":                      true,
		`"` + page + `"`:                      true,
		`{"url":"` + page + `","fresh":true}`: true,
		`["` + page + `"]`:                    true,
		`"` + page + `b","fresh":true`:        false,
		`"` + page + `.","fresh":true`:        true,
		"(" + page + `)b`:                     false,
		"`" + page + "`":                      true,
		"**" + page + "**":                    false, // a star may begin an address of another scheme's; nobody loses by being asked
		"first\n" + page + "\nlast":           true,
		page + "b":                            false,
		page + "/b":                           false,
		page + "?q=1":                         false,
		page + "#f":                           false,
		page + ".html":                        false,
		page + "%2e":                          false,
		page + ",b":                           false,
		"x" + page:                            false,
		"https://evil.example/?u=" + page:     false,
		page + "b " + page:                    true,
		strings.ToUpper(page):                 false,
		"https://example.org/ and then a":     false,
		page + "\u200bb":                      false,
		"https://example.org" + " " + "/a":    false,
		"go to " + page + "! Now":             true,
		"is it " + page + "?":                 true,
		"is it " + page + "?b=c of a query":   false,
	} {
		if got := sdk.AddressStands(text, page); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if sdk.AddressStands("anything", "") {
		t.Error("no address stands somewhere")
	}
}

// TestNoPartOfAnAddressStands: whatever a longer address is, nothing that is shorter stands in it, but without the
// marks at its end that people write behind one.
func TestNoPartOfAnAddressStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := "https://" + rapid.StringMatching(`[a-z.]{1,10}(/[a-z%?=&#.,-]{0,10}){0,3}[a-z/]`).Draw(t, "address")
		n := rapid.IntRange(1, len(whole)-1).Draw(t, "length")
		if sdk.AddressStands("read "+whole+" now", whole[:n]) {
			t.Fatalf("%q stands in %q", whole[:n], whole)
		}
	})
}
