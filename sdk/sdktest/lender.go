package sdktest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Lender is a daemon's socket for tests of channels, in memory: it knows people, takes each message once, keeps entries,
// takes files, and has what Propose says answered once, as a daemon does that lends itself to a channel. No agent works behind it. What a channel does that a daemon
// refuses it, or that would come twice after a crash, is a mistake. Its fields are set before it is used; its zero value
// knows nobody.
type Lender struct {
	// People are those who are listed, as the service calls them.
	People []string
	// Code is the one that is waited for, as sdk.PairingCode makes it; empty is none.
	Code string
	// Schemes are those that the plugin declares by channel.Keeps.
	Schemes []string
	// Answering are those of People who may answer what runs propose; without any the channel is not granted that.
	Answering []string

	mu       sync.Mutex
	prompts  []rpc.Prompt
	accepted map[string]rpc.Accepted // by what a prompt is known by
	runs     []string                // their aliases by their ids, from 1
	owners   map[int64]string        // of those that a prompt was given
	kept     map[string]string
	files    map[string][]byte // RUN/NAME
	claims   []rpc.Claim
	waiting  []*asked
	tickets  int // that were given out
	answers  []rpc.ChannelAnswer
	mistakes []string
}

// Access is what a channel is lent. The socket goes with the test.
func (l *Lender) Access(t testing.TB) channel.Access {
	t.Helper()
	dir, err := os.MkdirTemp("", "bothy")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "d.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conns := &openConns{all: map[net.Conn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if conns.add(c) {
				serving.Go(func() { defer conns.drop(c); l.serve(c) })
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // what is in it ends
		conns.close()
		serving.Wait()
		_ = os.RemoveAll(dir) // of a test
	})
	return channel.Access{Socket: path, Token: token, Projects: []string{"/project"}}
}

// openConns are connections that end with a test.
type openConns struct {
	mu    sync.Mutex
	all   map[net.Conn]bool
	ended bool
}

func (o *openConns) add(c net.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		_ = c.Close() // nobody serves it
		return false
	}
	o.all[c] = true
	return true
}

func (o *openConns) drop(c net.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = c.Close() // all was said
	delete(o.all, c)
}

func (o *openConns) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	for c := range o.all {
		_ = c.Close() // the test is over
	}
}

// Prompts are those that were taken, each once.
func (l *Lender) Prompts() []rpc.Prompt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.prompts)
}

// Kept are the bodies of the entries that the channel keeps, by path.
func (l *Lender) Kept() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.kept)
}

// Files are those that the channel has put into the folders of runs, by RUN/NAME.
func (l *Lender) Files() map[string][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.files)
}

// Claims are the codes that were passed on.
func (l *Lender) Claims() []rpc.Claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.claims)
}

// Mistakes are what the channel did that it must not.
func (l *Lender) Mistakes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.mistakes)
}

// serve answers on one connection until it ends.
func (l *Lender) serve(c io.ReadWriter) {
	hello := rpc.Hello{Server: "bothyd", Version: sdk.Version, Protocol: rpc.Protocol, PID: os.Getpid(), Role: rpc.RoleSubmit}
	out := json.NewEncoder(c)
	if out.Encode(map[string]any{"jsonrpc": rpc.Version2, "method": rpc.MethodHello, "params": hello}) != nil {
		return
	}
	shown := false
	lines := bufio.NewScanner(c)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var req rpc.Request
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			_ = l.mistake("it sent %.80q, which is no request", lines.Text()) // no request is answered
			return
		}
		var result any
		var err error
		switch {
		case req.Method == rpc.MethodHello:
			if result, err = hello, l.hello(req.Params); err == nil {
				shown = true
			}
		case shown:
			result, err = l.answer(req)
		default:
			err = l.mistake("it called %s before it said hello: say hello first, with the token that Serve was given", req.Method)
		}
		answer := rpc.Response{JSONRPC: rpc.Version2, ID: req.ID}
		if err != nil {
			answer.Error = rpc.ErrorOf(err)
		} else if answer.Result, err = json.Marshal(result); err != nil {
			return
		}
		if out.Encode(answer) != nil {
			return
		}
	}
}

func (l *Lender) hello(params json.RawMessage) error {
	var p rpc.HelloParams
	if err := json.Unmarshal(params, &p); err != nil || p.Token != token || p.Role.NeedsToken() {
		return l.mistake("it said hello without the token of its Serve, or asked for a role that no channel has")
	}
	return nil
}

// mistake keeps what a channel must not do, and is the error that it gets.
func (l *Lender) mistake(format string, args ...any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := fmt.Sprintf(format, args...)
	l.mistakes = append(l.mistakes, said)
	return sdk.Errorf(sdk.Permission, "%s", said)
}
