package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/bothyd/bothy/sdk/rpc"
)

// dev serves until the process is ended, whoever connects and leaves. The
// daemon neither starts nor ends it: `bothy plugins dev` finds it by the file
// that it writes, and has the daemon use it.
func dev(o Options, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serveDev(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, "dev:", err)
		return exitFailed
	}
	return 0
}

func serveDev(ctx context.Context, o Options, stdout io.Writer) error {
	file, err := rpc.DevPath(os.Getenv, o.Name)
	if err != nil {
		return err
	}
	p, err := devProcess(o)
	if err != nil {
		return err
	}
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if other, alive := running(file); alive {
		return fmt.Errorf("bothy-plugin-%s runs already, as process %d: end that one first", o.Name, other)
	}
	sockets, err := os.MkdirTemp(folder, "s") // 0700
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(sockets) }() // a dead socket disturbs nobody
	p.Address = filepath.Join(sockets, "p")
	listener, err := net.Listen("unix", p.Address)
	if err != nil {
		return err
	}
	s := newService(o)
	defer s.close()
	server := s.server(PeerCredentials(onlyDaemon(0), nil)) // for any process of the same user
	if err := announce(file, p); err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { _ = os.Remove(file) }() // one that stays names a process that is gone
	fmt.Fprintf(stdout, "process %d serves; have a daemon use it: bothy plugins dev %s\n", p.PID, p.Path)
	defer context.AfterFunc(ctx, server.Stop)()
	if err := server.Serve(listener); err != nil {
		return err
	}
	if o.Close != nil {
		o.Close()
	}
	return nil
}

// devProcess is what is known of this process before it listens.
func devProcess(o Options) (rpc.DevProcess, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	return rpc.DevProcess{Plugin: o.Name, Path: exe, PID: os.Getpid(), Protocol: Protocol}, err
}

// announce writes the file whole, or not at all.
func announce(file string, p rpc.DevProcess) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(file), "new") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(fresh.Name()) }() // gone when it was renamed
	_, err = fresh.Write(b)
	if err = errors.Join(err, fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), file)
}

// running is the process of a file that an earlier one wrote, if it still is
// there: a socket that somebody listens on tells.
func running(file string) (pid int, alive bool) {
	var p rpc.DevProcess
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &p) != nil {
		return 0, false
	}
	c, err := net.Dial("unix", p.Address)
	if err != nil {
		if filepath.Dir(filepath.Dir(p.Address)) == filepath.Dir(file) {
			_ = os.RemoveAll(filepath.Dir(p.Address)) // left by a process that was killed
		}
		return 0, false
	}
	_ = c.Close() // it was only asked whether anybody is there
	return p.PID, true
}
