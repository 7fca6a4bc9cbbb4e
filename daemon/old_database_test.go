package daemon

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// TestOldDatabase opens what the build of commit ec70b50 left, shows the same
// facts of it as that build did, goes on with a run, answers what waits, and takes
// changes of files back.
func TestOldDatabase(t *testing.T) {
	p := oldPlace(t)
	printed := map[string][]any{}
	for _, want := range oldFacts(t) {
		call := strings.Join(want.args, " ")
		if printed[call] == nil {
			printed[call] = p.printed(t, want.args)
		}
		if why := missing(want.facts, want.among(printed[call]), want.name); why != "" {
			t.Error(why)
		}
	}
	p.folds(t)
	say := func(text string, args ...string) {
		t.Helper()
		if out, err := p.bothy(args...); err != nil || !strings.Contains(out, text) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	say("the journal is whole", "audit", "verify")
	say("the tool said: one\n2\nthree", "run", "-r", "long", `call read_file {"path":"a.txt"}`)
	say("took back", "runs", "undo", "long", "--yes")
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "old\n", "acc.txt": "accepted " + strings.Repeat("x", 1100) + "\n", "long.txt": "", "moved.txt": ""} {
		if is, err := os.ReadFile(filepath.Join(p.home, "project", name)); string(is) != text || err != nil && text != "" {
			t.Errorf("%s: %v: %.60q", name, err, is)
		}
	}
	say("rejected", "proposals", "reject", p.waits(t, "waiting").ID)
	p.until(t, `"outcome": "permission"`, "runs", "show", "waiting", "--json")
	// What was agreed to is bound to the plugin's binary, which is another one now.
	w := p.waits(t, "rewaits")
	say("accepted", "proposals", "accept", w.ID, "--hash", w.Hash)
	p.until(t, `what would run is no longer what was agreed to`, "runs", "show", "rewaits", "--json")
	if _, err := os.Stat(filepath.Join(p.home, "project", "f2.txt")); err == nil {
		t.Error("what was agreed to for another binary ran")
	}
	say("the journal is whole", "audit", "verify")
}

// oldPlace is a place with that build's database and configuration, and its
// project as the runs left it.
func oldPlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", (&parrot{asked: map[string]bool{}}).complete)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	config := strings.Replace(readOld(t, "config.hcl"), "http://127.0.0.1:18765", server.URL, 1)
	p.write(t, ".config/bothy/config.hcl", config+"plugin \"bash\" {\n  enabled = false\n}\n")
	for name, text := range map[string]string{
		"a.txt": "one\n2\nthree\n", "acc.txt": "accepted " + strings.Repeat("x", 1100) + "\n", "called.txt": "called\n",
		"descale.md": "# Kettle\nVinegar removes scale.\n", "e2.txt": "edited\n", "long.txt": strings.Repeat("x", 1100), "moved.txt": "first\n", "yolo.txt": "yolo\n",
	} {
		p.write(t, "project/"+name, text)
		if err := os.Chmod(filepath.Join(p.home, "project", name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	zipped, err := gzip.NewReader(strings.NewReader(readOld(t, "bothy.db.gz")))
	if err != nil {
		t.Fatal(err)
	}
	db, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, ".local/state/bothy/bothy.db", string(db))
	p.settleProject(t)
	t.Cleanup(func() { _, _ = p.bothy("stop") })
	return p
}

// settleProject moves the project of the database to the place's own. The
// journal, which is chained, goes on naming the old root.
func (p *place) settleProject(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(p.home, ".local/state/bothy/bothy.db"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(filepath.Join(p.home, "project"))
	if err == nil {
		_, err = db.Exec(`UPDATE projects SET root = ?`, root)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func readOld(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "ec70b50", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// oldFact is one thing that the build of that commit printed.
type oldFact struct {
	name  string   // for people
	args  []string // of bothy, which prints it today
	find  string   // the member by which it is found among many
	facts map[string]any
}

func oldFacts(t *testing.T) []oldFact {
	t.Helper()
	var all []oldFact
	for line := range strings.Lines(readOld(t, "shown.jsonl")) {
		var l struct {
			Show            string
			Is              map[string]any
			Audit, Proposal map[string]any
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		loops, _ := l.Is["loops"].([]any)
		for i := range loops {
			loop := todays(t, loops[i])
			loop["options"] = todays(t, loop["options"])
			loops[i] = loop
		}
		turns, _ := l.Is["turns"].([]any)
		for _, turn := range turns { // that build told nanoseconds
			turn, _ := turn.(map[string]any)
			took, _ := turn["duration"].(float64)
			delete(turn, "duration")
			turn["duration_ms"] = float64(time.Duration(took).Milliseconds())
		}
		countCompletions(l.Is)
		if telemetry, _ := l.Is["telemetry"].(map[string]any); telemetry["cost"] == 0.0 {
			delete(telemetry, "cost") // which was how that build told that it did not know
		}
		switch {
		case l.Show != "":
			all = append(all, oldFact{"run " + l.Show, []string{"runs", "show", l.Show, "--json"}, "", l.Is})
		case l.Audit != nil:
			all = append(all, oldFact{fmt.Sprint("audit ", l.Audit["seq"]), []string{"audit", "--json"}, "seq", l.Audit})
		default:
			all = append(all, oldFact{fmt.Sprint("proposal ", l.Proposal["path"]), []string{"proposals", "--all", "--json"}, "id", todays(t, l.Proposal)})
		}
	}
	return all
}

// countCompletions adds what plugins asked of models to what a run used, where that build
// told it among the notes alone.
func countCompletions(run map[string]any) {
	used, _ := run["telemetry"].(map[string]any)
	notes, _ := run["notes"].([]any)
	for _, note := range notes {
		note, _ := note.(map[string]any)
		data, _ := note["data"].(map[string]any)
		usage, _ := data["usage"].(map[string]any)
		if note["kind"] != sdk.KindNoteCompletion || used == nil {
			continue
		}
		for name, n := range usage {
			n, _ := n.(float64)
			had, _ := used[name+"_tokens"].(float64)
			used[name+"_tokens"] = had + n
		}
	}
}

// todays is an object that the build of that commit printed with the names that
// its members have today.
func todays(t *testing.T, object any) (renamed map[string]any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	text, _ = sdk.FromOldForm(text)
	if err := json.Unmarshal(text, &renamed); err != nil {
		t.Fatal(err)
	}
	return renamed
}

var manyX = regexp.MustCompile(`x{100,}`)

// printed is what bothy prints today, as a list.
func (p *place) printed(t *testing.T, args []string) (all []any) {
	t.Helper()
	out, err := p.bothy(args...)
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	root, err := filepath.EvalSymlinks(filepath.Join(p.home, "project"))
	if err != nil {
		t.Fatal(err)
	}
	out = strings.NewReplacer(root, "$PROJECT", "/home/bothy/fix/project", "$PROJECT").Replace(out)
	dec := json.NewDecoder(strings.NewReader(manyX.ReplaceAllString(out, "x...")))
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		if list, many := v.([]any); many {
			all = append(all, list...)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// folds compares what the rows of the journal fold to with what the entries hold:
// the same loops and actions, whichever way they are read.
func (p *place) folds(t *testing.T) {
	t.Helper()
	for _, fact := range oldFacts(t) {
		if fact.find != "" {
			continue
		}
		run := fact.args[2]
		tl, actions := p.timeline(t, run)
		out, err := p.bothy("runs", "show", run, "--json")
		var shown rpc.RunDetail
		if err != nil || json.Unmarshal([]byte(out), &shown) != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, e := range shown.History {
			if _, is := sdk.ParseActionPath(e.Path); is && e.Turn > shown.Inherited {
				if why := differs(actions[e.Path], e); why != "" {
					t.Errorf("%s: %s: %s", run, e.Path, why)
				}
				delete(actions, e.Path)
			}
		}
		if len(actions) > 0 || len(tl.Loops) != len(shown.Loops) {
			t.Errorf("%s: %d loops, and too many actions: %v", run, len(tl.Loops), actions)
			continue
		}
		for i, l := range tl.Loops {
			s := shown.Loops[i]
			if l.ID != s.ID || l.Prompt != s.Prompt || l.Sequence != s.Sequence || (l.End == nil) != s.Ended.IsZero() || l.End != nil && (l.End.Stop != s.Stop || l.End.Status != s.Status) {
				t.Errorf("%s: %+v, and the loop is %+v", run, l, s)
			}
		}
	}
}

// timeline folds the journal of a run, and finds its actions by path.
func (p *place) timeline(t *testing.T, run string) (*timeline.Timeline, map[string]*timeline.Action) {
	t.Helper()
	out, err := p.bothy("journal", "--run", run, "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tl, actions := &timeline.Timeline{}, map[string]*timeline.Action{}
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var row sdk.JournalRow
		if err := dec.Decode(&row); err != nil {
			t.Fatal(err)
		}
		if a := tl.Take(row).Action; a != nil {
			actions[a.Path] = a
		}
	}
	return tl, actions
}

// differs says what the rows tell of an action otherwise than its entry.
func differs(a *timeline.Action, e rpc.Event) string {
	if a == nil || a.State != e.State || a.Outcome != e.Outcome || a.Body != e.Body || a.Turn != e.Turn {
		return fmt.Sprintf("the rows tell %+v, and the entry is %+v", a, e)
	}
	if a.IsError() {
		return ""
	}
	raw, err := e.Attributes.Object()
	held, err1 := sdk.ActionOf(sdk.Entry{Attributes: raw})
	a.Structured = nil // getRun leaves it out
	got, err2 := json.Marshal(a.Action)
	is, err3 := json.Marshal(held)
	if err := errors.Join(err, err1, err2, err3); err != nil || !bytes.Equal(got, is) {
		return fmt.Sprintf("%v: the rows tell %s, and the entry holds %s", err, got, is)
	}
	return ""
}

// among is the same fact as it is printed today.
func (f oldFact) among(all []any) any {
	for _, v := range all {
		if m, _ := v.(map[string]any); f.find == "" || m[f.find] == f.facts[f.find] {
			return v
		}
	}
	return nil
}

// missing says which of the facts is not there; further ones may be.
func missing(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		if text, is := got.(string); is && json.Unmarshal([]byte(text), &g) != nil { // as attributes are written today
			return fmt.Sprintf("%s is the text %q and was an object", at, text)
		}
		for name, value := range w {
			if why := missing(value, g[name], at+"."+name); why != "" {
				return why
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s: there are %d and not %d: %v", at, len(g), len(w), got)
		}
		for i := range w {
			if why := missing(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
		return ""
	}
	if want != got {
		return fmt.Sprintf("%s is %v and was %v", at, got, want)
	}
	return ""
}

// waits is the proposal that waits in a run.
func (p *place) waits(t *testing.T, run string) (w struct{ ID, Hash string }) {
	t.Helper()
	out, err := p.bothy("proposals", "--run", run, "--json")
	var all []struct{ ID, Hash string }
	if err != nil || json.Unmarshal([]byte(out), &all) != nil || len(all) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return all[0]
}
