package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/model"
)

// BenchmarkChoose measures which model is taken when none is named, with three
// local addresses before which a packet is lost and one at which Ollama answers:
// with the start of its plugin, with the plugin running, and again at once.
func BenchmarkChoose(b *testing.B) {
	surroundings(b)
	text := noPlugins + fmt.Sprintf("provider \"ollama\" {\n  enabled = false\n}\nprovider \"later\" {\n  plugin = \"ollama\"\n  base_url = %q\n}\n", ollamaServer(b))
	for _, label := range []string{"lmstudio", "llamacpp", "vllm"} {
		text += fmt.Sprintf("provider %q {\n  base_url = \"http://%s/v1\"\n}\n", label, silentAddress(b))
	}
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "bothy", "config.hcl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	write(b, path, text)
	d := serving(b)
	choose := func(m *model.Models) func() error {
		return func() error {
			c, err := m.Resolve(context.Background(), "")
			if err == nil && c.Alias != "later/small:latest" {
				err = fmt.Errorf("took %s because %s", c.Alias, c.Why)
			}
			return err
		}
	}
	var first, fresh, again []time.Duration
	timed(b, &first, choose(d.models))
	for i := 0; b.Loop(); i++ {
		if i%10 == 0 { // each waits for the silent ones
			m := model.New(d.current(), plugins{d.host}, d.secrets, d.gaveWay)
			timed(b, &fresh, choose(m))
			timed(b, &again, choose(m))
		}
	}
	report(b, "choosing a model, 3 silent addresses: with the start of a plugin", round(first[0]).String(), "at most 350ms")
	report(b, "choosing a model, 3 silent addresses", fmt.Sprintf("%v (n=%d)", round(median(fresh)), len(fresh)), "at most 350ms")
	report(b, "choosing a model again within 30 s", fmt.Sprintf("%v (n=%d)", round(median(again)), len(again)), "at most 5ms")
}

// silentAddress is one of this machine from which nothing comes back: whoever may
// wait there waits already, so that the kernel drops what others send.
func silentAddress(b *testing.B) string {
	b.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = syscall.Close(socket) })
	bind := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err := errors.Join(bind, syscall.Listen(socket, 0)); err != nil {
		b.Fatal(err)
	}
	at, err := syscall.Getsockname(socket)
	if err != nil {
		b.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(at.(*syscall.SockaddrInet4).Port))
	for range 8 {
		conn, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return address
		}
		b.Cleanup(func() { _ = conn.Close() })
	}
	b.Fatal("the kernel lets everybody wait")
	return ""
}
