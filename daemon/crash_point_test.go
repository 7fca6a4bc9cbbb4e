package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
)

// pairSamples is how many pairs of failpoints are tried when nobody says how many.
const pairSamples = 6

// TestFailpoints kills a daemon at each failpoint, and lets the next one finish;
// then at pairs of failpoints, the second of which is met while the daemon
// recovers from the first or goes on after it. A failpoint that no scenario
// comes to fails the test.
//
// BOTHY_PAIRS says how many pairs, or all; BOTHY_SEED repeats a sample.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	scenes := scenarios()
	for _, name := range failpoint.Names() {
		if _, ok := sceneOf(scenes, name); !ok {
			t.Errorf("no scenario leads to %s", name)
		}
	}
	random := seeded(t)
	var singles, pairs [][]failpoint.Name
	for _, a := range failpoint.Names() {
		singles = append(singles, []failpoint.Name{a})
		for _, b := range failpoint.Names() {
			pairs = append(pairs, []failpoint.Name{a, b})
		}
	}
	if os.Getenv("BOTHY_PAIRS") != "all" {
		random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		pairs = pairs[:min(number(t, "BOTHY_PAIRS", pairSamples), len(pairs))]
	}
	t.Run("each", func(t *testing.T) { visitAll(t, scenes, random, singles) })
	t.Run("pairs", func(t *testing.T) { visitAll(t, scenes, random, pairs) })
}

// visitors is how many sites are visited at the same time: most of a visit is
// waiting for the disk.
const visitors = 2

// visits is how many scenarios one site takes before it is left for a fresh one:
// what was written by earlier ones is looked at again and again.
const visits = 80

func visitAll(t *testing.T, scenes []scenario, random *rand.Rand, all [][]failpoint.Name) {
	start := time.Now()
	work := make(chan []failpoint.Name, len(all))
	for _, points := range all {
		work <- points
	}
	close(work)
	var mu sync.Mutex
	second := 0
	t.Run("sites", func(t *testing.T) {
		for i := range visitors {
			seed := random.Uint64()
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(seed, 1))
				v := newVisitor(t, scenes, random)
				for points := range work {
					if t.Failed() {
						return
					}
					if v.nth > visits {
						v.leaveAll()
						v = newVisitor(t, scenes, random)
					}
					n := v.visit(points)
					mu.Lock()
					second += n
					mu.Unlock()
				}
				v.leaveAll()
			})
		}
	})
	t.Logf("%d visits in %v; in %d the second failpoint was met too", len(all), time.Since(start).Round(time.Second), second)
}

var pointed struct {
	sync.Once
	binary string
	err    error
}

// withFailpoints builds a bothyd that has failpoints, once, beside the others.
func withFailpoints(t testing.TB) string {
	t.Helper()
	prefix := installation(t)
	pointed.Do(func() {
		const target = "failpoints/bothyd"
		pointed.binary = filepath.Join(prefix, target)
		pointed.err = buildInto(prefix, map[string]string{"./daemon/cmd/bothyd": target}, withTag("failpoints"))
	})
	if pointed.err != nil {
		t.Fatal(pointed.err)
	}
	return pointed.binary
}

// visitor visits failpoints on a site that it keeps, one after the other.
type visitor struct {
	*site
	scenes []scenario
	random *rand.Rand
	nth    int
	jobs   []*job
}

// job is one scenario under way, over as many daemons as it takes.
type job struct {
	scenario
	tag  string
	done bool
	plan plan
	loop int64
	run  int64

	tree    []branch      // that it deletes, a parent before its children
	asked   bool          // for that
	answers *givenAnswers // to what it proposes
	told    string        // the path of the entry that a client was told to be there
}

func newVisitor(t testing.TB, scenes []scenario, random *rand.Rand) *visitor {
	v := &visitor{site: newSite(t, withoutSandbox, keeper, foreman, teams, packer).withSkills(), scenes: scenes, random: random}
	v.binary = withFailpoints(t)
	return v
}

// visit has one daemon die at the first failpoint and the next at the second,
// and a last one finish what they were about. It returns how many of the
// failpoints behind the first were met.
func (v *visitor) visit(points []failpoint.Name) (met int) {
	v.t.Helper()
	scene, _ := sceneOf(v.scenes, points[0])
	if scene.fresh {
		site := v.site
		defer func() { v.site = site }()
		v.site = newSite(v.t, withoutSandbox, keeper, foreman, teams, packer).withSkills()
		v.binary = site.binary
	}
	v.jobs = nil
	v.begin(scene)
	for _, p := range scene.first {
		if !v.live(p, surely) {
			v.t.Fatalf("%v: %s was not met\n%s", points, p, v.evidence())
		}
	}
	if !v.live(points[0], surely) {
		v.t.Fatalf("no daemon came to %s\n%s", points[0], v.evidence())
	}
	for _, p := range points[1:] {
		scene, _ := sceneOf(v.scenes, p)
		v.begin(scene)
		if v.live(p, perhaps) {
			met++
		}
	}
	v.end(points...)
	if scene.fresh {
		v.leaveSite()
	}
	return met
}

// visitScene has a daemon die at a failpoint on the way of a scenario, and the next one finish.
func (v *visitor) visitScene(scene scenario, point failpoint.Name) {
	v.t.Helper()
	if !v.passScene(scene, point) {
		v.t.Errorf("no daemon came to %s", point)
	}
}

// passScene is visitScene where the failpoint may not be met, and reports whether it was.
func (v *visitor) passScene(scene scenario, point failpoint.Name) (met bool) {
	v.t.Helper()
	v.jobs = nil
	v.begin(scene)
	met = v.live(point, perhaps)
	v.end(point)
	return met
}

// around has a daemon die before and behind commits of a scenario, the first one and then every so many of them, and
// now and then the next daemon too; it returns how many commits that were.
func (v *visitor) around(scene scenario, first, every int) (met int) {
	v.t.Helper()
	for _, point := range []failpoint.Name{failpoint.StoreBefore, failpoint.StoreAfter} {
		for n := first; !v.t.Failed(); n += every {
			v.jobs = nil
			v.begin(scene)
			points := []failpoint.Name{failpoint.Name(fmt.Sprintf("%s:%d", point, n))}
			died := v.live(points[0], perhaps)
			if died && v.random.IntN(3) == 0 {
				points = append(points, failpoint.StoreAfter)
				v.live(failpoint.StoreAfter, perhaps)
			}
			v.end(points...)
			if !died {
				break
			}
			met++
		}
	}
	return met
}

// eachCommitOr is around which commits daemons die, from a drawn one on: each where BOTHY_PAIRS is all, every second one where
// it is a number, else every so many.
func eachCommitOr(every int) int {
	switch os.Getenv("BOTHY_PAIRS") {
	case "all":
		return 1
	case "":
		return every
	}
	return 2
}

// end has a last daemon finish, and checks what became of the jobs.
func (v *visitor) end(points ...failpoint.Name) {
	v.t.Helper()
	v.live("", 0)
	v.nothingLeft()
	for _, j := range v.jobs {
		if j.loop != 0 {
			v.finishedJob(j)
		}
		if j.check != nil {
			j.check(v, j)
		}
	}
	v.kill()
	if v.t.Failed() {
		v.t.Logf("in the visit of %v", points)
	}
}

// begin adds a scenario to what the next daemons have to do.
func (v *visitor) begin(scene scenario) {
	v.nth++
	j := &job{scenario: scene, tag: fmt.Sprintf("v%d", v.nth)}
	v.jobs = append(v.jobs, j)
}

// How long a daemon may still live when what it was to do is done: some
// failpoints are behind everything that a client can see.
const (
	surely  = time.Minute
	perhaps = 50 * time.Millisecond
)

// live takes one daemon through all that is to be done, and reports whether it
// died at the failpoint; one that came past it is killed. Without a failpoint
// everything must be done at the end, and the daemon lives.
func (v *visitor) live(point failpoint.Name, within time.Duration) (died bool) {
	v.t.Helper()
	var env []string
	if point != "" {
		env = []string{failpoint.Variable + "=" + v.counted(point)}
	}
	d := v.start(env)
	err := v.ready(d)
	for _, j := range v.jobs {
		if err == nil && !j.done {
			err = j.act(v, j)
			j.done = err == nil
		}
	}
	switch {
	case err == nil && point == "":
		return false
	case err == nil && !d.gone(within):
		v.kill()
		return false
	case point == "":
		v.t.Fatalf("the last daemon does not finish: %v\n%s", err, v.evidence())
	}
	if !d.gone(patience) {
		v.t.Fatalf("%s: %v, and the daemon lives\n%s", point, err, v.evidence())
	}
	_ = v.client.Close()
	var exit *exec.ExitError
	if !errors.As(d.err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		v.t.Fatalf("%s: the daemon ended by itself: %v\n%s", point, d.err, v.evidence())
	}
	return true
}

// counted draws which time the daemon dies at a failpoint that it comes to
// with everything it does, unless the failpoint says it.
func (v *visitor) counted(point failpoint.Name) string {
	if point == failpoint.StoreBefore || point == failpoint.StoreAfter {
		return fmt.Sprintf("%s:%d", point, 1+v.random.IntN(8))
	}
	return string(point)
}

// leaveAll checks what the site's daemons have written in all.
func (v *visitor) leaveAll() {
	v.t.Helper()
	if v.t.Failed() {
		return
	}
	v.up()
	v.leaveSite()
}

func (v *visitor) leaveSite() {
	v.t.Helper()
	select {
	case <-v.daemon.ended:
		v.up()
	default:
	}
	v.acknowledged()
	v.whole()
}

func sceneOf(scenes []scenario, name failpoint.Name) (scenario, bool) {
	i := slices.IndexFunc(scenes, func(s scenario) bool { return slices.Contains(s.points, name) })
	if i < 0 {
		return scenario{}, false
	}
	return scenes[i], true
}

// background context of one act: a daemon that hangs is found out.
func actTime() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}
