package sandbox

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox/frame"
)

// uppers are the folders that views may lie in, the best first: on the disk, where
// most projects are too, else in memory.
func (c Config) uppers() []string {
	return []string{filepath.Join(c.StateDir, "views"), filepath.Join(c.Dir, "views"), filepath.Join("/dev/shm", "bothy-"+key(c.StateDir))}
}

const hintReinstall = "reinstall Bothy (make install), or set BOTHY_PREFIX to where it is"

// viewStart is how long the helper may take to say its first word.
const viewStart = 20 * time.Second

// startViewer starts the helper inside of Podman's namespaces: with the flags and
// the environment of our own service, or with the user's when the service is
// somebody else's. The caller closes it. Without a helper in the configuration it
// is [CodeUnavailable].
func startViewer(ctx context.Context, own *service, cfg Config, logger hclog.Logger) (*viewer, error) {
	if cfg.View == "" {
		return nil, unavailable("no program to make views is configured", hintReinstall, nil)
	}
	if _, err := hashFile(cfg.View); err != nil {
		return nil, unavailable("there is no program to make views", hintReinstall, err)
	}
	cmd, err := viewCommand(ctx, own, cfg)
	if err != nil {
		return nil, err
	}
	v, err := launchViewer(ctx, cmd)
	if err != nil {
		return nil, unavailable("the program that makes views does not start", "", err)
	}
	logger.Debug("the program that makes views has started", "pid", v.proc.pid)
	return v, nil
}

func viewCommand(ctx context.Context, own *service, cfg Config) (*exec.Cmd, error) {
	if own != nil {
		cmd := exec.Command(own.binary, own.args("unshare", cfg.View)...)
		cmd.Env, cmd.Dir = own.env, own.dir
		return cmd, nil
	}
	binary, err := findBinary(ctx, cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "unshare", cfg.View)
	cmd.Env, cmd.Dir = os.Environ(), "/"
	return cmd, nil
}

func launchViewer(ctx context.Context, cmd *exec.Cmd) (*viewer, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: the end of the process must not cut off what it said last.
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	proc, err := launch(cmd)
	_ = theirs.Close()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	v := &viewer{proc: proc, stdin: stdin, out: gob.NewEncoder(stdin), waiting: make(map[uint64]chan frame.ViewReply)}
	in := gob.NewDecoder(bufio.NewReader(stdout))
	if err := greetViewer(ctx, stdout, in); err != nil {
		_ = stdin.Close()
		_ = stdout.Close()
		endTree(proc.pid)
		<-proc.done
		return nil, fmt.Errorf("%w%s", err, proc.stderr.suffix())
	}
	go func() {
		defer stdout.Close()
		v.serve(in)
	}()
	return v, nil
}

// greetViewer waits for the helper's first word.
func greetViewer(ctx context.Context, stdout *os.File, in *gob.Decoder) error {
	if err := stdout.SetReadDeadline(time.Now().Add(viewStart)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = stdout.SetReadDeadline(time.Now()) })()
	var hello frame.ViewHello
	if err := in.Decode(&hello); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it ended at once")
		}
		return cause(ctx, err)
	}
	if hello.Version != frame.ViewVersion {
		return fmt.Errorf("it speaks version %d, not %d", hello.Version, frame.ViewVersion)
	}
	return stdout.SetReadDeadline(time.Time{})
}

// close ends the helper, and what it does.
func (v *viewer) close() {
	_ = v.stdin.Close()
	select {
	case <-v.proc.done:
	case <-time.After(2 * time.Second):
		endTree(v.proc.pid)
		<-v.proc.done
	}
}
