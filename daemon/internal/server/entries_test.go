package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEntriesByBody: a filter finds what has a text, page by page, with bodies or without, and each page is bounded.
func TestEntriesByBody(t *testing.T) {
	h := open(t, nil)
	for i := range 100 {
		word := "odd"
		if i%2 == 0 {
			word = "even"
		}
		h.store.entries = append(h.store.entries, sdk.Entry{Path: fmt.Sprintf("known://%03d", i), Body: fmt.Sprintf("%s %d", word, i), State: sdk.StateResolved})
	}
	c := h.client(t)
	list := func(p rpc.EntriesParams) (paths []string, pages int) {
		p.Run = "7"
		for {
			page, err := c.Entries(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, e := range page.Entries {
				if (e.Body == "") != p.Brief {
					t.Errorf("%s has the body %q", e.Path, e.Body)
				}
				paths = append(paths, e.Path)
			}
			if p.Offset = page.Next; page.Next == 0 {
				return paths, pages
			}
		}
	}
	for _, brief := range []bool{true, false} {
		for limit := range 60 {
			paths, _ := list(rpc.EntriesParams{Body: "/^odd/", Brief: brief, Limit: limit})
			if len(paths) != 50 || paths[0] != "known://001" || paths[49] != "known://099" {
				t.Fatalf("limit %d: %d: %v", limit, len(paths), paths)
			}
		}
	}
	if paths, _ := list(rpc.EntriesParams{Pattern: "known://00*", Body: "even", Limit: 3}); strings.Join(paths, " ") != "known://000 known://002 known://004 known://006 known://008" {
		t.Errorf("a pattern and a filter find %v", paths)
	}
	if paths, pages := list(rpc.EntriesParams{Body: "nowhere"}); len(paths) != 0 || pages != 1 {
		t.Errorf("nothing is %v, on %d pages", paths, pages)
	}
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Run: "7", Body: "/(/"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a pattern that is none: %v", err)
	}

	// Where much is looked through and little found, pages end before they are full.
	h.store.entries = nil
	for i := range 40 {
		h.store.entries = append(h.store.entries, sdk.Entry{Path: fmt.Sprintf("known://%03d", i), Body: strings.Repeat("x", entriesLooked/20), State: sdk.StateResolved})
	}
	h.store.entries[39].Body += "found"
	if paths, pages := list(rpc.EntriesParams{Body: "found"}); len(paths) != 1 || pages < 2 {
		t.Errorf("%v, on %d pages", paths, pages)
	}
	if page, err := c.Entries(t.Context(), rpc.EntriesParams{Run: "7"}); err != nil || len(page.Entries) != 1 || page.Next != 1 {
		t.Errorf("a page of long ones has %d, %v", len(page.Entries), err)
	}
}
