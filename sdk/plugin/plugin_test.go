package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

func TestMain(m *testing.M) {
	if mark := os.Getenv(closingMark); mark != "" {
		closer(mark)
	}
	goleak.VerifyTestMain(m)
}

func greeter(wait <-chan struct{}) tool.Set {
	return tool.Set{tool.New("greet", "Greets.", sdk.Annotations{}, func(context.Context, struct{}, tool.Call) (sdk.ToolResult, error) {
		if wait != nil {
			<-wait
		}
		return tool.Text("hello"), nil
	})}
}

func TestCommands(t *testing.T) {
	t.Setenv(CookieKey, "")
	o := Options{Name: "greeter", Version: "1.0.0", Tool: greeter(nil), Config: &everything{}}
	for _, c := range []struct {
		o            Options
		args         []string
		code         int
		stdout, errs string
	}{
		{o, []string{"describe"}, 0, `"name": "greeter"`, ""},
		{o, []string{"version"}, 0, "bothy-plugin-greeter 1.0.0 (plugin protocol 1)", ""},
		{o, nil, 1, "", "is a plugin of Bothy"},
		{o, []string{"--cassette", "x"}, 1, "", `plugin "greeter"`},
		{Options{Name: "empty"}, nil, 1, "", "no kind is served"},
		{Options{}, nil, 1, "", "Name is empty"},
		{Options{Name: "bad", Tool: tool.Set{tool.Raw(sdk.ToolSpec{Name: "Bad"}, nil)}}, []string{"describe"}, 1, "", `tool name "Bad"`},
		{Options{Name: "bad", Tool: greeter(nil), Grants: []string{"everything"}}, []string{"describe"}, 1, "", `there is no such grant; there are sandbox, project`},
		{Options{Name: "bad", Tool: greeter(nil), Config: 5}, []string{"describe"}, 1, "", "must be a pointer"},
		{Options{Name: "bad", Tool: greeter(nil), Config: everything{}}, []string{"describe"}, 1, "", "Options.Config is a plugin.everything: it must be a pointer to a struct"},
		{Options{Name: "bad", Tool: greeter(nil), Config: (*everything)(nil)}, []string{"describe"}, 1, "", "it must be a pointer to a struct"},
	} {
		var out, errs bytes.Buffer
		if code := run(c.o, c.args, &out, &errs); code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.errs) {
			t.Errorf("%v: %d %q %q", c.args, code, out.String(), errs.String())
		}
	}
	var out bytes.Buffer
	run(o, []string{"describe"}, &out, &out)
	var m sdk.Manifest
	if err := json.Unmarshal(out.Bytes(), &m); err != nil || m.Protocol != Protocol || len(m.Tools) != 1 || len(m.Config.Attributes) != 12 {
		t.Errorf("%+v %v", m, err)
	}
}

// serveOn serves a plugin on a Unix socket and dials it with the credentials
// of either side.
func serveOn(t *testing.T, s *service, server, client func(Peer) error, opened func() func()) *grpc.ClientConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := s.server(PeerCredentials(server, opened))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	conn, err := grpc.NewClient("unix:"+path, DialOptions(PeerCredentials(client, nil))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.close()
		if err := conn.Close(); err != nil && status.Code(err) != codes.Canceled { // closed by the test
			t.Error(err)
		}
		srv.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return conn
}

func anybody(Peer) error { return nil }

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestPeers(t *testing.T) {
	var seen Peer
	look := func(p Peer) error { seen = p; return nil }
	if err := NewClient(serveOn(t, newService(Options{Name: "g", Tool: greeter(nil)}), look, onlyDaemon(os.Getpid()), nil)).Health(soon(t)); err != nil {
		t.Errorf("the daemon was refused: %v", err)
	}
	if seen.PID != os.Getpid() || seen.UID != os.Geteuid() {
		t.Errorf("the peer is %+v", seen)
	}
	conn := serveOn(t, newService(Options{Name: "g", Tool: greeter(nil)}), onlyDaemon(1), anybody, nil)
	if err := NewClient(conn).Health(soon(t)); status.Code(err) != codes.Unavailable {
		t.Errorf("a foreign process was admitted: %v", err)
	}
	conn = serveOn(t, newService(Options{Name: "g", Tool: greeter(nil)}), anybody, func(Peer) error { return errors.New("not the plugin") }, nil)
	if err := NewClient(conn).Health(soon(t)); err == nil || !strings.Contains(err.Error(), "not the plugin") {
		t.Errorf("a foreign plugin was dialled: %v", err)
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := PeerOf(a); err == nil {
		t.Error("a pipe in memory has a peer")
	}
}

// TestDaemonGone: the last connection's end is the plugin's end.
func TestDaemonGone(t *testing.T) {
	stopped := make(chan struct{})
	link := &daemonLink{}
	link.exit = func(int) {}
	link.onLost(func() { close(stopped) })
	conn := serveOn(t, newService(Options{Name: "g", Tool: greeter(nil)}), anybody, anybody, link.opened)
	if err := NewClient(conn).Health(soon(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stopped:
		t.Fatal("it stopped while the daemon is there")
	default:
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("it did not stop")
	}
	link.mu.Lock()
	defer link.mu.Unlock()
	link.timer.Stop()
}

func TestDrainWaits(t *testing.T) {
	wait, drained := make(chan struct{}), make(chan struct{})
	s := newService(Options{Name: "g", Tool: greeter(wait), Drain: func(context.Context) error { close(drained); return nil }})
	conn := serveOn(t, s, anybody, anybody, nil)
	called := make(chan error, 1)
	go func() {
		_, err := tool.NewClient(conn).Invoke(soon(t), sdk.Invocation{Tool: "greet"}, nil)
		called <- err
	}()
	for running := 0; running == 0; {
		s.mu.Lock()
		running = s.running
		s.mu.Unlock()
	}
	ended := make(chan error, 1)
	go func() { ended <- NewClient(conn).Drain(soon(t)) }()
	for draining := false; !draining; {
		s.mu.Lock()
		draining = s.draining
		s.mu.Unlock()
	}
	if _, err := tool.NewClient(conn).Invoke(soon(t), sdk.Invocation{Tool: "greet"}, nil); status.Code(err) != codes.Unavailable {
		t.Errorf("a new call: %v", err)
	}
	select {
	case <-drained:
		t.Error("drained while a call runs")
	default:
	}
	close(wait)
	if err := <-called; err != nil {
		t.Errorf("the running call: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("drain: %v", err)
	}
	<-drained
}

func TestConfigureAndWatch(t *testing.T) {
	var c everything
	var got sdk.Settings
	changed := make(chan struct{})
	s := newService(Options{
		Name: "g", Tool: greeter(nil), Config: &c, Changed: changed,
		Configure: func(_ context.Context, s sdk.Settings) error {
			got = s
			if c.Key == "panic" {
				panic("configure")
			}
			return nil
		},
		Health: func(context.Context) error { return errors.New("no server") },
	})
	client := NewClient(serveOn(t, s, anybody, anybody, nil))
	m, err := client.Configure(soon(t), sdk.Settings{Instance: "i", Generation: 2, Config: json.RawMessage(`{"url":"u"}`), Sandbox: &sdk.Sandbox{Memory: 5}}, Services{})
	if err != nil || c.URL != "u" || got.Instance != "i" || got.Generation != 2 || got.Sandbox.Memory != 5 {
		t.Errorf("%+v %+v %v", c, got, err)
	}
	if asked, err := client.Describe(soon(t)); err != nil || !reflect.DeepEqual(m, asked) {
		t.Errorf("Configure answered the manifest %+v, Describe %+v %v", m, asked, err)
	}
	if _, err := client.Configure(soon(t), sdk.Settings{Config: json.RawMessage(`{}`)}, Services{}); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), `"url" is required`) {
		t.Errorf("%v", err)
	}
	if _, err := client.Configure(soon(t), sdk.Settings{Config: json.RawMessage(`{"url":"u","key":"panic"}`)}, Services{}); sdk.OutcomeOf(err) != sdk.Internal {
		t.Errorf("a panic: %v", err)
	}
	if err := client.Health(soon(t)); sdk.OutcomeOf(err) != sdk.Unavailable || err.Error() != "no server" {
		t.Errorf("health: %v", err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	told := make(chan sdk.Manifest)
	over := make(chan error, 1)
	go func() { over <- client.Watch(ctx, func(m sdk.Manifest) { told <- m }) }()
	changed <- struct{}{}
	if m := <-told; m.Name != "g" {
		t.Errorf("%+v", m)
	}
	cancel()
	if err := <-over; status.Code(err) != codes.Canceled {
		t.Errorf("watch ended with %v", err)
	}
}
