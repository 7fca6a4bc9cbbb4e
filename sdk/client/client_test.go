package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is the daemon's end of a connection: greet is its first line, and
// answer gives the lines that answer one request.
type scripted struct {
	greet  string
	pid    int // in the answer to hello; 0 is 42
	answer func(rpc.Request) []string
}

func greeting(protocol string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"hello","params":{"server":"bothyd","version":"v9","protocol":%q,"pid":42,"seq":5}}`, protocol)
}

func result(id json.RawMessage, v string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, v)
}

// dial serves one end of a pipe and returns the other.
func (s scripted) dial(t *testing.T) func(context.Context) (net.Conn, error) {
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		serving.Go(func() {
			defer func() { _ = ours.Close() }()
			if _, err := fmt.Fprintln(ours, s.greet); err != nil {
				return
			}
			lines := bufio.NewScanner(ours)
			for lines.Scan() {
				var req rpc.Request
				if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
					t.Errorf("the client sent %q: %v", lines.Text(), err)
					return
				}
				answers := []string{result(req.ID, fmt.Sprintf(`{"server":"bothyd","version":"v9","protocol":"2.0","pid":%d,"seq":5}`, max(s.pid, 42)))}
				if req.Method != rpc.MethodHello {
					answers = s.answer(req)
				}
				for _, a := range answers {
					if a == "hang up" {
						return
					}
					if _, err := fmt.Fprintln(ours, a); err != nil {
						return
					}
				}
				if answers == nil {
					return // hang up
				}
			}
		})
		return theirs, nil
	}
}

func TestConcurrentCalls(t *testing.T) {
	s := scripted{greet: greeting("2.3"), answer: func(r rpc.Request) []string {
		return []string{`{"jsonrpc":"2.0","method":"of/the/future","params":{}}`, result(r.ID, `{"seq":`+string(r.ID)+`}`)}
	}}
	c := &Client{Dial: s.dial(t)}
	defer func() { _ = c.Close() }()
	var calls sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	for range 50 {
		calls.Go(func() {
			status, err := c.Status(context.Background())
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seen[status.Seq] {
				t.Errorf("seq %d, %v", status.Seq, err)
			}
			seen[status.Seq] = true
		})
	}
	calls.Wait()
}

// TestVersionMismatch: a client says what to do about a daemon of an older or a
// newer major protocol, and can stop it all the same.
func TestVersionMismatch(t *testing.T) {
	for protocol, remedy := range map[string]string{
		"1.0": "run `bothy stop`, and the next call starts the bothyd that fits",
		"3.1": "upgrade this client to the version of the daemon",
	} {
		stopped := false
		s := scripted{greet: greeting(protocol), answer: func(r rpc.Request) []string {
			stopped = r.Method == rpc.MethodStop
			return []string{result(r.ID, "{}")}
		}}
		c := &Client{Dial: s.dial(t)}
		err := c.Ping(context.Background())
		var version *VersionError
		if !errors.As(err, &version) || version.Daemon.PID != 42 || !strings.HasSuffix(err.Error(), "speaks "+rpc.Protocol+": "+remedy) || !strings.Contains(err.Error(), protocol) {
			t.Fatalf("got %v", err)
		}
		any := &Client{Dial: s.dial(t), AnyProtocol: true}
		if err := any.Stop(context.Background()); err != nil || !stopped {
			t.Errorf("a daemon of protocol %s cannot be stopped: %v", protocol, err)
		}
		_ = any.Close()
	}
}

func TestBrokenDaemons(t *testing.T) {
	refused := `{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"not you","data":{"outcome":"permission"}}}`
	for name, c := range map[string]struct {
		s     scripted
		check func(error) bool
	}{
		"hangs up":       {scripted{greet: greeting("2.0"), answer: func(rpc.Request) []string { return nil }}, func(err error) bool { return errors.Is(err, ErrDisconnected) }},
		"speaks rubbish": {scripted{greet: "HTTP/1.1 400 Bad Request"}, func(err error) bool { return strings.Contains(err.Error(), "no JSON") }},
		"refuses":        {scripted{greet: refused}, func(err error) bool { return sdk.OutcomeOf(err) == sdk.Permission }},
		"refuses later": {scripted{greet: greeting("2.0"), answer: func(rpc.Request) []string { return []string{refused} }},
			func(err error) bool { return sdk.OutcomeOf(err) == sdk.Permission }},
		"answers nonsense": {scripted{greet: greeting("2.0"), answer: func(r rpc.Request) []string { return []string{result(r.ID, `"text"`)} }},
			func(err error) bool { return strings.Contains(err.Error(), "answer of status") }},
	} {
		cl := &Client{Dial: c.s.dial(t)}
		if _, err := cl.Status(context.Background()); err == nil || !c.check(err) {
			t.Errorf("%s: got %v", name, err)
		}
		_ = cl.Close()
	}
}

// TestSilentDaemon: the caller's context bounds the wait for a greeting and
// for an answer.
func TestSilentDaemon(t *testing.T) {
	var ends []net.Conn
	c := &Client{Dial: func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		ends = append(ends, ours)
		return theirs, nil
	}}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if err := c.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	for _, e := range ends {
		_ = e.Close()
	}
}

// TestReconnects: a broken connection fails its calls, and the next call makes
// a new one.
func TestReconnects(t *testing.T) {
	n := 0
	s := scripted{greet: greeting("2.0"), answer: func(r rpc.Request) []string {
		if n++; n == 1 {
			return nil
		}
		return []string{result(r.ID, "{}")}
	}}
	c := &Client{Dial: s.dial(t)}
	defer func() { _ = c.Close() }()
	if err := c.Ping(context.Background()); !errors.Is(err, ErrDisconnected) {
		t.Errorf("the first call: %v", err)
	}
	if err := c.Ping(context.Background()); err != nil {
		t.Errorf("the second call: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Ping(context.Background()); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

func TestNotRunning(t *testing.T) {
	c := &Client{Socket: t.TempDir() + "/none"}
	_, err := c.Tools(context.Background())
	var down *NotRunningError
	if !errors.As(err, &down) || down.Socket != c.Socket || !strings.Contains(err.Error(), "bothyd") {
		t.Errorf("got %v", err)
	}
}

// TestFollowStopsWithItsFunction: an error of the function is Follow's error,
// and nothing is delivered after it.
func TestFollowStopsWithItsFunction(t *testing.T) {
	row := func(seq int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"journal/row","params":{"watch":1,"row":{"seq":%d,"kind":"x"}}}`, seq)
	}
	var after []string
	s := scripted{greet: greeting("2.0"), answer: func(r rpc.Request) []string {
		after = append(after, string(r.Params))
		if len(after) == 1 {
			return []string{row(6), row(6), result(r.ID, `{"watch":1}`), row(7), `{"jsonrpc":"2.0","method":"journal/gap","params":{"watch":1,"from":8,"to":9}}`}
		}
		return []string{result(r.ID, `{"watch":2}`), row(7), row(8), row(9)}
	}}
	c := &Client{Dial: s.dial(t)}
	var seen []int64
	enough := errors.New("enough")
	err := c.Follow(context.Background(), Watch{After: -1, Run: 3}, func(e Event) error {
		if seen = append(seen, e.Row.Seq); e.Row.Seq == 8 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || fmt.Sprint(seen) != "[6 7 8]" {
		t.Errorf("saw %v, ended with %v", seen, err)
	}
	if fmt.Sprint(after) != `[{"run":"3","after":5} {"run":"3","after":7}]` {
		t.Errorf("watched with %v", after)
	}
}

// TestStoppedInOrder: who was told that the daemon stops can tell it from a
// death, for calls and for followers.
func TestStoppedInOrder(t *testing.T) {
	bye := `{"jsonrpc":"2.0","method":"daemon/stopping","params":{}}`
	for name, c := range map[string]struct {
		lines []string
		want  error
	}{"stopped": {[]string{bye}, ErrStopped}, "died": {nil, ErrDisconnected}} {
		s := scripted{greet: greeting("2.0")}
		s.answer = func(r rpc.Request) []string {
			if r.Method == rpc.MethodPing {
				return nil // hang up
			}
			return append(c.lines, result(r.ID, `{"watch":1}`))
		}
		cl := &Client{Dial: s.dial(t)}
		if _, err := cl.Status(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := cl.Ping(context.Background()); !errors.Is(err, c.want) || errors.Is(err, ErrStopped) != (name == "stopped") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLostDaemon: the function is asked before each try, and what was being
// previewed begins anew with another daemon and has a gap with the same one.
func TestLostDaemon(t *testing.T) {
	preview := `{"jsonrpc":"2.0","method":"run/preview","params":{"watch":1,"preview":true,"run":3,"loop":5,"turn":2,"text":"half"}}`
	row := func(seq int, more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"journal/row","params":{"watch":1,"row":{"seq":%d,"loop":5%s}}}`, seq, more)
	}
	settled := `,"kind":"entry.set","path":"assistant://2","data":{"state":"resolved"}`
	streams := `,"kind":"entry.set","path":"assistant://2","data":{"state":"streaming"}`
	for name, c := range map[string]struct {
		first []string // what the first connection sends
		pid   int      // of the daemon that is there afterwards
		want  string   // the previews after it
	}{
		"another daemon":   {[]string{row(6, streams), preview}, 43, "restart "},
		"the same daemon":  {[]string{preview}, 42, "dropped "},
		"committed":        {[]string{preview, row(6, settled)}, 43, ""},
		"nothing was seen": {nil, 43, ""},
	} {
		t.Run(name, func(t *testing.T) {
			connection, lost := 0, 0
			s := scripted{}
			s.answer = func(r rpc.Request) []string {
				if connection == 1 {
					return append(append([]string{result(r.ID, `{"watch":1}`)}, c.first...), "hang up")
				}
				return []string{result(r.ID, `{"watch":1}`), row(9, `,"kind":"x"`)}
			}
			cl := &Client{Dial: func(ctx context.Context) (net.Conn, error) {
				if connection++; connection == 2 {
					return nil, &NotRunningError{Socket: "s", Cause: errors.New("refused")}
				}
				here := s
				here.greet, here.pid = greeting("2.0"), 42
				if connection > 2 {
					here.pid = c.pid
				}
				return here.dial(t)(ctx)
			}}
			seen := ""
			err := cl.Follow(context.Background(), Watch{After: 5, Run: 3, Preview: true, Lost: func(_ context.Context, why error) error {
				lost++
				var down *NotRunningError
				if lost == 1 && !errors.Is(why, ErrDisconnected) || lost == 2 && !errors.As(why, &down) {
					t.Errorf("loss %d: %v", lost, why)
				}
				return nil
			}}, func(e Event) error {
				switch {
				case e.Preview != nil && e.Preview.Loop == 5 && e.Preview.Turn == 2 && e.Preview.Restart:
					seen += "restart "
				case e.Preview != nil && e.Preview.Dropped:
					seen += "dropped "
				case e.Row != nil && e.Row.Seq == 9:
					return ErrDone
				}
				return nil
			})
			if err != nil || seen != c.want || lost != 2 {
				t.Errorf("saw %q, lost %d times, ended with %v", seen, lost, err)
			}
		})
	}
	enough := errors.New("enough")
	cl := &Client{Socket: t.TempDir() + "/none"}
	err := cl.Follow(context.Background(), Watch{Lost: func(context.Context, error) error { return enough }}, nil)
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}
