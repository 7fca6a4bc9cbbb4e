package server

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEntriesOfAnOwner: who names an owner in the place of a run is answered by their newest run; another's than of this machine need
// the role admin, and a run beside it is a mistake.
func TestEntriesOfAnOwner(t *testing.T) {
	h := open(t, nil)
	h.store.runs = append(h.store.runs, sdk.Run{ID: 70, Project: 1, Alias: "mine", Origin: sdk.Origin{Owner: sdk.LocalOwner}}, sdk.Run{ID: 71, Project: 1, Alias: "of-ada", Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}})
	c := h.client(t)
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Owner: sdk.LocalOwner}); err != nil {
		t.Error(err)
	}
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Owner: sdk.LocalOwner, Run: "70"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("an owner and a run: %v", err)
	}
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Owner: "chat/ada"}); err != nil {
		t.Errorf("with the role admin: %v", err)
	}
	if _, err := h.as(t, rpc.RoleApprove).Entries(t.Context(), rpc.EntriesParams{Owner: "chat/ada"}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("without the role admin: %v", err)
	}
}

// TestEntriesWithoutRuns: what is kept of somebody is reached where they have no run, and of nobody else is one made.
func TestEntriesWithoutRuns(t *testing.T) {
	h := open(t, nil)
	h.store.found(sdk.Project{ID: 3, Root: "/state/owners"}, sdk.Run{ID: 19, Project: 3, Alias: "tools", Hidden: true})
	c := h.client(t)
	for owner, reached := range map[string]bool{sdk.LocalOwner: true, "chat/kept": true, "chat/nobody": false} {
		done, err := c.SetEntry(t.Context(), rpc.Set{Owner: owner, Path: "known://a", Body: new("text")})
		if reached != (err == nil) || !reached && sdk.OutcomeOf(err) != sdk.NotFound || strings.HasPrefix(done.Text, "19 ") != reached {
			t.Errorf("%s: %v, which did %q", owner, err, done.Text)
		}
	}
}

// TestFactsOfOthers: what belongs to another owner than whoever works at this machine is found by no way without the role admin:
// neither by the run of theirs, a path, a pattern, a filter, a verb nor a row of the journal.
func TestFactsOfOthers(t *testing.T) {
	h := open(t, nil)
	h.store.runs = append(h.store.runs, sdk.Run{ID: 70, Project: 1, Alias: "mine", Origin: sdk.Origin{Owner: sdk.LocalOwner}}, sdk.Run{ID: 71, Project: 1, Alias: "of-ada", Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}})
	body := "canary"
	h.store.entries = []sdk.Entry{{Path: "fact://word/1", Body: body}, {Path: "known://else", Body: body}}
	for _, run := range []int64{70, 71} {
		h.store.commit(sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Path: "fact://word/1", Body: &body})
		h.store.commit(sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Path: "known://else", Body: &body})
	}
	for _, role := range []rpc.Role{rpc.RoleObserve, rpc.RoleSubmit, rpc.RoleApprove, rpc.RoleAdmin} {
		c := h.as(t, role)
		for run, may := range map[string]bool{"70": true, "71": role == rpc.RoleAdmin} {
			facts := func(all []sdk.Entry) (n int) {
				for _, e := range all {
					if e.Scheme() == "fact" {
						n++
					}
				}
				return n
			}
			for _, p := range []rpc.EntriesParams{{}, {Pattern: "*://*/*"}, {Pattern: "fact://*/*"}, {Pattern: "FACT://word/1"}, {Pattern: "fact://word/1"}, {Body: "can?ry"}, {Brief: true}} {
				p.Run = run
				page, err := c.Entries(t.Context(), p)
				if (err != nil) != (!may && strings.HasPrefix(strings.ToLower(p.Pattern), "fact:")) || err != nil && sdk.OutcomeOf(err) != sdk.Permission {
					t.Errorf("%s of %s by %+v: %v", role, run, p, err)
				}
				if n := facts(page.Entries); n > 0 && !may || n == 0 && may && p.Pattern != "FACT://word/1" {
					t.Errorf("%s of %s by %+v finds %d facts", role, run, p, n)
				}
			}
			page, err := c.Journal(t.Context(), rpc.JournalParams{Run: run})
			if err != nil || len(page.Rows) != map[bool]int{true: 2, false: 1}[may] {
				t.Errorf("%s of %s is given the rows %+v, %v", role, run, page.Rows, err)
			}
			if role == rpc.RoleObserve {
				continue
			}
			for method, params := range map[string]any{
				rpc.MethodGet: rpc.Get{Run: run, Path: "fact://word/1"}, rpc.MethodSet: rpc.Set{Run: run, Path: "fact://word/2", Body: &body}, rpc.MethodRemove: rpc.Remove{Run: run, Path: "Fact://**"},
				rpc.MethodCopy: rpc.Move{Run: run, Path: "fact://word/1", To: "known://x"}, rpc.MethodMove: rpc.Move{Run: run, Path: "known://x", To: "fact://word/1"},
			} {
				if err := c.Call(t.Context(), method, params, nil); (sdk.OutcomeOf(err) == sdk.Permission && err != nil) == may {
					t.Errorf("%s of %s by %s: %v", role, run, method, err)
				}
			}
			if err := c.Call(t.Context(), rpc.MethodGet, rpc.Get{Run: run, Path: "f*t://**"}, nil); err != nil {
				t.Error(err)
			} else if within := h.engine.within; (within == nil) != may || within != nil && (within("fact://word/1") || !within("known://else")) {
				t.Errorf("%s of %s: a pattern reaches facts", role, run)
			}
		}
	}
}
