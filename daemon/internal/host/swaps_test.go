package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestSwapsLoseNoCall: the binary is exchanged again and again under sixteen
// callers and beside streams that stay open across exchanges. Every call ends
// well, every stream on the process on which it began, and nothing is left.
func TestSwapsLoseNoCall(t *testing.T) {
	const callers, streams = 16, 4
	path := filepath.Join(t.TempDir(), "bothy-plugin-fault")
	builds := []string{faultBinary, another(t)}
	copyFile(t, builds[0], path)
	s := spec("fault", "")
	s.Path, s.Env["FAULT_KEEPS"], s.Env["FAULT_MARKS"] = path, "1", filepath.Join(t.TempDir(), "marks")
	r := started(t, func(c *Config) { c.HealthInterval = 20 * time.Second }, s) // sixteen callers, and what else the machine does
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()

	var calls, open atomic.Int64
	var workers sync.WaitGroup
	swapped := make(chan struct{})
	for n := range callers {
		workers.Go(func() {
			run := fmt.Sprint("run", n%8*(n%2)) // some of one run, some alone
			for done := false; !done || calls.Load() < callsOverSwaps; {
				res, err := r.Invoke(ctx, sdk.Invocation{Tool: "echo", Arguments: []byte(`{"text":"x","n":1}`), Run: run}, newOut())
				if err != nil || res.Output != "x" {
					t.Errorf("a call failed: %v %+v", err, res)
					return
				}
				calls.Add(1)
				select {
				case <-swapped:
					done = true
				default:
				}
			}
		})
	}
	for n := range streams {
		workers.Go(func() {
			for k := 0; ; k++ {
				if err := r.stream(ctx, t.TempDir(), fmt.Sprint("stream", n), swapped, func() { open.Add(1) }); err != nil {
					t.Errorf("a stream failed: %v", err)
					return
				}
				select {
				case <-swapped:
					return
				default:
				}
			}
		})
	}
	began := time.Now()
	for n := range swapsUnderLoad {
		for calls.Load() < int64(n*callsOverSwaps/swapsUnderLoad) && !t.Failed() {
			time.Sleep(time.Millisecond) // so that the calls are spread over the swaps
		}
		copyFile(t, builds[(n+1)%2], path)
		x, err := r.ask(s, true)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := x.wait(ctx); err != nil || a.How != Swapped {
			t.Errorf("swap %d: %+v %v", n, a, err)
		}
	}
	close(swapped)
	workers.Wait()
	t.Logf("%d calls and %d streams over %d swaps in %v", calls.Load(), open.Load(), swapsUnderLoad, time.Since(began).Round(time.Millisecond))
	if calls.Load() < callsOverSwaps || open.Load() < streams {
		t.Errorf("only %d calls and %d streams", calls.Load(), open.Load())
	}
	eventually(t, "one process is left", func() bool { return len(r.Processes()) == 1 })
}

// stream holds a call open until three exchanges were made since it began, or
// they are over; it must end on the process on which it began.
func (r *rig) stream(ctx context.Context, dir, run string, over <-chan struct{}, opened func()) error {
	o := newOut()
	file := filepath.Join(dir, "go-on")
	ended := make(chan error, 1)
	go func() {
		res, err := r.Invoke(ctx, sdk.Invocation{Tool: "until", Arguments: fmt.Appendf(nil, `{"path":%q}`, file), Run: run}, o)
		if _, bad := strconv.Atoi(res.Output); err == nil && bad != nil {
			err = fmt.Errorf("it ended with %q", res.Output)
		}
		ended <- err
	}()
	select {
	case <-o.told:
	case err := <-ended:
		return err
	}
	opened()
	_, first := r.serving("fault")
	for ctx.Err() == nil {
		if _, now := r.serving("fault"); now >= first+3 {
			break
		}
		select {
		case <-over:
			first = -3
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	return <-ended
}
