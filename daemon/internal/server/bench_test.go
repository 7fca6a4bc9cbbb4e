package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// benchStore is a fresh store on a disk, and its folder.
func benchStore(b *testing.B) (*store.Store, string) {
	dir, err := os.MkdirTemp("", "bothy-bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := store.Open(b.Context(), filepath.Join(dir, "bothy.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// BenchmarkTail reports how many rows of the journal in a second reach 100 watches, five on each
// connection, while entries of 400 bytes are committed, eight at a time: read once for all, and by each
// watch itself.
func BenchmarkTail(b *testing.B) {
	const connections, each, writes, commits = 20, 5, 8, 100
	s, dir := benchStore(b)
	project, err := s.OpenProject(b.Context(), "/p")
	if err != nil {
		b.Fatal(err)
	}
	run, err := s.CreateRun(b.Context(), sdk.Run{Project: project.ID, Alias: "r"})
	if err != nil {
		b.Fatal(err)
	}
	tailed, _, _ := serveStore(b, s, filepath.Join(dir, "s", rpc.SocketName))
	alone, _, other := serveStore(b, s, filepath.Join(dir, "t", rpc.SocketName))
	other.ReadAlone()

	follow := func(socket string) time.Duration {
		after := s.Seq()
		last := make(chan struct{}, connections*each)
		for range connections {
			watchRaw(b, socket, run.ID, after, each, commits*writes, last)
		}
		began := time.Now()
		for i := range commits {
			c := sdk.Change{Run: run.ID}
			for j := range writes {
				body := fmt.Sprint(i, strings.Repeat("x", 400))
				c.Writes = append(c.Writes, sdk.Write{Path: fmt.Sprintf("known://%d/%d", i%50, j), Writer: sdk.WriterModel, Body: &body, State: sdk.StateResolved, Turn: 1})
			}
			if _, err := s.Commit(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		for range connections * each {
			<-last
		}
		return time.Since(began)
	}
	var once, again time.Duration
	rounds := 0
	for b.Loop() {
		once, again, rounds = once+follow(tailed), again+follow(alone), rounds+1
	}
	rows := float64(rounds * connections * each * commits * writes)
	b.ReportMetric(rows/once.Seconds(), "rows/s")
	b.ReportMetric(rows/again.Seconds(), "alone-rows/s")
	b.ReportMetric(again.Seconds()/once.Seconds(), "x-alone")
}

// watchRaw begins watches on one connection, and tells last of each that has had its rows.
func watchRaw(b *testing.B, socket string, run, after int64, watches, rows int, last chan<- struct{}) {
	b.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	in := bufio.NewReaderSize(c, 64<<10)
	for i := range watches {
		if _, err := fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"journal/watch","params":{"run":"%d","after":%d}}`+"\n", i, run, after); err != nil {
			b.Fatal(err)
		}
	}
	var begun sync.WaitGroup
	begun.Add(watches)
	go func() {
		defer func() { _ = c.Close() }()
		of := map[string]int{}
		for left := watches; left > 0; {
			line, err := in.ReadString('\n')
			if err != nil {
				b.Error(err)
				return
			}
			if strings.Contains(line[:40], `"id":`) {
				begun.Done()
				continue
			}
			_, rest, ok := strings.Cut(line, `"journal/row","params":{"watch":`)
			if !ok {
				continue
			}
			watch, _, _ := strings.Cut(rest, ",")
			if of[watch]++; of[watch] == rows {
				left--
				last <- struct{}{}
			}
		}
	}()
	begun.Wait()
}

// BenchmarkPing reports how long one call takes on a connection that is there, by the median.
func BenchmarkPing(b *testing.B) {
	s, dir := benchStore(b)
	socket, web, _ := serveStore(b, s, filepath.Join(dir, "s", rpc.SocketName))
	c, err := net.Dial("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	token, err := os.ReadFile(rpc.TokenPath(socket, rpc.RoleSubmit))
	if err != nil {
		b.Fatal(err)
	}
	ws, _, err := websocket.Dial(b.Context(), "ws://"+web+"/?token="+string(token), nil) //nolint:bodyclose // of a connection that was taken over
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ws.CloseNow() })
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	in := bufio.NewReader(c)
	for name, on := range map[string]struct {
		send func() error
		read func() (string, error)
	}{
		"unix": {
			func() error { _, err := fmt.Fprintln(c, ping); return err },
			func() (string, error) { return in.ReadString('\n') },
		},
		"web": {
			func() error { return ws.Write(b.Context(), websocket.MessageText, []byte(ping)) },
			func() (string, error) { _, text, err := ws.Read(b.Context()); return string(text), err },
		},
	} {
		b.Run(name, func(b *testing.B) {
			var all []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := on.send(); err != nil {
					b.Fatal(err)
				}
				for answer := ""; !strings.Contains(answer, `"id":1`); { // greetings come before
					if answer, err = on.read(); err != nil {
						b.Fatal(err)
					}
				}
				all = append(all, time.Since(began))
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Nanoseconds()), "p50-ns")
		})
	}
}

// idle is an engine that does nothing.
type idle struct{ server.Engine }

func (idle) LeaveStreams(string)                                       {}
func (idle) StreamsCancelled(func(string, int64, rpc.StreamCancelled)) {}

// serveStore serves a store's journal on a socket and at an address, and nothing else.
func serveStore(b *testing.B, s *store.Store, socket string) (at, web string, served *server.Server) {
	b.Helper()
	secrets := &audit.Redactor{}
	secrets.Add("correct-horse-battery-staple")
	served, err := server.New(server.Config{
		Store: s, Redact: secrets.JSON, Clients: server.NewClients(), Audit: audit.Audit{Source: s},
		Engine: idle{}, History: struct{ server.History }{}, Packets: struct{ server.Packets }{}, Daemon: struct{ server.Daemon }{}, Models: struct{ server.Models }{},
		Files: struct{ server.Files }{}, Skills: struct{ skills }{}, Policy: struct{ server.Policy }{},
	})
	if err != nil {
		b.Fatal(err)
	}
	l, err := server.Listen(socket)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.ListenWeb(b.Context(), "127.0.0.1:0"); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(l) }()
	b.Cleanup(func() {
		served.Close(context.Background())
		if err := <-ended; err != nil {
			b.Error(err)
		}
		_ = l.Close()
	})
	return socket, l.Web(), served
}

type skills = server.Skills // as a field's name it hides no method
