//go:build linux

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Many runs at work at once, and many who watch them, some of whom never read.

const (
	loadRuns    = 50
	loadWatches = 100 // two of each run
	loadEach    = 5   // watches of a connection
	loadDeaf    = 20  // of the watches are on connections that nobody reads
)

// crowd is what watches the runs of one load.
type crowd struct {
	s       *site
	all     []*onlooker
	reading sync.WaitGroup
}

// onlooker is one connection at a time, with its watches.
type onlooker struct {
	s       *site
	conn    net.Conn
	in      *bufio.Reader
	runs    []int64           // that it watches, one watch for each
	after   int64             // from which it watches all
	ended   map[int64]bool    // runs whose loop has ended
	seqs    map[int64][]int64 // the rows that it was sent, by run
	watches map[int64]int64   // the run of a watch of this connection
	gaps    int               // how often it had to watch again
	err     error
}

// look connects, and watches runs from a position on.
func (s *site) look(runs []int64, after int64) (*onlooker, error) {
	o := &onlooker{s: s, runs: runs, after: after, ended: map[int64]bool{}, seqs: map[int64][]int64{}}
	return o, o.connect()
}

// connect watches from where it is, on a new connection.
func (o *onlooker) connect() (err error) {
	if o.conn != nil {
		_ = o.conn.Close() // the daemon may have done so
	}
	if o.conn, err = net.Dial("unix", filepath.Join(o.s.root, "run", "bothy", "bothy.sock")); err != nil {
		return err
	}
	o.in, o.watches = bufio.NewReaderSize(o.conn, 64<<10), map[int64]int64{}
	for i := range o.runs {
		if err := o.watch(i); err != nil {
			return err
		}
	}
	return nil
}

// watch watches a run from where it is.
func (o *onlooker) watch(i int) error {
	after := o.after
	if seen := o.seqs[o.runs[i]]; len(seen) > 0 {
		after = seen[len(seen)-1]
	}
	_, err := fmt.Fprintf(o.conn, `{"jsonrpc":"2.0","id":%d,"method":"journal/watch","params":{"run":"%d","after":%d}}`+"\n", i, o.runs[i], after)
	return err
}

// read takes what comes until the loops of all its runs have ended, and watches again where it was too slow. keep says whether it
// remembers the rows: else it does as little as it can.
func (o *onlooker) read(keep bool) error {
	for {
		err := o.readOn(keep)
		if err == nil || o.gaps > 100 {
			return err
		}
		o.gaps++
		if err := o.connect(); err != nil {
			return err
		}
	}
}

func (o *onlooker) readOn(keep bool) error {
	if err := o.conn.SetReadDeadline(time.Now().Add(2 * patience)); err != nil {
		return err
	}
	var early []rpc.Row // rows may come before the answer that names their watch
	for len(o.ended) < len(o.runs) {
		text, err := o.in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("after the ends of %d of %d runs: %w", len(o.ended), len(o.runs), err)
		}
		if !keep && !strings.Contains(text, `"kind":"`+sdk.KindLoopEnded) && !strings.Contains(text, rpc.NoteGap) {
			continue
		}
		var m struct {
			ID     *int
			Method string
			Params rpc.Row
			Result rpc.Watching
			Error  *rpc.Error
		}
		switch err := json.Unmarshal([]byte(text), &m); {
		case err != nil:
			return err
		case m.Error != nil:
			return m.Error
		case m.ID != nil:
			o.watches[m.Result.Watch] = o.runs[*m.ID]
		case m.Method == rpc.NoteRow:
			early = append(early, m.Params)
		case m.Method == rpc.NoteGap:
			return fmt.Errorf("a gap of watch %d", m.Params.Watch)
		}
		for len(early) > 0 {
			run, known := o.watches[early[0].Watch]
			if keep && !known {
				break
			}
			row := early[0].Row
			if keep && row.Run != run {
				o.s.t.Errorf("row %d of run %d came to a watch of run %d", row.Seq, row.Run, run)
			}
			o.seqs[row.Run] = append(o.seqs[row.Run], row.Seq)
			if row.Kind == sdk.KindLoopEnded {
				o.ended[row.Run] = true
			}
			early = early[1:]
		}
	}
	return nil
}

// watch has a crowd watch runs, each of them twice, and all but the deaf read.
func (s *site) watch(runs []int64, after int64, keep bool) *crowd {
	s.t.Helper()
	c := &crowd{s: s}
	for at := 0; at < loadWatches; at += loadEach {
		var some []int64
		for i := range loadEach {
			some = append(some, runs[(at+i)%len(runs)])
		}
		o, err := s.look(some, after)
		if err != nil {
			s.t.Fatal(err)
		}
		c.all = append(c.all, o)
		if at >= loadDeaf {
			c.reading.Go(func() { o.err = o.read(keep) })
		}
	}
	return c
}

// deaf are the connections that nobody reads.
func (c *crowd) deaf() []*onlooker { return c.all[:loadDeaf/loadEach] }

// wait waits until all who read have seen all ends, and closes the connections.
func (c *crowd) wait() {
	c.s.t.Helper()
	c.reading.Wait()
	for i, o := range c.all {
		_ = o.conn.Close() // of some the daemon did
		if o.err != nil {
			c.s.t.Errorf("connection %d: %v\n%s", i, o.err, c.s.evidence())
		}
	}
}

// startRuns makes the runs of a load.
func (s *site) startRuns(load string) (runs []int64) {
	s.t.Helper()
	for i := range loadRuns {
		started, err := s.client.StartRun(context.Background(), rpc.StartRun{Project: s.project, Run: fmt.Sprintf("%s-%d", load, i)})
		if err != nil {
			s.t.Fatal(err)
		}
		runs = append(runs, started.ID)
	}
	return runs
}

// workAtOnce gives each run a prompt and lets none go on before all are at work. It returns when all have ended.
func (s *site) workAtOnce(load string, p plan) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	plans := make([]plan, loadRuns)
	accepted := make([]rpc.Accepted, loadRuns)
	for i := range plans {
		plans[i] = p
		plans[i].Tag, plans[i].Hold = fmt.Sprintf("%s-%d", load, i), 1
		var err error
		if accepted[i], err = s.client.Act(ctx, rpc.Prompt{Project: s.project, Run: plans[i].Tag, Prompt: plans[i].prompt()}); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, p := range plans {
		select {
		case <-s.model.gate(p.Tag).arrived:
		case <-ctx.Done():
			s.t.Fatalf("run %s does not work while the others do\n%s", p.Tag, s.evidence())
		}
	}
	for _, p := range plans {
		s.model.open(p.Tag)
	}
	for i, a := range accepted {
		for {
			d, err := s.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(a.ID, 10)})
			if err != nil {
				s.t.Fatalf("run %s: %v\n%s", plans[i].Tag, err, s.evidence())
			}
			if l := d.Loops[len(d.Loops)-1]; !l.Ended.IsZero() {
				if l.Status != sdk.StatusOK {
					s.t.Errorf("run %s ended with %d: %s", plans[i].Tag, l.Status, l.Reason)
				}
				break
			}
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				s.t.Fatalf("run %s: %v\n%s", plans[i].Tag, err, s.evidence())
			}
		}
	}
}

// peak is the most memory that the daemon has had, in bytes.
func (s *site) peak() int {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.daemon.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		s.t.Fatal(err)
	}
	return kib << 10
}

// mostForWatches is how much more memory a daemon may take at its peak when all these watch: 1 MiB of lines may wait for each, and
// as much is not collected yet.
const mostForWatches = loadWatches * 2 << 20

// TestLoad: 50 runs at work at once, watched by 100 watches, five on a connection, a fifth of which nobody reads. Whoever reads is sent
// each row of its runs once, in order, so is one that did not read and comes back, and the daemon's memory is bounded.
func TestLoad(t *testing.T) {
	s := newSite(t, withoutSandbox)
	s.up()
	p := plan{Steps: 4, Tools: []string{"note_line"}, Text: 20_000}
	s.startRuns("alone")
	s.workAtOnce("alone", p)
	before := s.peak()
	runs, after := s.startRuns("watched"), s.status().Seq
	c := s.watch(runs, after, true)
	s.workAtOnce("watched", p)
	c.wait()
	if grown := s.peak() - before; grown > mostForWatches {
		t.Errorf("with %d watches the daemon took %d MB more", loadWatches, grown>>20)
	} else {
		t.Logf("at its peak the daemon had %d MB, and %d MB more with %d watches", before>>20, grown>>20, loadWatches)
	}
	for i, o := range c.deaf() {
		err := o.connect()
		if err == nil {
			err = o.read(true)
			_ = o.conn.Close() // it was read to the end
		}
		if err != nil {
			t.Fatalf("connection %d, again: %v", i, err)
		}
	}
	s.rowsOf(c)
	s.whole()
}

// rowsOf compares what watches were sent with the journal.
func (s *site) rowsOf(c *crowd) {
	s.t.Helper()
	want := map[int64][]int64{}
	ended := map[int64]bool{}
	for _, r := range s.journal() {
		if r.Seq > c.all[0].after && !ended[r.Run] { // who saw the end read no further
			want[r.Run] = append(want[r.Run], r.Seq)
			ended[r.Run] = r.Kind == sdk.KindLoopEnded
		}
	}
	for i, o := range c.all {
		for _, run := range o.runs {
			got := o.seqs[run]
			if len(got) < len(want[run]) || len(want[run]) == 0 || !slices.Equal(got[:len(want[run])], want[run]) {
				s.t.Errorf("connection %d was sent %d rows of run %d, and there are %d", i, len(got), run, len(want[run]))
			}
		}
	}
}
