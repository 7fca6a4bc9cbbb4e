package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// One errand in each way in which a model calls tools and is shown its run, on daemons that die on the way.

const (
	errandWords = 5000 // behind the plan
	errandLines = 240  // of the file that is read
)

// small is a model that takes neither the whole prompt of an errand as a packet, nor what it reads or writes on the way.
const small = "model \"small\" {\n  provider = \"steps\"\n  name     = \"steps\"\n  context  = 14000\n}\n"

// packer is an agent that works on packets.
const packer = small + "agent \"packer\" {\n  model   = \"small\"\n  dialect = \"tags\"\n  view    = \"packet\"\n  tools   = [\"set\", \"update\"]\n}\n"

// actCram gives a prompt that does not fit, to write more than fits.
func actCram(v *visitor, j *job) error {
	return v.prompt(j, plan{Tag: j.tag, Agent: "packer", Errand: crams, Long: errandWords})
}

// checkCram: all is there, out of sight, and what was demoted was told once.
func checkCram(v *visitor, j *job) {
	v.t.Helper()
	kept := v.entries(j.run, "known://**")
	for _, e := range kept {
		if e.Body != strings.Repeat("a fact ", 140) || e.Visibility != sdk.Summarized {
			v.t.Errorf("%s is %s with %d bytes", e.Path, e.Visibility, len(e.Body))
		}
	}
	if len(kept) != crammed {
		v.t.Errorf("%d entries are there, of %d", len(kept), crammed)
	}
	v.demoted(j, "prompt://1")
	v.sameAsSent(j)
}

// errandBlocks are the agents of a way: one that leads and one that helps it.
func errandBlocks(w way) string {
	agent := func(errand, rest string) string {
		return fmt.Sprintf("agent %q {\n  model   = \"small\"\n  dialect = %q\n  view    = %q\n  tools   = [\"get\", \"set\", \"sh\", \"update\", \"note_line\"]\n%s}\n", errand+"-"+w.name(), w.dialect, w.view, rest)
	}
	return small + agent(helps, "") + agent(leads, fmt.Sprintf(`  agents  = [%q]
  finish {
    schema = { type = "object", properties = { summary = { type = "string" } }, required = ["summary"] }
  }
`, helps+"-"+w.name()))
}

// newErrands makes a site for one way, and who visits failpoints there. Without a sandbox no command is run.
func newErrands(t testing.TB, v *visitor, w way, sandbox bool) *visitor {
	blocks := errandBlocks(w)
	if !sandbox {
		blocks += "plugin \"bash\" {\n  enabled = false\n}\n"
	}
	v.site = newSite(t, blocks)
	v.binary = withFailpoints(t)
	write(t, filepath.Join(v.project, errandLong), strings.Repeat(longWords+"\n", errandLines))
	return v
}

// actErrand gives an errand, and waits for its end. One that is dry runs no command.
func actErrand(w way, slow, dry bool) func(*visitor, *job) error {
	return func(v *visitor, j *job) error {
		p := plan{Tag: j.tag, Agent: leads + "-" + w.name(), Errand: leads, Long: errandWords, Dry: dry}
		if slow {
			p.Slow = 1
		}
		return v.prompt(j, p)
	}
}

// checkErrand holds what an errand left: the same files whatever happened on the way, each action made once, all that its models
// were sent as it was sent, and nothing of it behind an undo.
func checkErrand(v *visitor, j *job) {
	v.t.Helper()
	v.delegations(j.run)
	v.commands(j)
	v.errandFiles(j, map[string]string{errandText: "one\n2\nthree\n", errandHelp: "b\n"})
	if kept := v.entries(j.run, keptAt(j.tag)); len(kept) != 1 || kept[0].Body != "a fact\n" {
		v.t.Errorf("%s is %+v", keptAt(j.tag), kept)
	}
	if strings.HasSuffix(j.plan.Agent, sdk.ViewPacket) {
		v.demoted(j, "prompt://1", errandLong)
	}
	v.sameAsSent(j)
	v.takenBack(j)
}

// errandFiles holds the files of an errand, those of commands apart.
func (v *visitor) errandFiles(j *job, want map[string]string) {
	v.t.Helper()
	list, err := os.ReadDir(filepath.Join(v.project, j.tag))
	if err != nil {
		v.t.Error(err)
	}
	for _, at := range list {
		text, err := os.ReadFile(filepath.Join(v.project, j.tag, at.Name()))
		if err != nil {
			v.t.Error(err)
		}
		if at.Name() != errandRuns && string(text) != want[at.Name()] {
			v.t.Errorf("%s/%s has %q", j.tag, at.Name(), text)
		}
		delete(want, at.Name())
	}
	if len(want) > 0 {
		v.t.Errorf("%s lacks %q", j.tag, want)
	}
}

// commands holds the lines that commands of a run wrote against their actions.
func (v *visitor) commands(j *job) {
	v.t.Helper()
	text, err := os.ReadFile(filepath.Join(v.project, j.tag, errandRuns))
	if err != nil && !j.plan.Dry {
		v.t.Error(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		count[strings.TrimSuffix(line, "\n")]++
	}
	for _, e := range v.entries(j.run, "log://**") {
		at, err := sdk.ActionOf(e)
		var arguments struct{ Command string }
		if err != nil || at.Tool != "sh" || json.Unmarshal(at.Arguments, &arguments) != nil {
			continue
		}
		_, line, _ := strings.Cut(arguments.Command, "echo ")
		line, _, _ = strings.Cut(line, " ")
		n := count[line]
		delete(count, line)
		if want := map[bool]int{true: 1}[e.State == sdk.StateResolved]; n != want && (e.Outcome != sdk.Interrupted || n > 1) {
			v.t.Errorf("%s is %s %s, and its line is there %d times: %s", e.Path, e.State, e.Outcome, n, e.Body)
		}
	}
	if len(count) > 0 {
		v.t.Errorf("no action wrote %v", count)
	}
}

// demoted holds that the prompt and what a turn brought were demoted, and told of, once each: by the turn itself, or where another
// daemon took that up, before the next prompt went out.
func (v *visitor) demoted(j *job, paths ...string) {
	v.t.Helper()
	told := map[string]int{}
	for _, e := range v.entries(j.run, "log://turn_*/error/demoted*") {
		_, slug, _ := strings.Cut(e.Path, "/error/")
		told[strings.TrimSuffix(slug, "_after")]++
	}
	if told["demoted_prompt"] != 1 || told["demoted"] != 1 {
		v.t.Errorf("what was demoted is told so many times: %v", told)
	}
	for _, path := range paths {
		if e := v.entries(j.run, path); len(e) != 1 || e[0].Visibility != sdk.Summarized {
			v.t.Errorf("%s is %+v", path, e)
		}
	}
}

// sameAsSent holds that what the models of a run and of its children were sent is rendered as it was sent.
func (v *visitor) sameAsSent(j *job) {
	v.t.Helper()
	ctx, cancel := actTime()
	defer cancel()
	d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(j.run, 10)})
	if err != nil {
		v.t.Fatal(err)
	}
	runs := []rpc.RunDetail{d}
	for _, child := range d.Children {
		d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(child.ID, 10)})
		if err != nil {
			v.t.Fatal(err)
		}
		runs = append(runs, d)
	}
	for _, d := range runs {
		for _, turn := range d.Turns {
			packet, err := v.client.Packet(ctx, rpc.PacketParams{Run: strconv.FormatInt(d.ID, 10), Turn: turn.Sequence})
			if err != nil || !packet.Same {
				v.t.Errorf("turn %d of run %s is not rendered as it was sent: %v, gone %v", turn.Sequence, d.Run, err, packet.Gone)
			}
		}
	}
}

// takenBack holds that all files of an errand are gone when it is taken back.
func (v *visitor) takenBack(j *job) {
	v.t.Helper()
	undone, err := v.client.Undo(context.Background(), rpc.Undo{Run: strconv.FormatInt(j.run, 10)})
	if err != nil || len(undone.Left)+len(undone.Kept) > 0 {
		v.t.Errorf("%s is taken back but for %+v and %q: %v", j.tag, undone.Left, undone.Kept, err)
	}
	if _, err := os.Stat(filepath.Join(v.project, j.tag)); !os.IsNotExist(err) {
		v.t.Errorf("behind the undo there is %s: %v", j.tag, err)
	}
	if text, err := os.ReadFile(filepath.Join(v.project, errandLong)); err != nil || string(text) != strings.Repeat(longWords+"\n", errandLines) {
		v.t.Errorf("%s is another one: %v", errandLong, err)
	}
}

// errandPoints are the failpoints on the way of an errand, and how often it comes to them at the least.
var errandPoints = map[failpoint.Name]int{
	failpoint.EnqueueAfter: 1, failpoint.ClaimAfter: 1, failpoint.OpenBefore: 6, failpoint.OpenAfter: 6, failpoint.AnswerUnwritten: 6, failpoint.RecordAfter: 6,
	failpoint.EffectBefore: 6, failpoint.EffectAfter: 6, failpoint.DelegateAfter: 1, failpoint.DelegateEnded: 1, failpoint.StepAfter: 6, failpoint.VerbPlanned: 4,
	failpoint.VerdictBefore: 6, failpoint.FinishBefore: 2, failpoint.FinishAfter: 2, failpoint.StoreBefore: 30, failpoint.StoreAfter: 30,
	failpoint.DemoteBefore: 1, failpoint.DemoteAfter: 1, failpoint.SettleBefore: 1,
}

// errandPairs is how many pairs of failpoints are tried in each way when nobody says how many, and errandPart which part of the pairs
// of TestFailpoints when somebody does: an errand is four ways of many commits each.
const (
	errandPairs = 2
	errandPart  = 16
)

// TestErrandsKilled kills a daemon at each failpoint on the way of an errand, and then at pairs of them, in each way in which a
// model calls tools and is shown its run: it is taken up, and what it leaves is the same. How often the daemon comes to the failpoint
// before it dies is drawn.
//
// BOTHY_PAIRS, of which it takes a sixteenth, and BOTHY_SEED are those of TestFailpoints.
func TestErrandsKilled(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	random := seeded(t)
	sandbox, err := condition("sandbox")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		t.Run(w.name(), func(t *testing.T) {
			start := time.Now()
			v := newErrands(t, &visitor{random: random}, w, sandbox)
			scene := scenario{act: actErrand(w, false, !sandbox), check: checkErrand}
			var names []failpoint.Name
			for _, name := range failpoint.Names() {
				demotes := name == failpoint.DemoteBefore || name == failpoint.DemoteAfter || name == failpoint.SettleBefore
				if errandPoints[name] > 0 && (w.view == sdk.ViewPacket || !demotes) {
					names = append(names, name)
				}
			}
			for _, name := range names {
				if !t.Failed() {
					v.visitScene(scene, v.drawn(name))
				}
			}
			slow := scene
			slow.act = actErrand(w, true, !sandbox)
			if !t.Failed() {
				v.visitScene(slow, failpoint.StreamPartial)
			}
			for _, pair := range pairsOf(t, random, names) {
				if !t.Failed() {
					v.visitPair(scene, v.drawn(pair[0]), v.drawn(pair[1]))
				}
			}
			t.Logf("%d visits in %v", v.nth, time.Since(start).Round(time.Second))
			v.leaveAll()
		})
	}
}

// pairsOf are a sample of the pairs of failpoints, or all where BOTHY_PAIRS says so.
func pairsOf(t *testing.T, random *rand.Rand, names []failpoint.Name) (pairs [][2]failpoint.Name) {
	for _, a := range names {
		for _, b := range names {
			pairs = append(pairs, [2]failpoint.Name{a, b})
		}
	}
	if os.Getenv("BOTHY_PAIRS") == "all" {
		return pairs
	}
	random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	return pairs[:min(number(t, "BOTHY_PAIRS", errandPairs*errandPart)/errandPart, len(pairs))]
}

// drawn is a failpoint of an errand with the time at which a daemon dies there.
func (v *visitor) drawn(name failpoint.Name) failpoint.Name {
	return failpoint.Name(fmt.Sprintf("%s:%d", name, 1+v.random.IntN(errandPoints[name])))
}

// visitPair has one daemon die on the way of a scenario, and the next one too where it comes to the second failpoint or to taking
// a loop up.
func (v *visitor) visitPair(scene scenario, first, second failpoint.Name) {
	v.t.Helper()
	v.jobs = nil
	v.begin(scene)
	points := []failpoint.Name{first, second}
	v.live(first, surely)
	if v.random.IntN(2) == 0 {
		points[1] = failpoint.RecoverResume
	}
	v.live(points[1], perhaps)
	v.end(points...)
}
