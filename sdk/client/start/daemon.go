package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	// GreetTime is how long a daemon may take to greet. One that starts reads its
	// plugins first; its socket is there before it answers.
	GreetTime = 20 * time.Second
	// StopTime is how long a daemon may take to stop, beside what its tools have to end.
	StopTime = 60 * time.Second
	// startTime is how long a daemon may take from its start to its greeting.
	startTime = 60 * time.Second
	// bindTime is how long a daemon may take to make a socket again that somebody removed.
	bindTime = 6 * time.Second
	// pauseTime is between two tries.
	pauseTime = 50 * time.Millisecond
)

// MostStarts is how often a daemon is started again that dies before it greets, before it
// has taken a prompt, or, where a run is followed, before it has recorded anything.
const MostStarts = 3

// Daemon is the user's daemon, as the environment names it, and who calls it.
type Daemon struct {
	Environ []string // of the caller; the daemon gets it
	Dir     string   // what relative paths in it are relative to; absolute
	Beside  string   // a program that bothyd lies beside, unless BOTHY_PREFIX says where
	Name    string   // of the client, for the daemon's log
	Role    rpc.Role // that the client needs; empty is none
	Say     func(text string)
	Waits   func(text string) // is told, once, what a prompt waits for before it is taken; nil is Say
}

// UsageError is a mistake in the environment or the installation: no daemon was started,
// and none can be before it is mended.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

func (d *Daemon) say(format string, args ...any) {
	if d.Say != nil {
		d.Say(fmt.Sprintf(format, args...))
	}
}

func (d *Daemon) env(name string) string {
	for i := len(d.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(d.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

func (d *Daemon) path(named string) string {
	if filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(d.Dir, named)
}

// Program is the path of the daemon's binary: below BOTHY_PREFIX, else beside Beside.
func (d *Daemon) Program() (string, error) {
	path := filepath.Join(filepath.Dir(d.Beside), "bothyd")
	if prefix := d.env("BOTHY_PREFIX"); prefix != "" {
		path = filepath.Join(d.path(prefix), "bin", "bothyd")
	}
	if fi, err := os.Stat(path); err != nil || fi.IsDir() || fi.Mode()&0o111 == 0 {
		return "", &UsageError{fmt.Errorf("there is no bothyd at %s: run `make build` in a checkout, or set BOTHY_PREFIX to the installation", path)}
	}
	return path, nil
}

// Client makes a client that connects at its first call.
func (d *Daemon) Client(socket string) *client.Client {
	return &client.Client{Socket: socket, Name: d.Name, Role: d.Role}
}

// Connect returns a client of the running daemon, starting it when there is none. What
// there is to say of it (another version, a start that takes long) goes to Say.
func (d *Daemon) Connect(ctx context.Context) (*client.Client, error) {
	for begin := time.Now(); ; {
		cl, err := d.connectOnce(ctx)
		died := Ending(err) || IsDown(err) // since it greeted
		if !died || time.Since(begin) > GreetTime || !pause(ctx) {
			return cl, err
		}
	}
}

func (d *Daemon) connectOnce(ctx context.Context) (*client.Client, error) {
	cl, err := d.AttachSoon(ctx, GreetTime)
	var down *client.NotRunningError
	if errors.As(err, &down) && d.waitForSocket(ctx, down.Socket) {
		cl, err = d.AttachSoon(ctx, GreetTime)
	}
	if errors.As(err, &down) {
		cl, err = d.Start(ctx, down.Socket)
	}
	if err != nil {
		return nil, err
	}
	hello, err := cl.Hello(ctx)
	if err != nil {
		return nil, errors.Join(err, cl.Close())
	}
	if hello.Version != sdk.Version {
		d.say("the daemon is version %s and this is %s: after `bothy stop` the next call starts the bothyd of this version", hello.Version, sdk.Version)
	}
	return cl, nil
}

// Attach returns a client of the running daemon, or a *client.NotRunningError.
func (d *Daemon) Attach(ctx context.Context) (*client.Client, error) {
	socket, err := rpc.FindSocket(d.env)
	if err != nil {
		return nil, &UsageError{err}
	}
	cl := d.Client(socket)
	ctx, cancel := context.WithTimeout(ctx, GreetTime)
	defer cancel()
	_, err = cl.Hello(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("something listens at %s and does not answer: see %s, or end that bothyd with `bothy stop --now`", socket, d.Log())
	}
	if err != nil {
		return nil, errors.Join(err, cl.Close())
	}
	return cl, nil
}

// AttachSoon is Attach, after the end of a daemon that is about to end.
func (d *Daemon) AttachSoon(ctx context.Context, most time.Duration) (cl *client.Client, err error) {
	err = WhileEnding(ctx, most, func() (err error) {
		cl, err = d.Attach(ctx)
		return err
	})
	return cl, err
}

// WhileEnding calls try again as long as what answers is a daemon that is about
// to end, at most for the time given: one that has ended can be told apart, and
// another started.
func WhileEnding(ctx context.Context, most time.Duration, try func() error) error {
	for begin := time.Now(); ; {
		err := try()
		if !Ending(err) || time.Since(begin) > most || !pause(ctx) {
			return err
		}
	}
}

// Ending reports whether a greeting failed because the daemon stops or has no
// room for another connection.
func Ending(err error) bool {
	var said *rpc.Error
	if errors.As(err, &said) {
		return said.Code == rpc.CodeBusy
	}
	return errors.Is(err, client.ErrDisconnected)
}

// IsDown reports whether a call failed because no daemon runs.
func IsDown(err error) bool {
	var down *client.NotRunningError
	return errors.As(err, &down)
}

// Log names the daemon's log, for an error.
func (d *Daemon) Log() string {
	state, err := rpc.StateDir(d.env)
	if err != nil {
		return "its log"
	}
	return state + "/bothyd.log"
}

// Holder is the process of a daemon that has the lock beside the socket, or 0.
// It can lack its socket for a moment: while it starts or ends, and when
// somebody removed the file.
func Holder(socket string) int {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(socket), rpc.LockName))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 || !Alive(pid) {
		return 0
	}
	// The number may be another process's by now.
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.TrimSpace(string(name)) != "bothyd" {
		return 0
	}
	return pid
}

// Alive reports whether a process is there and has not ended. One that ended
// and was not reaped, as happens in containers, counts as ended.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		_, lacks := os.Stat("/proc/self")
		return !os.IsNotExist(err) || lacks != nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// waitForSocket waits while a daemon is there without its socket, and reports
// whether one came to be.
func (d *Daemon) waitForSocket(ctx context.Context, socket string) bool {
	told := false
	for begin := time.Now(); time.Since(begin) < bindTime; {
		pid := Holder(socket)
		if _, err := os.Lstat(socket); err == nil || pid == 0 {
			return err == nil
		}
		if !told && time.Since(begin) > 500*time.Millisecond {
			d.say("bothyd (pid %d) runs and its socket %s is gone; it makes it again", pid, socket)
			told = true
		}
		if !pause(ctx) {
			return false
		}
	}
	return false
}

// pause waits a moment, and reports whether ctx has not ended meanwhile.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(pauseTime):
		return true
	case <-ctx.Done():
		return false
	}
}
