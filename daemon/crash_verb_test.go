package daemon

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/tool"
)

// Verbs on entries, by a model, a plugin and a client, on daemons that die between any two of their commits.

// keeper is an agent that has a verb on entries, and tools of the ledger.
const keeper = "agent \"keeper\" {\n  model = \"steps/steps\"\n  tools = [\"note_line\", \"note_entry\", \"set\"]\n}\n"

// keptAt is where a plan's calls of set append their lines. What they answer begins with the path, so that
// it says that the line was noted.
func keptAt(tag string) string { return "known://" + noted(tag) }

type entryLine struct {
	Entry string `json:"entry"`
}

// noteEntry appends a line to two entries of the run by verbs, in one commit.
func noteEntry(ctx context.Context, in entryLine, _ tool.Call) (sdk.ToolResult, error) {
	text := in.Entry + "\n"
	var uses []sdk.EntryCall
	for _, path := range pluginKeeps {
		uses = append(uses, sdk.EntryCall{Verb: sdk.VerbSet, Path: path, Body: &text, Append: true})
	}
	if _, err := host.From(ctx).Do(ctx, uses...); err != nil {
		return sdk.ToolResult{}, err
	}
	return tool.Text(noted(in.Entry)), nil
}

var pluginKeeps = []string{"known://ledger/one", "known://ledger/two"}

func verbScenes() map[string]scenario {
	return map[string]scenario{
		"a model":  {act: actVerbs("set"), check: checkVerbs},
		"a plugin": {act: actVerbs("note_entry"), check: checkVerbs},
		"a client": {act: actClientsVerbs, check: checkClientsVerbs},
	}
}

// actVerbs gives a prompt whose calls append lines to entries.
func actVerbs(tool string) func(*visitor, *job) error {
	return func(v *visitor, j *job) error {
		return v.prompt(j, plan{Tag: j.tag, Agent: "keeper", Steps: 2, Tools: []string{tool}, Twice: true})
	}
}

// checkVerbs holds the lines of entries against the calls that were to write them: each is there once, and the line of a
// call that was interrupted at most once, in both entries or in none.
func checkVerbs(v *visitor, j *job) {
	v.t.Helper()
	lines := map[string]map[string]int{}
	total := 0
	for _, e := range v.entries(j.run, "known://**") {
		lines[e.Path] = map[string]int{}
		for line := range strings.Lines(e.Body) {
			lines[e.Path][strings.TrimSuffix(line, "\n")]++
			total++
		}
	}
	told := 0
	for _, e := range v.entries(j.run, "log://**") {
		at, err := sdk.ActionOf(e)
		var arguments struct{ Entry, Body string }
		if err != nil || json.Unmarshal(at.Arguments, &arguments) != nil {
			continue
		}
		places, line := pluginKeeps, arguments.Entry
		if at.Tool == "set" {
			places, line = []string{keptAt(j.tag)}, strings.TrimSuffix(arguments.Body, "\n")
		}
		if line == "" {
			continue
		}
		n := lines[places[0]][line]
		for _, path := range places {
			told += lines[path][line]
			if lines[path][line] != n {
				v.t.Errorf("%s: the line %s is %d times in %s, and %d times in %s", e.Path, line, n, places[0], lines[path][line], path)
			}
		}
		begun := at.Tool == "note_entry" && e.Outcome == sdk.Interrupted
		if want := map[bool]int{true: 1}[e.State == sdk.StateResolved]; n != want && (!begun || n > 1) {
			v.t.Errorf("%s is %s %s, and its line is there %d times", e.Path, e.State, e.Outcome, n)
		}
	}
	if told != total {
		v.t.Errorf("%d lines are there, and calls account for %d: %v", total, told, lines)
	}
}

const clientText = "written once\n"

// actClientsVerbs writes an entry and gives it another path, as a client does that looks before it does something again.
func actClientsVerbs(v *visitor, j *job) error {
	ctx, cancel := actTime()
	defer cancel()
	if j.run == 0 {
		d, err := v.client.Run(ctx, rpc.RunRef{Run: j.tag, Project: v.project})
		if sdk.OutcomeOf(err) == sdk.NotFound {
			var s rpc.Started
			s, err = v.client.StartRun(ctx, rpc.StartRun{Project: v.project, Run: j.tag})
			d.ID = s.ID
		}
		if err != nil {
			return err
		}
		j.run = d.ID
	}
	run := strconv.FormatInt(j.run, 10)
	page, err := v.client.Entries(ctx, rpc.EntriesParams{Run: run, Pattern: "known://**"})
	if err != nil {
		return err
	}
	there := func(path string) bool {
		return slices.ContainsFunc(page.Entries, func(e sdk.Entry) bool { return e.Path == path })
	}
	if (j.told != "" && len(page.Entries) != 1) || j.told == clientPaths[1] && !there(j.told) {
		v.t.Errorf("%s was told to be there, and there are %+v", j.told, page.Entries)
	}
	if len(page.Entries) == 0 {
		text := clientText
		if _, err := v.client.SetEntry(ctx, rpc.Set{Run: run, Path: clientPaths[0], Body: &text, Append: true}); err != nil {
			return err
		}
		j.told = clientPaths[0]
	}
	if !there(clientPaths[1]) {
		if _, err := v.client.MoveEntry(ctx, rpc.Move{Run: run, Path: clientPaths[0], To: clientPaths[1]}); err != nil {
			return err
		}
		j.told = clientPaths[1]
	}
	return nil
}

var clientPaths = []string{"known://first", "known://then"}

func checkClientsVerbs(v *visitor, j *job) {
	v.t.Helper()
	all := v.entries(j.run, "known://**")
	if len(all) != 1 || all[0].Path != clientPaths[1] || all[0].Body != clientText {
		v.t.Errorf("a client wrote one entry and moved it, and there are %+v", all)
	}
}

// fewestCommits is how many commits a scenario has at the least.
const fewestCommits = 3

// TestVerbsKilled kills a daemon around its commits while verbs on entries are used, and where it knows what they write and has
// not written it. What a call wrote is there with its end or not at all, and what anybody was told is there.
//
// Around how many commits, eachCommitOr says.
func TestVerbsKilled(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	random := seeded(t)
	every := eachCommitOr(4)
	for name, scene := range verbScenes() {
		t.Run(name, func(t *testing.T) {
			v := newVisitor(t, nil, random)
			v.visitScene(scene, failpoint.VerbPlanned)
			if name != "a model" {
				v.visitScene(scene, failpoint.VerbWritten)
			}
			around := v.around(scene, 1+random.IntN(min(every, fewestCommits)), every)
			t.Logf("killed around %d commits", around)
			if around < 2 {
				t.Errorf("there are fewer commits than this does")
			}
			v.leaveAll()
		})
	}
}
