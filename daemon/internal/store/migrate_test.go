package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// A step that takes long enough to be killed in, and the same step done fast.
const (
	slowStep = `CREATE TABLE slow (n INTEGER);
		INSERT INTO slow WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000000) SELECT n FROM c;`
	fastStep = `CREATE TABLE slow (n INTEGER); INSERT INTO slow VALUES (1);`
)

// and are the steps with one more.
func and(steps []migration, name, text string) []migration {
	n := len(steps) + 1
	return append(slices.Clone(steps), migration{n, fmt.Sprintf("%04d_%s.sql", n, name), text})
}

func childMigrates(ctx context.Context, path string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	steps, err := migrations()
	if err != nil {
		return err
	}
	// A small cache makes the step write to the disk while it goes.
	if _, err := s.conn.ExecContext(ctx, `PRAGMA cache_size = 10`); err != nil {
		return err
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return err
	}
	fmt.Println(info.Size())
	return migrate(ctx, s.conn, path, and(steps, "slow", slowStep))
}

func TestKillMidMigrationLeavesTheVersionBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	c := startChild(t, "migrate", path)
	before, err := strconv.ParseInt(c.line(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "the migration to reach the disk", func() bool {
		info, err := os.Stat(path + "-wal")
		return err == nil && info.Size() > before+1<<16
	})
	c.kill(t)
	s := open(t, path)
	checkIntegrity(t, s)
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	version, err := schemaVersion(t.Context(), s.conn, path)
	if err != nil || version != len(steps) {
		t.Fatalf("version %d (%v)", version, err)
	}
	for range 2 { // and a second time, which finds nothing to do
		if err := migrate(t.Context(), s.conn, path, and(steps, "fast", fastStep)); err != nil {
			t.Fatal(err)
		}
	}
	var rows int
	if err := s.conn.QueryRowContext(t.Context(), `SELECT count(*) FROM slow`).Scan(&rows); err != nil || rows != 1 {
		t.Fatalf("%d rows (%v)", rows, err)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	f := newFixture(t)
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	bad := and(steps, "bad", `CREATE TABLE half (n INTEGER); INSERT INTO nowhere VALUES (1);`)
	if err := migrate(t.Context(), f.conn, f.path, bad); err == nil || !strings.Contains(err.Error(), "_bad.sql") {
		t.Fatal(err)
	}
	if version, err := schemaVersion(t.Context(), f.conn, f.path); err != nil || version != len(steps) {
		t.Fatalf("%d %v", version, err)
	}
	if _, err := f.conn.ExecContext(t.Context(), `SELECT * FROM half`); err == nil {
		t.Fatal("half a migration is there")
	}
}

// schema1 makes a database as a Bothy of schema 1 left it.
func schema1(t *testing.T, path string) {
	t.Helper()
	rows, err := os.ReadFile(filepath.Join("testdata", "schema1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{path: path}
	if err := s.connectWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), s.conn, path, steps[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.ExecContext(t.Context(), string(rows)); err != nil {
		t.Fatal(err)
	}
	if err := s.disconnect(); err != nil {
		t.Fatal(err)
	}
}

func TestDatabaseOfTheFirstSchemaIsTakenOverWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	schema1(t, path)
	before, err := Inspect(t.Context(), path)
	if err != nil || before.Schema != 1 || before.Runs != 2 || before.Whole() != nil {
		t.Fatalf("%+v %v", before, err)
	}
	f := &fixture{Store: open(t, path), t: t, path: path}
	if f.Health() != nil || f.Seq() != before.Seq {
		t.Fatalf("health %v, seq %d of %d", f.Health(), f.Seq(), before.Seq)
	}
	f.verify()
	checkIntegrity(t, f.Store)
	if got := f.sees(1); !slices.Equal(got, []string{"prompt://1 the prompt", "log://turn_1/bash/x streamed", "known://a the body of a"}) {
		t.Errorf("the run holds %q", got)
	}
	if got := f.sees(2); !slices.Equal(got, []string{"prompt://1 the prompt", "log://turn_1/bash/x streamed", "known://a the fork's own", "prompt://2 left running", "log://turn_2/bash/y so far", "prompt://3 waits"}) {
		t.Errorf("the fork holds %q", got)
	}
	turns, err := f.Turns(t.Context(), 1)
	if err != nil || len(turns) != 1 || !turns[0].Closed || turns[0].Usage == nil || turns[0].Usage.Cost == nil || *turns[0].Usage.Cost != 0.5 {
		t.Errorf("turns: %+v %v", turns, err)
	}
	if _, ok := f.Scheme("fact"); !ok {
		t.Error("a plugin's scheme is gone")
	}
	// It goes on where it was: the loop that ran is found, and ends.
	left, err := f.Unfinished(t.Context())
	if err != nil || len(left) != 1 || left[0].Prompt != "left running" || left[0].ReadOnly {
		t.Fatalf("%+v %v", left, err)
	}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: 2, CloseTurn: &sdk.Turn{Sequence: 2}, EndLoop: &sdk.LoopEnd{Loop: left[0].ID, Status: sdk.StatusOK}}); err != nil {
		t.Fatal(err)
	}
	if l := f.claim(2); l.Prompt != "waits" || !l.ReadOnly || string(l.Options) != `{"mode":"full","resumes":2}` {
		t.Errorf("%+v", l)
	}
	f.verify()
	// And what it was before is kept, for the Bothy that wrote it.
	kept, err := Inspect(t.Context(), filepath.Join(BackupDir(path), "before-schema-2.db"))
	if err != nil || kept.Schema != 1 || kept.Seq != before.Seq || kept.Whole() != nil {
		t.Errorf("%+v %v", kept, err)
	}
}

// childOpens opens the database, which migrates it, and closes it again.
func childOpens(ctx context.Context, path string) error {
	fmt.Println("begin")
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	return s.Close()
}
