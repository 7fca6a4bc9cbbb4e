package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Runs with children, on daemons that die while these are deleted.

// branch is a run of a tree, as it was before it was deleted.
type branch struct {
	sdk.Run
	entries int // of its history
}

// grow has a run delegate work that is delegated on, and keeps what came of it in the job. Each run gets a home.
func (v *visitor) grow(j *job, tools ...string) error {
	if j.tree != nil {
		return nil
	}
	p := plan{Tag: j.tag, Agent: "foreman", Steps: 1, Tools: []string{sdk.ToolDelegate}, Twice: true, Below: 1}
	if len(tools) > 0 { // a child of each only: what two do in one file at the same time is in each other's way
		p.Tools, p.Steps, p.Twice = append(p.Tools, tools...), 2, false
	}
	if err := v.prompt(j, p); err != nil {
		return err
	}
	v.finishedJob(j)
	ctx, cancel := actTime()
	defer cancel()
	runs, err := v.client.Runs(ctx, rpc.RunsParams{Project: v.project, Limit: 1000})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(runs, func(r rpc.RunSummary) bool { return r.ID == j.run })
	for _, r := range append([]rpc.RunChild{{Run: runs[i].Run}}, runs[i].Children...) {
		d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(r.ID, 10)})
		if err != nil {
			return err
		}
		j.tree = append(j.tree, branch{r.Run, len(d.History)})
		if err := os.MkdirAll(v.folder(r.Key, "home"), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(v.folder(r.Key, "home", "mine"), []byte(r.Key), 0o600); err != nil {
			return err
		}
	}
	j.loop = 0 // what it came to is checked
	return nil
}

// folder is a path below the folder of a run.
func (s *site) folder(key string, below ...string) string {
	return filepath.Join(append([]string{filepath.Dir(s.store), "runs", key}, below...)...)
}

// actDeletionOf deletes a run with children and theirs, all of which have used the tools.
func actDeletionOf(tools ...string) func(*visitor, *job) error {
	return func(v *visitor, j *job) error {
		if err := v.grow(j, tools...); err != nil {
			return err
		}
		return v.deleteTree(j)
	}
}

// deleteTree deletes a tree, of which an earlier daemon may have deleted some.
func (v *visitor) deleteTree(j *job) error {
	ctx, cancel := actTime()
	defer cancel()
	if _, err := v.stands(ctx, j); err != nil {
		return err
	}
	_, err := v.client.Delete(ctx, rpc.RunRef{Run: j.tag, Project: v.project})
	if sdk.OutcomeOf(err) == sdk.NotFound && j.asked {
		return nil
	}
	j.asked = true
	return err
}

// stands returns which runs of a tree are left, and checks that none is without the one that it works for, or without
// anything that was told of it.
func (v *visitor) stands(ctx context.Context, j *job) (left []int64, err error) {
	for _, r := range j.tree { // a parent before its children
		d, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(r.ID, 10)})
		if sdk.OutcomeOf(err) == sdk.NotFound {
			continue
		}
		if err != nil {
			return left, err
		}
		if r.Delegator != 0 && !slices.Contains(left, r.Delegator) {
			v.t.Errorf("run %s is there, and not the run %d that it works for", r.Alias, r.Delegator)
		}
		if len(d.History) != r.entries {
			if _, err := v.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(r.ID, 10)}); sdk.OutcomeOf(err) == sdk.NotFound {
				continue // it went while it was read
			}
			v.t.Errorf("run %s is there with %d of its %d entries", r.Alias, len(d.History), r.entries)
		}
		left = append(left, r.ID)
		v.history.detail(d)
	}
	return left, nil
}

// checkDeletion holds that nothing of a tree is left. A folder goes soon after the next daemon's start.
func checkDeletion(v *visitor, j *job) {
	v.t.Helper()
	if left, err := v.stands(context.Background(), j); err != nil || len(left) > 0 {
		v.t.Errorf("of %d runs %d are left: %v", len(j.tree), left, err)
	}
	for _, r := range j.tree {
		for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
			found, err := filepath.Glob(v.folder("*" + r.Key)) // also as marked
			if err == nil && len(found) == 0 {
				break
			}
			if time.Now().After(deadline) {
				v.t.Fatalf("of run %s there is %q, %v\n%s", r.Alias, found, err, v.evidence())
			}
		}
	}
}

// nothingOfDeleted checks in the database of a daemon that has stopped that no row is left of a run that was deleted,
// or of what no run sees.
func (s *site) nothingOfDeleted() {
	s.t.Helper()
	s.inDatabase(func(db *sql.DB) error {
		for _, rows := range []string{
			"run_views WHERE run IN (SELECT id FROM runs WHERE deleted IS NOT NULL)",
			"turns WHERE run IN (SELECT id FROM runs WHERE deleted IS NOT NULL)",
			"loops WHERE run IN (SELECT id FROM runs WHERE deleted IS NOT NULL)",
			"runs c JOIN runs p ON c.delegator = p.id WHERE c.deleted IS NULL AND p.deleted IS NOT NULL",
			"entries e WHERE scope GLOB 'run:*' AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id)",
		} {
			var n int
			if err := db.QueryRow("SELECT count(*) FROM " + rows).Scan(&n); err != nil || n > 0 {
				s.t.Errorf("there are %d of %s (%v)", n, rows, err)
			}
		}
		return nil
	})
}

// inDatabase does something in the database of a daemon that has ended.
func (s *site) inDatabase(do func(*sql.DB) error) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.store)
	if err == nil {
		err = do(db)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// rest has the runs of a tree rest for longer than runs are kept. The daemon has ended.
func (v *visitor) rest(j *job) {
	v.t.Helper()
	v.inDatabase(func(db *sql.DB) error {
		for _, r := range j.tree {
			if _, err := db.Exec("UPDATE runs SET updated = updated - ? WHERE id = ?", 40*24*time.Hour, r.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// actExpiry waits until a tree that rested for too long is gone.
func actExpiry(v *visitor, j *job) error {
	ctx, cancel := actTime()
	defer cancel()
	for {
		if left, err := v.stands(ctx, j); err != nil || len(left) == 0 {
			return err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("a tree that rested for too long is there: %w", err)
		}
	}
}

// keptRuns is how many runs keep their containers: all of them together must not
// be more than a daemon can end when it stops.
const keptRuns = 3

// forget deletes the run that ended a while ago, and with it its container and its children. Of some the daemon is killed
// meanwhile; then it is asked once more.
func (k *killing) forget(ctx context.Context, tag string) {
	k.t.Helper()
	k.ended = append(k.ended, tag)
	if len(k.ended) <= keptRuns {
		return
	}
	ref := rpc.RunRef{Run: k.ended[0], Project: k.project}
	k.ended = k.ended[1:]
	d, err := k.client.Run(ctx, ref)
	if err != nil {
		k.t.Fatalf("%v\n%s", err, k.evidence())
	}
	struck := k.random.IntN(2) == 0
	if struck {
		over := make(chan struct{})
		go func() {
			defer close(over)
			c := k.connect("who deletes")
			defer func() { _ = c.Close() }()
			_, _ = c.Delete(ctx, ref) // what it came to is looked at
		}()
		await(over, func(stop <-chan struct{}) {
			moment{after: time.Duration(k.random.IntN(20)) * time.Millisecond}.wait(k, stop)
		})
		k.strike()
		<-over
	}
	if _, err := k.client.Delete(ctx, ref); err != nil && (!struck || sdk.OutcomeOf(err) != sdk.NotFound) {
		k.t.Fatalf("delete run %s: %v\n%s", ref.Run, err, k.evidence())
	}
	for _, child := range d.Children {
		if _, err := k.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(child.ID, 10)}); sdk.OutcomeOf(err) != sdk.NotFound {
			k.t.Errorf("run %s is deleted, and its child %s is there: %v", ref.Run, child.Alias, err)
		}
	}
}

// TestTreesKilled kills a daemon before and behind each commit with which a run goes that has children and theirs, when a
// person deletes it and when it expires: no run is left without its history or without the run that
// it works for, and what is left goes too, when a person asks once more, and of what expires by the next daemon.
//
// At how many commits, eachCommitOr says.
func TestTreesKilled(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	random := seeded(t)
	const runs = 7
	every := eachCommitOr(3)
	t.Run("with containers", func(t *testing.T) {
		if ok, _ := condition("sandbox"); !ok {
			t.Skip("sandbox: rootless Podman is needed, and a user who is not root")
		}
		v := &visitor{site: newSite(t, "plugin \"files\" {\n  enabled = false\n}\n", foreman), random: random}
		v.binary = withFailpoints(t)
		for _, point := range []failpoint.Name{failpoint.DeleteBefore, failpoint.DeleteAfter} {
			v.visitScene(scenario{act: actDeletionOf("bash"), check: checkDeletion}, failpoint.Name(fmt.Sprintf("%s:%d", point, 1+random.IntN(3))))
		}
		v.leaveAll()
	})
	v := newVisitor(t, nil, random)
	for _, point := range []failpoint.Name{failpoint.DeleteBefore, failpoint.DeleteAfter} {
		for n := 1 + random.IntN(every); n <= runs && !t.Failed(); n += every {
			at := failpoint.Name(fmt.Sprintf("%s:%d", point, n))
			v.visitScene(scenario{act: actDeletionOf(), check: checkDeletion}, at)

			v.jobs = nil
			v.begin(scenario{act: func(v *visitor, j *job) error { return v.grow(j) }, check: checkDeletion})
			v.live("", 0)
			v.kill()
			j := v.jobs[0]
			v.rest(j)
			j.act, j.done = actExpiry, false
			if !v.live(at, surely) {
				t.Errorf("no daemon came to %s", at)
			}
			v.end(at)
		}
	}
	v.leaveAll()
}
