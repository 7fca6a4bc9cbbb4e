package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeDaemon stands behind the real server: an engine that plays rows, a
// store in memory. Its answers are the same at every call.
type fakeDaemon struct {
	strangers []rpc.Agent // of files that nobody trusts
	noStreams
	pulling func() // is told that an endless pull has begun
	mu      sync.Mutex
	rows    []sdk.JournalRow
	changed chan struct{}
	stopped chan struct{}
	once    sync.Once

	prompts []rpc.Prompt
	modes   []bool
	calls   []rpc.ToolCall
	done    []string // the verbs of a run's life

	constrained string // pattern and constraint
	aborts      []int64
	detail      fakeRun
	changes     rpc.Changes
	reloaded    rpc.Reloaded
	mistakes    []string
	loaded      rpc.PluginReloaded
	skills      fakeSkills
	policy      fakePolicy
	keys        fakeAuth
	people      fakePeople

	// play is called after a prompt was accepted, in a goroutine of its own.
	play     func(f *fakeDaemon, loop int64)
	refuse   error
	busy     int64         // the run that cannot be deleted
	stopping bool          // what status says of it
	ahead    int           // prompts before the next one
	slow     chan struct{} // closed when prompts are taken; nil is at once
	stubborn bool          // an abort does not end the loop
	tool     func(ctx context.Context, p rpc.ToolCall) (rpc.ToolDone, error)
	show     func(rpc.Preview)
}

type fakeRun struct {
	root    string // of the one project there is
	runs    []sdk.Run
	last    int64 // the one that was given a prompt last
	loops   []sdk.Loop
	turns   []sdk.Turn
	entries []sdk.Entry
	notes   []sdk.JournalRow
}

func newFakeDaemon() *fakeDaemon {
	return &fakeDaemon{changed: make(chan struct{}), stopped: make(chan struct{})}
}

// epoch is when everything happens: goldens show no other time.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (f *fakeDaemon) commit(row sdk.JournalRow) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	row.Seq = int64(len(f.rows) + 1)
	row.Run, row.Project = cmp.Or(row.Run, 7), 1
	row.Time = epoch.Add(time.Duration(row.Seq) * 100 * time.Millisecond)
	f.rows = append(f.rows, row)
	close(f.changed)
	f.changed = make(chan struct{})
	return row.Seq
}

func (f *fakeDaemon) Submit(_ context.Context, _ string, readOnly, _ bool, _ sdk.Origin, p rpc.Prompt) (rpc.Accepted, error) {
	f.mu.Lock()
	f.prompts, f.modes = append(f.prompts, p), append(f.modes, readOnly)
	loop := int64(len(f.prompts))
	f.mu.Unlock()
	if f.refuse != nil {
		return rpc.Accepted{}, f.refuse
	}
	if f.slow != nil {
		<-f.slow
	}
	seq := f.commit(sdk.JournalRow{Kind: sdk.KindLoopQueued, Loop: loop})
	if f.play != nil {
		go f.play(f, loop)
	}
	return rpc.Accepted{Run: "brave-1", ID: 7, Loop: loop, Sequence: int(loop), Seq: seq, Model: "replay/first-run", Why: "no other model was found", Ahead: f.ahead}, nil
}

func (f *fakeDaemon) StartRun(context.Context, sdk.Origin, rpc.StartRun) (rpc.Started, error) {
	return rpc.Started{}, nil
}

func (f *fakeDaemon) CallTool(ctx context.Context, _ bool, _ sdk.Origin, p rpc.ToolCall) (rpc.ToolDone, error) {
	f.mu.Lock()
	f.calls = append(f.calls, p)
	f.mu.Unlock()
	return f.tool(ctx, p)
}

func (f *fakeDaemon) Abort(_ context.Context, run int64) error {
	f.mu.Lock()
	f.aborts = append(f.aborts, run)
	loop := int64(len(f.prompts))
	f.mu.Unlock()
	if !f.stubborn {
		f.commit(ended(loop, 499, "aborted", "aborted by a client"))
	}
	return nil
}

func (f *fakeDaemon) did(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, fmt.Sprintf(format, args...))
}

func (f *fakeDaemon) Resume(_ context.Context, run int64) (rpc.Accepted, error) {
	f.did("resume %d", run)
	return f.Submit(context.Background(), "", false, false, sdk.Origin{}, rpc.Prompt{})
}

func (f *fakeDaemon) Compact(_ context.Context, run int64) (rpc.Accepted, error) {
	f.did("compact %d", run)
	return f.Submit(context.Background(), "", false, false, sdk.Origin{}, rpc.Prompt{})
}

func (f *fakeDaemon) Fork(_ context.Context, run int64, p rpc.Fork) (rpc.Forked, error) {
	f.did("fork %d as %q after %d", run, p.As, p.Turn)
	return rpc.Forked{Run: "brave-2", ID: 8, Turn: 2}, f.refuse
}

func (f *fakeDaemon) Reset(_ context.Context, run int64) error {
	f.did("reset %d", run)
	return f.refuse
}

func (f *fakeDaemon) Leave(_ context.Context, run int64) (bool, error) {
	f.did("leave %d", run)
	return true, f.refuse
}

func (f *fakeDaemon) Changes(_ context.Context, run int64, of rpc.ChangesOf) (rpc.Changes, error) {
	f.did("changes %d%s", run, partOf(of))
	return f.changes, f.refuse
}

// partOf is which part of a run is meant.
func partOf(of rpc.ChangesOf) string {
	of.Run, of.Project = "", ""
	if text := strings.TrimPrefix(mustJSON(of), `{"run":"",`); text != `{"run":""}` {
		return " " + strings.TrimSuffix(text, "}")
	}
	return ""
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (f *fakeDaemon) Redo(ctx context.Context, run int64, partial bool) (rpc.Undone, error) {
	f.did("redo %d %v", run, partial)
	return f.undone(run), f.refuse
}

func (f *fakeDaemon) Undo(_ context.Context, run int64, p rpc.Undo) (rpc.Undone, error) {
	f.did("undo %d %v%s", run, p.Partial, partOf(p.Of()))
	return f.undone(run), f.refuse
}

func (f *fakeDaemon) undone(run int64) rpc.Undone {
	u := rpc.Undone{Run: f.changes.Run, ID: run, Left: []sdk.Difference{}, Taken: []sdk.Difference{}, Kept: []string{"new"}}
	for _, d := range f.changes.Differences {
		if d.Conflict == "" {
			u.Taken = append(u.Taken, d)
		} else {
			u.Left = append(u.Left, d)
		}
	}
	return u
}

func (f *fakeDaemon) Delete(_ context.Context, run int64) error {
	f.did("delete %d", run)
	if run == f.busy {
		return sdk.Errorf(sdk.Conflict, "it is at work")
	}
	return f.refuse
}

func (f *fakeDaemon) ConfigureRun(_ context.Context, run int64, p rpc.RunConfig) (sdk.Run, error) {
	f.did("configure %d", run)
	r := sdk.Run{ID: run, Alias: "brave-1", Agent: "default", Model: cmp.Or(p.Model, "ollama/qwen3")}
	p.Apply(&r.RunConfig)
	return r, f.refuse
}

func (f *fakeDaemon) Rename(_ context.Context, run int64, name string) (sdk.Run, error) {
	f.did("rename %d to %s", run, name)
	return sdk.Run{ID: run, Alias: name}, f.refuse
}

func (f *fakeDaemon) Projects(context.Context) ([]sdk.Project, error) {
	if f.detail.root == "" {
		return nil, nil
	}
	return []sdk.Project{{ID: 1, Root: f.detail.root}}, nil
}

func (f *fakeDaemon) Run(_ context.Context, id int64) (sdk.Run, error) {
	for _, r := range f.detail.runs {
		if r.ID == id {
			return r, nil
		}
	}
	if id == 7 {
		return sdk.Run{ID: 7, Alias: "brave-1", Status: 102}, nil
	}
	return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %d", id)
}

func (f *fakeDaemon) Delegators(context.Context, int64) ([]sdk.Run, error) { return nil, nil }

func (f *fakeDaemon) RunByAlias(_ context.Context, _ int64, alias string) (sdk.Run, error) {
	for _, r := range f.detail.runs {
		if r.Alias == alias {
			return r, nil
		}
	}
	return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %q", alias)
}

func (f *fakeDaemon) Runs(_ context.Context, by sdk.RunFilter) ([]sdk.Run, error) {
	var found []sdk.Run
	for _, r := range f.detail.runs {
		if (by.Hidden || !r.Hidden) && (!by.Last || r.ID == f.detail.last) && len(found) < by.Limit {
			found = append(found, r)
		}
	}
	return found, nil
}

func (f *fakeDaemon) Loops(_ context.Context, run int64) ([]sdk.Loop, error) {
	return slices.DeleteFunc(slices.Clone(f.detail.loops), func(l sdk.Loop) bool { return l.Run != run }), nil
}
func (f *fakeDaemon) Turns(context.Context, int64) ([]sdk.Turn, error) { return f.detail.turns, nil }
func (f *fakeDaemon) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) {
	return f.detail.entries, nil
}

func (f *fakeDaemon) Verify(context.Context, int) error {
	if f.policy.damage != nil {
		return f.policy.damage
	}
	return nil
}

func (f *fakeDaemon) Journal(_ context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	if q.Notes {
		return f.detail.notes, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rows := f.rows[min(int(q.After), len(f.rows)):]
	return append([]sdk.JournalRow(nil), rows[:min(q.Limit, len(rows))]...), nil
}

func (f *fakeDaemon) Forks(_ context.Context, run int64) ([]sdk.Run, error) {
	return slices.DeleteFunc(slices.Clone(f.detail.runs), func(r sdk.Run) bool { return r.Parent != run }), nil
}

func (f *fakeDaemon) Seq() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.rows))
}

func (f *fakeDaemon) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

func (f *fakeDaemon) Status(context.Context) (rpc.Status, error) {
	return rpc.Status{
		Version: sdk.Version, Protocol: rpc.Protocol, PID: 4711, Started: time.Now(), Socket: "/run/bothy.sock",
		Database: "/state/bothy.db", Log: "/state/bothyd.log", Seq: 12, RSS: 20 << 20, Running: 1, Stopping: f.stopping,
		Plugins:   f.Plugins(),
		Problems:  []string{"config.hcl:3: odd\x1b[2Jthing"},
		HomeTools: []string{"cargo", "go"},
		Skills: rpc.SkillState{Usable: 6, Folders: []rpc.SkillFolder{
			{Path: "/h/.agents/skills", Watching: "polling", Problem: "no watches\x07 are left"}, {Path: "/h/.claude/skills", Watching: "inotify"},
		}},
	}, nil
}

// Pull gets any model but endless and nowhere.
func (f *fakeDaemon) Pull(ctx context.Context, model string, progress func(sdk.PullProgress)) (string, error) {
	progress(sdk.PullProgress{Status: "pulling", Done: 1 << 20, Total: 2 << 20})
	switch model {
	case "endless":
		f.pulling()
		<-ctx.Done()
		return "", ctx.Err()
	case "nowhere":
		return "", sdk.Errorf(sdk.NotFound, "there is no nowhere")
	}
	return "ollama/" + model, nil
}

func (f *fakeDaemon) List(context.Context) rpc.Models {
	yes := true
	return rpc.Models{Models: []rpc.Model{
		{Alias: "replay/first-run", Actual: "first-run", Provider: "replay", Default: true, Why: "no other model was found"},
		{Alias: "ollama/qwen3", Actual: "qwen3", Provider: "ollama", ContextLength: 40960, Tools: &yes, Local: true},
	}, Problems: []string{"vllm does not answer"}}
}

// fakeParameters are those of a tool that takes one of everything.
const fakeParameters = `{"type":"object","required":["path"],"properties":{"start":{"type":"integer","minimum":1,"maximum":9,"default":1},
	"path":{"type":"string","description":"which file,\nbelow the \u202eproject","examples":["a.txt"]},"kinds":{"type":"array","items":{"type":"string","enum":["a","b"]}},
	"any":true,"since":{"type":["string","null"],"format":"date"}}}`

func (f *fakeDaemon) Tools() []sdk.Tool {
	return []sdk.Tool{
		{ToolSpec: sdk.ToolSpec{Name: "bash", Description: "Runs a command.\nMore.", Parameters: json.RawMessage(`{"type":"object"}`), Annotations: sdk.Annotations{Destructive: true}}, Plugin: "bash"},
		{ToolSpec: sdk.ToolSpec{Name: "read_file", Description: "Reads \u202egnp.exe", Parameters: json.RawMessage(fakeParameters), Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true}}, Plugin: "files"},
	}
}

func (f *fakeDaemon) Plugins() []rpc.Plugin {
	return []rpc.Plugin{
		{Instance: "bash", Plugin: "bash", Path: "/x/bothy-plugin-bash", Version: "1", Kinds: []string{"tool", "hook"}, State: "ready", PID: 12, RSS: 5 << 20},
		{Instance: "odd", Plugin: "odd", State: "broken", Error: "no such file"},
	}
}

func (f *fakeDaemon) ReloadPlugin(_ context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	if p.Instance != "bash" {
		return rpc.PluginReloaded{}, sdk.Errorf(sdk.NotFound, "no plugin and no provider is called %q; there are: bash", p.Instance)
	}
	f.loaded.Instance = p.Instance
	if p.Force {
		f.loaded.How = "swapped"
	}
	return f.loaded, nil
}

func (f *fakeDaemon) CatchUp(context.Context) {}

func (f *fakeDaemon) ReloadConfig(context.Context) rpc.Reloaded { return f.reloaded }

func (f *fakeDaemon) Mistakes(string) rpc.Mistakes { return rpc.Mistakes{Mistakes: f.mistakes} }
func (f *fakeDaemon) Settings() []rpc.Setting      { return nil }

// DevPlugin uses a process until it is given up.
func (f *fakeDaemon) DevPlugin(ctx context.Context, p rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	if p.PID == 1 {
		return rpc.PluginDetached{}, sdk.Errorf(sdk.Conflict, "another process is attached as %s", p.Instance)
	}
	attached(rpc.PluginAttached{Instance: p.Instance, Kinds: []string{"tool"}, Tools: []string{p.Instance}, Notes: []string{}})
	return rpc.PluginDetached{Instance: p.Instance, Reason: "its process has ended"}, nil
}

func (f *fakeDaemon) Backup(_ context.Context, p rpc.BackupParams, progress func(done, total int64)) (rpc.BackupDone, error) {
	if p.File == "/there.db" && !p.Force {
		return rpc.BackupDone{}, sdk.Errorf(sdk.Conflict, "/there.db is there already")
	}
	progress(1<<20, 2<<20)
	return rpc.BackupDone{File: cmp.Or(p.File, "/state/backups/dated.db"), Bytes: 2 << 20, Seq: 12, Runs: 3}, nil
}

func (f *fakeDaemon) Lend(context.Context, sdk.Run, []rpc.LentServer) ([]rpc.LentAs, func()) {
	return nil, func() {}
}

func (f *fakeDaemon) Stop(bool) { f.once.Do(func() { close(f.stopped) }) }

// serve runs the daemon at the socket until it is told to stop.
func (f *fakeDaemon) serve(socket string) error {
	l, err := server.Listen(socket)
	if err != nil {
		return err
	}
	s, err := server.New(server.Config{Engine: f, History: f, Packets: rendered{}, Store: f, Daemon: f, Models: f, People: &f.people, Keys: &f.keys, Files: f, Skills: &f.skills, Policy: &f.policy, Audit: &f.policy, Clients: server.NewClients(), Configured: func(string) []sdk.PolicyRule { return f.policy.rules.Configured }, Log: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	f.show = s.Preview
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	<-f.stopped
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.Close(ctx)
	if err := <-served; err != nil {
		return err
	}
	return l.Close()
}

// TestMain lets this binary stand in for bothyd: the tests put a link to it
// where bothy looks.
func TestMain(m *testing.M) {
	switch os.Getenv("BOTHY_TEST_DAEMON") {
	case "":
		time.Local = time.UTC
		os.Exit(m.Run())
	case "serve":
		if len(os.Args) > 1 {
			return // config check: nothing to complain about
		}
		socket, err := rpc.SocketPath(os.Getenv)
		if err == nil {
			err = newFakeDaemon().serve(socket)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bothyd:", err)
			os.Exit(1)
		}
	case "broken":
		fmt.Fprintln(os.Stderr, "config.hcl:3,1: unknown block \"modle\"\x1b[2J")
		os.Exit(2)
	case "silent":
		os.Exit(1)
	case "echo":
		fmt.Println("bothyd", os.Args[1:], os.Getenv("BOTHY_TEST_DAEMON"))
		fmt.Fprintln(os.Stderr, "to stderr")
		if dir, err := os.Getwd(); err == nil {
			fmt.Println(filepath.Base(dir))
		}
		os.Exit(3)
	}
}

func ended(loop int64, status int, stop, reason string) sdk.JournalRow {
	return sdk.JournalRow{Kind: sdk.KindLoopEnded, Loop: loop, Data: data(map[string]any{"status": status, "stop": stop, "reason": reason})}
}

func data(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func entry(loop int64, turn int, path string, body *string, state sdk.State, outcome sdk.Outcome, phase sdk.Phase, attributes any) sdk.JournalRow {
	return sdk.JournalRow{Kind: sdk.KindEntrySet, Loop: loop, Turn: turn, Path: path, Body: body,
		Data: data(sdk.EntryChange{State: state, Outcome: outcome, Phase: phase, Attributes: data(attributes)})}
}

func text(s string) *string { return &s }

// twoTurns is a loop that runs a command, fails another, and answers.
func twoTurns(f *fakeDaemon, loop int64) {
	f.commit(sdk.JournalRow{Kind: sdk.KindLoopStarted, Loop: loop})
	f.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: loop, Turn: 1})
	f.commit(sdk.JournalRow{Kind: "note.retry", Loop: loop, Turn: 1, Data: data(map[string]any{"message": "HTTP 429", "class": "rate_limit", "attempt": 1, "wait_ms": 1500})})
	f.commit(entry(loop, 1, "assistant://1", text("I look\x1b[31m around."), sdk.StateResolved, "", "", map[string]any{"calls": []any{1, 2}}))
	f.commit(sdk.JournalRow{Kind: sdk.KindTurnClosed, Loop: loop, Turn: 1, Data: data(map[string]any{"usage": sdk.Usage{Prompt: 100, Completion: 10, Total: 110}, "finish": "calls"})})
	bash := "log://turn_1/bash/call"
	f.commit(entry(loop, 1, bash, text(""), sdk.StateStreaming, "", sdk.PhaseRecorded, map[string]any{"tool": "bash", "arguments": map[string]any{"command": "id -u\nls"}}))
	read := "log://turn_1/read_file/none"
	f.commit(entry(loop, 1, read, text(""), sdk.StateStreaming, "", sdk.PhaseRecorded, map[string]any{"tool": "read_file", "arguments": json.RawMessage(`{"path":"none","lines":"1-2"}`)}))
	f.commit(entry(loop, 1, bash, nil, sdk.StateStreaming, "", sdk.PhaseStarted, nil))
	f.commit(sdk.JournalRow{Kind: sdk.KindEntryChunk, Path: bash, Data: data(map[string]int{"channel": 1}), Body: text("1000\nhalf")})
	f.commit(sdk.JournalRow{Kind: sdk.KindEntryChunk, Path: bash, Data: data(map[string]int{"channel": 1}), Body: text(" a li")})
	f.commit(entry(loop, 1, bash, text("1000\nhalf a line"), sdk.StateFailed, sdk.Exit(3), sdk.PhaseEnded, map[string]any{"error": "exit status 3", "duration_ms": 1200, "metadata": map[string]any{"stdout": "1000\nhalf a line", "stderr": ""}}))
	f.commit(entry(loop, 1, read, nil, sdk.StateStreaming, "", sdk.PhaseStarted, nil))
	f.commit(entry(loop, 1, read, text("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), sdk.StateResolved, "", sdk.PhaseEnded, map[string]any{"duration_ms": 3}))
	f.commit(sdk.JournalRow{Kind: sdk.KindTurnOpened, Loop: loop, Turn: 2})
	f.commit(entry(loop, 2, "assistant://2", text("You are 1000.\x07"), sdk.StateResolved, "", "", map[string]any{}))
	f.commit(sdk.JournalRow{Kind: sdk.KindTurnClosed, Loop: loop, Turn: 2, Data: data(map[string]any{"usage": sdk.Usage{Prompt: 150, Completion: 5, Total: 155}, "finish": "stop"})})
	f.commit(ended(loop, 200, "answer", "the model answered"))
}

// unpainted takes away what paint adds.
func unpainted(text string) string {
	for _, s := range []style{dim, bold, red, green, inverse, "0"} {
		text = strings.ReplaceAll(text, "\x1b["+string(s)+"m", "")
	}
	return text
}
