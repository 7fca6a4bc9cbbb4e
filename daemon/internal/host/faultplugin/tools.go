package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

type none struct{}

type amount struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

type file struct {
	Path string `json:"path"`
}

type asks struct {
	Path string `json:"path"`
	Asks bool   `json:"asks,omitempty"` // a person, first of all
}

func (f *faults) tools() tool.Set {
	if f.set != nil {
		return f.set
	}
	once := sdk.Annotations{Idempotent: true}
	f.set = tool.Set{
		tool.New("noop", "Does nothing.", sdk.Annotations{ReadOnly: true}, noop),
		tool.New("echo", "Answers with its text.", sdk.Annotations{ReadOnly: true}, echo),
		tool.New("crash", "Exits in the middle.", sdk.Annotations{}, crash),
		tool.New("crash_once", "Exits when the file is not there, which it then is.", once, crashOnce),
		tool.New("hang", "Ignores that it was cancelled.", sdk.Annotations{}, hang),
		tool.New("wait", "Waits until it is cancelled.", sdk.Annotations{}, wait),
		tool.New("tell", "Tells of itself for n milliseconds.", sdk.Annotations{}, tell),
		tool.New("until", "Ends when the file is there.", sdk.Annotations{}, until),
		tool.New("grandchild", "Starts a process that holds the pipes, then exits.", sdk.Annotations{}, grandchild),
		tool.New("held", "Starts a process that holds the pipes, and answers with its id.", sdk.Annotations{}, held),
		tool.New("open", "Opens n files.", sdk.Annotations{}, open),
		tool.New("children", "Starts processes that ignore what they can, and answers with their ids.", sdk.Annotations{}, children),
		tool.New("noise", "Writes n bytes without a line end to the real standard output.", sdk.Annotations{}, noise),
		tool.New("flood", "Writes n bytes to the real standard error.", sdk.Annotations{}, flood),
		tool.New("spawn", "Runs a program.", sdk.Annotations{}, spawn),
		tool.New("big", "Answers with n bytes.", sdk.Annotations{}, big),
		tool.New("bring", "Brings n entries, each under its text.", sdk.Annotations{}, bring),
		tool.New("hog", "Allocates n bytes.", sdk.Annotations{}, hog),
		tool.New("busy", "Keeps every processor busy for n milliseconds.", sdk.Annotations{}, busy),
		tool.New("panics", "Panics.", sdk.Annotations{}, panics),
		tool.New("panics_aside", "Panics where nobody catches it.", sdk.Annotations{}, panicsAside),
		tool.New("leaves", "Exits as if all were well.", sdk.Annotations{}, leaves),
		tool.New("unlink", "Removes the plugin's own socket.", sdk.Annotations{}, unlink),
		tool.New("about", "Tells of the process and its settings.", sdk.Annotations{}, f.about),
		tool.New("chunks", "Sends n chunks.", sdk.Annotations{}, chunks),
		tool.New("back", "Calls a service of the daemon.", sdk.Annotations{}, back),
		tool.New("grow", "Declares one more tool.", sdk.Annotations{}, f.grow),
		tool.New("want", "Declares that it calls for another scheme.", sdk.Annotations{}, f.want),
		tool.New("kept", "Does nothing; what a call came to lies in its id.", sdk.Annotations{}, noop).Settled(settled).PreparedBy(prepared),
	}
	return f.set
}

// settled answers as the call's id says.
func settled(_ context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	switch call.CallID {
	case "exit":
		return sdk.ToolResult{Output: call.Run, Error: "exit status 3", Outcome: sdk.Exit(3), Metadata: map[string]any{"exit_code": 3}}, nil
	case "bare":
		return tool.Text("done"), nil
	case "crash":
		os.Exit(5)
	case "hang":
		forever()
	case "panic":
		panic("settling")
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "the call %s is not known", call.CallID)
}

// prepared tells the place that it was asked for, and cannot in a run called bad.
func prepared(_ context.Context, at sdk.Place) (sdk.Prepared, error) {
	if at.Run == "bad" {
		return sdk.Prepared{}, sdk.Errorf(sdk.Unavailable, "there is no place")
	}
	return sdk.Prepared{View: at.Network, Reason: at.Tool + " " + at.Run + " " + at.Project + " " + at.RunDir}, nil
}

func noop(context.Context, none, tool.Call) (sdk.ToolResult, error) { return tool.Text(""), nil }

func echo(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	r := tool.Text(in.Text)
	r.Metadata = map[string]any{"n": in.N}
	return r, nil
}

func crash(_ context.Context, _ none, c tool.Call) (sdk.ToolResult, error) {
	_ = c.Chunk(1, []byte("about to crash"))                 // it crashes either way
	_, _ = syscall.Write(2, []byte("giving up the ghost\n")) // as the runtime writes a panic
	os.Exit(5)
	return sdk.ToolResult{}, nil
}

func crashOnce(ctx context.Context, in asks, _ tool.Call) (sdk.ToolResult, error) {
	if in.Asks {
		if _, err := host.Use(ctx, sdk.ToolAskUser, map[string]any{}); err != nil {
			return sdk.ToolResult{}, err
		}
	}
	if _, err := os.Stat(in.Path); err == nil {
		return tool.Text("second time"), nil
	}
	if err := os.WriteFile(in.Path, nil, 0o600); err != nil {
		return sdk.ToolResult{}, err
	}
	os.Exit(5)
	return sdk.ToolResult{}, nil
}

func hang(_ context.Context, _ none, c tool.Call) (sdk.ToolResult, error) {
	if err := c.Progress("hanging", -1); err != nil {
		return sdk.ToolResult{}, err
	}
	forever()
	return sdk.ToolResult{}, nil
}

func wait(ctx context.Context, _ none, c tool.Call) (sdk.ToolResult, error) {
	if err := c.Progress("waiting", -1); err != nil {
		return sdk.ToolResult{}, err
	}
	<-ctx.Done()
	return sdk.ToolResult{}, ctx.Err()
}

func tell(_ context.Context, in amount, c tool.Call) (sdk.ToolResult, error) {
	for until := time.Now().Add(time.Duration(in.N) * time.Millisecond); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if err := c.Progress("telling", -1); err != nil {
			return sdk.ToolResult{}, err
		}
	}
	return tool.Text("told"), nil
}

func until(ctx context.Context, in file, c tool.Call) (sdk.ToolResult, error) {
	if err := c.Progress("waiting", -1); err != nil {
		return sdk.ToolResult{}, err
	}
	for ctx.Err() == nil {
		if _, err := os.Stat(in.Path); err == nil {
			return tool.Text(fmt.Sprint(os.Getpid())), nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return sdk.ToolResult{}, ctx.Err()
}

// holder starts a process, out of reach of the group and without the plugin's mark,
// that has the real pipes.
func holder() (pid int, err error) {
	cmd := exec.Command("sleep", "300")
	cmd.Stdout, cmd.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
	cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}

func held(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	pid, err := holder()
	return tool.Text(fmt.Sprint(pid)), err
}

func grandchild(_ context.Context, in file, _ tool.Call) (sdk.ToolResult, error) {
	pid, err := holder()
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if err := os.WriteFile(in.Path, fmt.Append(nil, pid), 0o600); err != nil {
		return sdk.ToolResult{}, err
	}
	os.Exit(6)
	return sdk.ToolResult{}, nil
}

func open(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	var all []*os.File
	defer func() {
		for _, f := range all {
			_ = f.Close() // nothing was written
		}
	}()
	for range in.N {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return sdk.ToolResult{}, err
		}
		all = append(all, f)
	}
	return tool.Text(fmt.Sprint(len(all))), nil
}

// children starts a shell that ignores signals, a process below that, and one in a
// session of its own.
func children(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	cmd := exec.Command("/bin/sh", "-c", `trap "" HUP INT QUIT TERM; sleep 300 & below=$!; setsid sleep 300 & echo $$ $below $!; wait`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if err := cmd.Start(); err != nil {
		return sdk.ToolResult{}, err
	}
	var shell, below, away int
	_, err = fmt.Fscan(out, &shell, &below, &away)
	return tool.Text(fmt.Sprint(shell, " ", below, " ", away)), err
}

func noise(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	fmt.Println("printed through the SDK")
	_, _ = syscall.Write(1, []byte("printed past the SDK\n"))
	_, _ = syscall.Write(2, []byte("written to standard error\n"))
	n, err := syscall.Write(1, bytes.Repeat([]byte("x"), in.N))
	return tool.Text(fmt.Sprint(n)), err
}

func flood(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	line := []byte(strings.Repeat("y", 99) + "\n")
	for sent := 0; sent < in.N; sent += len(line) {
		if _, err := syscall.Write(2, line); err != nil {
			return sdk.ToolResult{}, err
		}
	}
	return tool.Text("flooded"), nil
}

func big(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	return tool.Text(strings.Repeat("z", in.N)), nil
}

func bring(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	r := tool.Text("brought")
	for n := range in.N {
		r.Writes = append(r.Writes, sdk.Write{
			Path: fmt.Sprintf("%s%d", in.Text, n), Body: new("text"), Attributes: []byte(`{"a":1}`), Visibility: sdk.Archived,
			Writer: sdk.WriterSystem, State: sdk.StateProposed, Remove: true, Append: true, Create: true,
		})
	}
	return r, nil
}

func hog(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	var held [][]byte
	for total := 0; total < in.N; total += 1 << 20 {
		held = append(held, bytes.Repeat([]byte{1}, 1<<20))
	}
	return tool.Text(fmt.Sprint(len(held))), nil
}

func busy(_ context.Context, in amount, _ tool.Call) (sdk.ToolResult, error) {
	until := time.Now().Add(time.Duration(in.N) * time.Millisecond)
	var all sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		all.Go(func() {
			for time.Now().Before(until) { //nolint:revive // the loop is what keeps it busy
			}
		})
	}
	all.Wait()
	return tool.Text(fmt.Sprint(os.Getpid())), nil
}

func panics(context.Context, none, tool.Call) (sdk.ToolResult, error) { panic("at the disco") }

func panicsAside(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	go panic("boom in a goroutine")
	select {}
}

func leaves(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	os.Exit(0)
	return sdk.ToolResult{}, nil
}

func unlink(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	left, err := filepath.Glob(filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "plugin*"))
	for _, l := range left {
		err = os.Remove(l)
	}
	return tool.Text(strings.Join(left, " ")), err
}

func (f *faults) about(_ context.Context, _ none, c tool.Call) (sdk.ToolResult, error) {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	group, err := syscall.Getpgid(0)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	b, err := json.Marshal(map[string]any{
		"env": os.Environ(), "pid": os.Getpid(), "group": group, "stdin": len(in), "config": f.config,
		"call": c.Invocation, "args": os.Args[1:],
	})
	return sdk.ToolResult{Success: true, Structured: b}, err
}

func chunks(_ context.Context, in amount, c tool.Call) (sdk.ToolResult, error) {
	for n := range in.N {
		if err := c.Chunk(1+n%2, []byte(in.Text)); err != nil {
			return sdk.ToolResult{}, err
		}
	}
	return tool.Text("done"), nil
}

type service struct {
	Service string `json:"service"`
	Name    string `json:"name,omitempty"`
}

// back calls the daemon, with the context of its own call or without.
func back(ctx context.Context, in service, c tool.Call) (sdk.ToolResult, error) {
	h := host.From(ctx)
	switch in.Service {
	case "entry":
		e, err := h.Entry(ctx, in.Name)
		return tool.Text(e.Body), err
	case "entries":
		es, err := h.Entries(ctx, in.Name)
		return tool.Text(fmt.Sprint(len(es))), err
	case "write":
		es, err := h.Write(ctx, sdk.Write{Path: in.Name, Writer: sdk.WriterSystem})
		if err != nil {
			return sdk.ToolResult{}, err
		}
		return tool.Text(string(es[0].Writer)), nil
	case "do":
		done, err := h.Do(ctx, sdk.EntryCall{Verb: sdk.VerbSet, Path: in.Name, Body: &in.Service, Append: true}, sdk.EntryCall{Verb: sdk.VerbGet, Path: in.Name, Body: &in.Name})
		return tool.Text(fmt.Sprint(done)), err
	case "invoke":
		return h.Invoke(ctx, in.Name, []byte(`{"service":"invoke","name":"`+in.Name+`"}`))
	case "complete":
		var text strings.Builder
		err := h.Complete(ctx, sdk.Request{Model: in.Name}, func(d sdk.Delta) error {
			text.WriteString(d.Text)
			return nil
		})
		return tool.Text(text.String()), err
	case "secret":
		v, err := h.Secret(ctx, in.Name)
		return tool.Text(v), err
	case "log":
		return tool.Text("logged"), h.Log(ctx, "warn", in.Name, map[string]string{"k": "v"})
	case "other":
		_, err := h.Entry(host.WithCall(context.WithoutCancel(ctx), in.Name), "file")
		return tool.Text(""), err
	case "wait":
		_, err := h.Entry(ctx, "wait")
		return tool.Text(fmt.Sprint(err)), nil
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "unknown service %s for call %s", in.Service, c.CallID)
}

func (f *faults) grow(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	f.extra = tool.Set{tool.New("grown", "Was not there before.", sdk.Annotations{}, noop)}
	f.changed <- struct{}{}
	return tool.Text("grown"), nil
}

func (f *faults) want(context.Context, none, tool.Call) (sdk.ToolResult, error) {
	f.calls.Schemes[0] = "log" // of the manifest from now on: the slice is shared
	f.changed <- struct{}{}
	return tool.Text("wanted"), nil
}
