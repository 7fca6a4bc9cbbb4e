package daemon

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// summaryOf is what the model of a site answers where it is asked for a summary.
func summaryOf(p plan) string { return "in short: " + p.Tag }

// asksForSummary reports whether the last message of a request asks for a summary, in a packet too.
func asksForSummary(text string) bool {
	return strings.Contains(text, "Summarize this conversation. What was")
}

// actCompactIn is actCompact of an agent that works in a way. What it does for the prompt is on a cassette.
func actCompactIn(w way) func(*visitor, *job) error {
	return func(v *visitor, j *job) error {
		j.plan = plan{Tag: j.tag, Agent: w.name(), Steps: 2, Tools: []string{"note_line"}}
		if file := filepath.Join(v.root, j.tag+".json"); w != ways[0] {
			write(v.t, file, w.cassette(v.t, j.tag, j.plan.Steps, 32768, ""))
			j.plan.Replay = file
		} else {
			j.plan.Twice = true
		}
		return actCompact(v, j)
	}
}

// actCompact gives the prompt, and when it has ended asks for a summary, unless that is there, and waits for its end.
func actCompact(v *visitor, j *job) error {
	if err := v.prompt(j, j.plan); err != nil {
		return err
	}
	ctx, cancel := actTime()
	defer cancel()
	ref := rpc.RunRef{Run: strconv.FormatInt(j.run, 10)}
	for {
		d, err := v.client.Run(ctx, ref)
		if err != nil {
			return err
		}
		switch {
		case len(d.Loops) < 2:
			_, err = v.client.Compact(ctx, ref)
		case !d.Loops[1].Ended.IsZero():
			return nil
		}
		if err != nil {
			return err
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// checkCompact: there is one summary, what it stands for is out of sight with all that it holds, and nothing is so without one.
func checkCompact(v *visitor, j *job) {
	v.t.Helper()
	ctx, cancel := actTime()
	defer cancel()
	d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(j.run, 10)})
	if err != nil {
		v.t.Fatal(err)
	}
	if len(d.Loops) != 2 || d.Loops[1].Status != sdk.StatusOK {
		v.t.Errorf("the loops of run %s are %+v", d.Run, d.Loops)
	}
	summaries := v.entries(j.run, "summary://*")
	var s sdk.Summary
	if len(summaries) != 1 || summaries[0].Path != sdk.SummaryPath(2) || summaries[0].Body != summaryOf(j.plan) || summaries[0].Visibility != sdk.Visible {
		v.t.Fatalf("the summaries of run %s are %+v", d.Run, summaries)
	}
	if err := json.Unmarshal(summaries[0].Attributes, &s); err != nil || s.Prompts != 1 || s.Calls < 4 {
		v.t.Errorf("%+v, %v", s, err)
	}
	for _, pattern := range []string{"prompt://*", "assistant://*", "log://**"} {
		for _, e := range v.entries(j.run, pattern) {
			if e.Visibility != sdk.Archived && e.Path != sdk.ManifestPath || e.Body == "" && e.Scheme() != "assistant" {
				v.t.Errorf("%s of run %s is %s with %d bytes", e.Path, d.Run, e.Visibility, len(e.Body))
			}
		}
	}
}

// TestSummariesKilled kills a daemon around the commits of a prompt and of the summary behind it, and now and then the next
// one too, in each way in which a model calls tools and is shown its run: the summary is there with all archived that it stands
// for, or neither.
//
// Around how many commits, eachCommitOr says.
func TestSummariesKilled(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			random := seeded(t)
			every := eachCommitOr(3)
			v := &visitor{site: newSite(t, withoutSandbox, w.agent()), random: random}
			v.binary = withFailpoints(t)
			around := v.around(scenario{act: actCompactIn(w), check: checkCompact}, 1+random.IntN(every), every)
			t.Logf("killed around %d commits", around)
			if around < 4 {
				t.Errorf("there are fewer commits than a summary makes")
			}
			v.leaveAll()
		})
	}
}
