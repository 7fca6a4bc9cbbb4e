package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What must be true of a site whose daemon died and came back, however often.

// finished checks that a run came to its end, and that each of its actions had
// its effect once, or says that it was interrupted and had it once at most.
func (s *site) finished(p plan, a rpc.Accepted) {
	s.t.Helper()
	d, err := s.client.Run(context.Background(), rpc.RunRef{Run: strconv.FormatInt(a.ID, 10)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.history.detail(d)
	i := slices.IndexFunc(d.Loops, func(l sdk.Loop) bool { return l.ID == a.Loop })
	if i < 0 || d.Loops[i].Status != sdk.StatusOK {
		s.t.Errorf("%s: loop %d of run %s is not at 200: %+v", p.Tag, a.Loop, d.Run, d.Loops)
		return
	}
	if l := d.Loops[i]; p.Reject > 0 && l.Stop != "rejected" {
		s.t.Errorf("%s: a call of run %s was rejected, and the loop ended by %q: %s", p.Tag, d.Run, l.Stop, l.Reason)
	}
	if want := fmt.Sprintf("%s: finished %d steps", p.Tag, p.Steps); p.Reject == 0 && p.Errand == "" && i == len(d.Loops)-1 && !strings.Contains(d.Summary, want) {
		s.t.Errorf("run %s ended with %q, want %q", d.Run, d.Summary, want)
	}
	s.turns(d)
	s.actions(a.ID, p.Tag+"-")
	if slices.Contains(p.Tools, sdk.ToolDelegate) {
		s.delegations(a.ID)
	}
	if p.File {
		s.planned(p, d)
	}
	if p.team() {
		s.teamwork(p, d)
	}
}

// actions holds the actions of a run against the lines that begin with mark.
func (s *site) actions(run int64, mark string) {
	s.t.Helper()
	count := s.lines()
	noted := map[string]int{}
	for _, e := range s.entries(run, "log://**") {
		line, ok := lineOf(e)
		if !ok {
			continue
		}
		noted[line]++
		n := count[line]
		switch {
		case e.State == sdk.StateResolved && n == 1:
		case e.State == sdk.StateFailed && e.Outcome == sdk.Interrupted && n <= 1:
		case e.State.Ended() && e.Outcome == sdk.Aborted && n == 0: // it stood behind one that was interrupted, or rejected
		case e.State == sdk.StateFailed && e.Outcome == sdk.Permission && n == 0: // a person rejected it
		default:
			s.t.Errorf("%s is %s %s in phase %s, and its line is there %d times: %s", e.Path, e.State, e.Outcome, e.Phase, n, e.Body)
		}
	}
	for line, n := range count {
		if strings.HasPrefix(line, mark) && noted[line] != 1 {
			s.t.Errorf("line %q is there %d times, and %d actions were to write it", line, n, noted[line])
		}
	}
}

// turns checks that no part of a turn is there without the rest: what the model
// answered stands with all actions that it asked for, and those with their ends.
func (s *site) turns(d rpc.RunDetail) {
	s.t.Helper()
	calls, actions := map[int]int{}, map[int]int{}
	for _, e := range s.entries(d.ID, "**") {
		var at struct {
			Tool   string     `json:"tool"`
			Parent string     `json:"parent"`
			Calls  []sdk.Call `json:"calls"`
		}
		if json.Unmarshal(e.Attributes, &at) != nil {
			continue
		}
		switch {
		case e.Path == fmt.Sprintf("assistant://%d", e.Turn):
			calls[e.Turn] = len(at.Calls) + strings.Count(e.Body, "/>") + strings.Count(e.Body, "</") // as tags
		case e.Scheme() == "log" && at.Tool != "" && at.Parent == "":
			actions[e.Turn]++
		}
	}
	for _, turn := range d.Turns {
		if turn.Loop != 0 && calls[turn.Sequence] != actions[turn.Sequence] {
			s.t.Errorf("in turn %d of run %s the model made %d calls, and there are %d actions", turn.Sequence, d.Run, calls[turn.Sequence], actions[turn.Sequence])
		}
		if !turn.Closed && d.Status != sdk.StatusRunning {
			s.t.Errorf("turn %d of run %s is open, and the run is at %d", turn.Sequence, d.Run, d.Status)
		}
	}
}

// lineOf is the line that an action was to write.
func lineOf(e sdk.Entry) (string, bool) {
	var at struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(e.Attributes, &at); err != nil || at.Tool == "" {
		return "", false
	}
	line := lineOfCall(at.Tool, at.Arguments)
	return line, line != ""
}

// lineOfCall is the line that a call is to write; empty when it writes none.
func lineOfCall(tool string, arguments json.RawMessage) string {
	var at struct {
		Line    string `json:"line"`
		Command string `json:"command"`
		Name    string `json:"name"`
		Input   string `json:"input"`
	}
	if json.Unmarshal(arguments, &at) != nil {
		return ""
	}
	switch {
	case tool == "bash":
		_, at.Line, _ = strings.Cut(at.Command, "echo ")
		at.Line, _, _ = strings.Cut(at.Line, " ")
	case tool == "use_skill" && at.Name == codeSkill:
		at.Line = at.Input
	}
	return at.Line
}

// entries reads all entries of a run that match.
func (s *site) entries(run int64, pattern string) []sdk.Entry {
	s.t.Helper()
	var all []sdk.Entry
	for offset := 0; ; {
		page, err := s.client.Entries(context.Background(), rpc.EntriesParams{Run: strconv.FormatInt(run, 10), Pattern: pattern, Limit: 1000, Offset: offset})
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, page.Entries...)
		if offset = page.Next; offset == 0 {
			return all
		}
	}
}

// journal reads the whole journal through the socket.
func (s *site) journal() []sdk.JournalRow {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var rows []sdk.JournalRow
	upto := s.status().Seq
	if upto == 0 {
		return nil
	}
	c := s.connect("reader")
	err := c.Follow(ctx, client.Watch{}, func(e client.Event) error {
		if rows = append(rows, *e.Row); e.Row.Seq >= upto {
			return client.ErrDone
		}
		return nil
	})
	if err != nil {
		s.t.Fatalf("read the journal: %v\n%s", err, s.evidence())
	}
	return rows
}

// acknowledged checks that nothing that was acknowledged is lost.
func (s *site) acknowledged() {
	s.t.Helper()
	for _, fault := range s.history.check(s.journal()) {
		s.t.Error(fault)
	}
}

// whole stops the daemon, and checks that it leaves nothing behind and that the
// chain of what it wrote verifies.
func (s *site) whole() {
	s.t.Helper()
	s.stop()
	s.allGone()
	s.nothingOfDeleted()
	st, err := store.Open(context.Background(), s.store, store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(st.Verify(context.Background(), 0), st.Close()); err != nil {
		s.t.Error(err)
	}
}
