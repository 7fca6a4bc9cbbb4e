package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

var build struct {
	sync.Once
	text []byte
	err  error
}

// onPath puts a program that stands in for Ollama on PATH, with a home of its own,
// and tells where a server of its would be.
func onPath(t *testing.T, models ...string) (base string) {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	build.Do(func() {
		file := filepath.Join(bin, "built")
		out, err := exec.Command("go", "build", "-o", file, "./testdata/ollama").CombinedOutput()
		if err != nil {
			build.err = errors.New(string(out))
			return
		}
		build.text, build.err = os.ReadFile(file)
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	if err := os.WriteFile(filepath.Join(bin, "ollama"), build.text, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	for _, name := range models {
		state(t, "models/"+name)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // whoever is to be started listens there
	return "http://" + l.Addr().String()
}

// state makes a file that the program obeys.
func state(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(os.Getenv("HOME"), ".ollama", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// told is a file that the program wrote.
func told(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".ollama", name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func starting(t *testing.T, s settings) *ollama {
	t.Helper()
	s.Context = 4096
	o, err := newOllama(s, &servers{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// alive reports whether the program runs.
func alive(t *testing.T) bool {
	t.Helper()
	pid, err := strconv.Atoi(told(t, "pid"))
	return err == nil && syscall.Kill(pid, 0) == nil
}

// TestServe: the server is started when it is wanted, once for all who want it at
// the same time, goes on for the next configuration, and ends with the last.
func TestServe(t *testing.T) {
	base := onPath(t, "qwen3:8b")
	shared := &servers{}
	first, err := newOllama(settings{BaseURL: base, Context: 4096, Start: true}, shared)
	if err != nil {
		t.Fatal(err)
	}
	if told(t, "pid") != "" {
		t.Fatal("it was started before anybody wanted it")
	}
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			if list, err := first.Models(t.Context()); err != nil || len(list) != 1 || list[0].Name != "qwen3:8b" {
				t.Errorf("models %+v, %v", list, err)
			}
		})
	}
	asking.Wait()
	if got := told(t, "serving"); "http://"+strings.Fields(got)[0] != base {
		t.Errorf("it serves at %s", got)
	}
	pid := told(t, "pid")
	second, err := newOllama(settings{BaseURL: base, Context: 8192, Start: true}, shared)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if got, err := collect(t, second, hello()); err != nil || got.Text != "hello from ollama" || told(t, "pid") != pid {
		t.Errorf("%+v, %v, by %s", got, err, told(t, "pid"))
	}
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(number, syscall.SIGKILL); err != nil { // somebody ends it, and it is wanted again
		t.Fatal(err)
	}
	<-second.server.child.ended
	if got, err := collect(t, second, hello()); err != nil || got.Text != "hello from ollama" || told(t, "pid") == pid {
		t.Errorf("%+v, %v, by %s", got, err, told(t, "pid"))
	}
	second.Close()
	if alive(t) {
		t.Error("it outlives the plugin")
	}
}

// TestNotServed: nothing is started where that is turned off, for another host, or
// where somebody listens; what cannot be started is said with its reason.
func TestNotServed(t *testing.T) {
	base := onPath(t)
	elsewhere := strings.Replace(base, "127.0.0.1", "192.0.2.1", 1)
	for name, s := range map[string]settings{
		"turned off": {BaseURL: base}, "elsewhere": {BaseURL: elsewhere, Start: true, ConnectTimeout: time.Millisecond},
		"over TLS": {BaseURL: strings.Replace(base, "http:", "https:", 1), Start: true},
	} {
		o := starting(t, s)
		if _, err := o.Models(t.Context()); err == nil || told(t, "pid") != "" {
			t.Errorf("%s: started %q, %v", name, told(t, "pid"), err)
		}
		o.Close()
	}

	t.Run("a server that ends at once", func(t *testing.T) {
		state(t, "broken")
		o := starting(t, settings{BaseURL: base, Start: true})
		defer o.Close()
		_, err := o.Models(t.Context())
		if sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "the disk is on fire") {
			t.Error(err)
		}
		_, err = collect(t, o, hello())
		var e *sdk.ProviderError
		if !errors.As(err, &e) || e.Class != sdk.ClassNever || !strings.Contains(e.Message, "the disk is on fire") {
			t.Error(err)
		}
	})

	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		o := starting(t, settings{BaseURL: base, Start: true})
		defer o.Close()
		if _, err := o.Models(t.Context()); err == nil || strings.Contains(err.Error(), "ollama serve") {
			t.Error(err)
		}
	})

	t.Run("a program that may not be executed", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("PATH", dir)
		// A folder of the interpreter's is refused as Landlock refuses a program.
		if err := os.WriteFile(filepath.Join(dir, "ollama"), []byte("#!"+dir+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		o := starting(t, settings{BaseURL: base, Start: true})
		defer o.Close()
		if _, err := o.Models(t.Context()); sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "confined") {
			t.Error(err)
		}
	})
}

// TestServeGivenUp: who does not wait for the start any more leaves it to others.
func TestServeGivenUp(t *testing.T) {
	base := onPath(t, "qwen3:8b")
	state(t, "slow")
	o := starting(t, settings{BaseURL: base, Start: true})
	defer o.Close()
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := o.Models(ctx)
		gone <- err
	}()
	for told(t, "pid") == "" {
		select {
		case err := <-gone:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if list, err := o.Models(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
