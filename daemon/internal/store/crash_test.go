package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// A child is this test binary, started again with a role and a database.
const (
	childRole = "BOTHY_STORE_TEST_CHILD"
	childFile = "BOTHY_STORE_TEST_FILE"
)

func playChild(role string) int {
	roles := map[string]func(context.Context, string) error{
		"commit":  childCommits,
		"hold":    childHolds,
		"migrate": childMigrates,
		"full":    childFillsDisk,
		"bound":   childMayNotGrow,
		"sync":    childSyncs,
		"backup":  childBacksUp,
		"open":    childOpens,
		"restore": childRestores,
	}
	if err := roles[role](context.Background(), os.Getenv(childFile)); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

type child struct {
	*exec.Cmd
	out *bufio.Scanner
}

func startChild(t *testing.T, role, path string, env ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.Env = append(os.Environ(), childRole+"="+role, childFile+"="+path)
	c.Env = append(c.Env, env...)
	c.Stderr = os.Stderr
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(stdout)
	return c
}

// line reads the child's next line, which must not be an error.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() || strings.HasPrefix(c.out.Text(), "error:") {
		t.Fatalf("the child ended: %q %v", c.out.Text(), c.out.Err())
	}
	return c.out.Text()
}

// kill ends the child as a power cut would end a process, and returns what it
// had still written.
func (c *child) kill(t *testing.T) []string {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var rest []string
	for c.out.Scan() {
		rest = append(rest, c.out.Text())
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return rest
}

// childCommits writes as fast as it can and names each write once it is
// acknowledged: a run's action from its recording, over its stream, to its end.
func childCommits(ctx context.Context, path string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	p, err := s.OpenProject(ctx, "/p")
	if err != nil {
		return err
	}
	run, err := s.CreateRun(ctx, sdk.Run{Project: p.ID})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("log://turn_%d/bash/x", i)
		text := strings.Repeat(strconv.Itoa(i)+" ", 500)
		changes := [][]sdk.Write{
			{{Path: name, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseRecorded, Attributes: object(`{"tool":"bash"}`)}, known("known://"+strconv.Itoa(i), text)},
			{{Path: name, Writer: sdk.WriterPlugin, Chunk: &sdk.Chunk{Channel: 1, Text: text}}},
			{{Path: name, Writer: sdk.WriterSystem, State: sdk.StateResolved, Phase: sdk.PhaseEnded}},
		}
		for _, ws := range changes {
			r, err := s.Commit(ctx, sdk.Change{Run: run.ID, Writes: ws})
			if err != nil {
				return err
			}
			last := r.Entries[len(r.Entries)-1]
			fmt.Println(run.ID, r.Seq, last.Path, last.State, last.Hash)
		}
	}
}

func TestKillMidCommitLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	type fact struct{ state, hash string }
	acked := map[int64]map[string]fact{}
	var lastSeq int64
	learn := func(line string) {
		f := strings.Fields(line)
		if len(f) != 5 {
			return // cut off by the kill
		}
		run, _ := strconv.ParseInt(f[0], 10, 64)
		if acked[run] == nil {
			acked[run] = map[string]fact{}
		}
		acked[run][f[2]] = fact{f[3], f[4]}
		lastSeq, _ = strconv.ParseInt(f[1], 10, 64)
	}
	for round := range 20 {
		c := startChild(t, "commit", path)
		for range 1 + random.IntN(40) {
			learn(c.line(t))
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond) // where in a commit it dies is left to chance
		for _, line := range c.kill(t) {
			learn(line)
		}
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := s.Verify(t.Context(), 0); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		checkIntegrity(t, s)
		if s.Seq() < lastSeq {
			t.Fatalf("round %d: the journal ends at %d, %d was acknowledged", round, s.Seq(), lastSeq)
		}
		for run, facts := range acked {
			for path, want := range facts {
				e, err := s.Entry(t.Context(), run, path)
				// What was acknowledged last may have been overtaken by a commit that was not.
				if err != nil || e.State != sdk.State(want.state) && want.state != "streaming" || want.state == "resolved" && e.Hash != want.hash {
					t.Fatalf("round %d: %s is %s %s, acknowledged as %v (%v)", round, path, e.State, e.Hash, want, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkIntegrity(t *testing.T, s *Store) {
	t.Helper()
	var word string
	if err := s.conn.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&word); err != nil || word != "ok" {
		t.Fatalf("integrity_check says %q (%v)", word, err)
	}
	rows, err := s.conn.QueryContext(t.Context(), `PRAGMA foreign_key_check`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if rows.Next() {
		t.Fatal("a foreign key points nowhere")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func childHolds(ctx context.Context, path string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until the parent goes
		return err
	}
	return s.Close()
}

func TestOneProcessOpensTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	c := startChild(t, "hold", path)
	c.line(t)
	for _, want := range []int{c.Process.Pid, os.Getpid()} {
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			t.Fatal(s.Close(), "the file was opened twice")
		}
		if sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), fmt.Sprintf("process %d;", want)) {
			t.Fatalf("the holder %d is not named: %v", want, err)
		}
		if want == c.Process.Pid { // its lock dies with it, and then we hold it
			c.kill(t)
			open(t, path)
		}
	}
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long for ", what)
		}
	}
}
