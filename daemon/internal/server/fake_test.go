package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeStore is a journal and some runs in memory.
type fakeStore struct {
	of          *sdk.Conversation // whose runs were asked for last
	mu          sync.Mutex
	rows        []sdk.JournalRow
	unannounced int // of them: committed, and Seq does not count them yet
	changed     chan struct{}
	projects    []sdk.Project
	runs        []sdk.Run
	entries     []sdk.Entry
	turns       []sdk.Turn
	loops       []sdk.Loop
	used        []sdk.Used
}

// Owns says so of everybody whose label ends in "kept".
func (f *fakeStore) Owns(_ context.Context, owner string) (bool, error) {
	return strings.HasSuffix(owner, "kept"), nil
}

func newFakeStore() *fakeStore {
	return &fakeStore{
		changed:  make(chan struct{}),
		projects: []sdk.Project{{ID: 1, Root: "/p/one"}, {ID: 2, Root: "/p/two"}},
		runs: []sdk.Run{
			{ID: 7, Key: "k7", Project: 1, Alias: "seven", Agent: "default", Model: "m", Status: 200, Turns: 2},
			{ID: 8, Project: 2, Alias: "seven", Agent: "default", Model: "m", Status: 102},
			{ID: 9, Project: 1, Alias: "8", Agent: "default", Model: "m", Status: 200},
			{ID: 10, Project: 1, Alias: "tools", Hidden: true},
		},
	}
}

func (f *fakeStore) commit(rows ...sdk.JournalRow) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rows {
		r.Seq = int64(len(f.rows) + 1)
		f.rows = append(f.rows, r)
	}
	close(f.changed)
	f.changed = make(chan struct{})
	return int64(len(f.rows) - f.unannounced)
}

func (f *fakeStore) Projects(context.Context) ([]sdk.Project, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.projects), nil
}

// found adds a project.
func (f *fakeStore) found(p sdk.Project, runs ...sdk.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.projects, f.runs = append(f.projects, p), append(f.runs, runs...)
}

func (f *fakeStore) Run(_ context.Context, id int64) (sdk.Run, error) {
	for _, r := range f.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %d", id)
}

func (f *fakeStore) RunByAlias(_ context.Context, project int64, alias string) (sdk.Run, error) {
	for _, r := range f.runs {
		if r.Project == project && r.Alias == alias {
			return r, nil
		}
	}
	return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %q", alias)
}

func (f *fakeStore) Runs(_ context.Context, by sdk.RunFilter) ([]sdk.Run, error) {
	if by.Of != nil {
		f.of = by.Of
	}
	var found []sdk.Run
	for _, r := range f.runs {
		if (by.Project == 0 || r.Project == by.Project) && (by.Channel == "" || r.Channel == by.Channel) && (by.Owner == "" || r.Owner == by.Owner) && (by.Hidden || !r.Hidden) && (by.Children || by.Below != 0 || r.Delegator == 0) && (by.Below == 0 || r.ID != by.Below && f.below(r.ID, by.Below)) && strings.Contains(r.Alias, by.Search) {
			found = append(found, r)
		}
	}
	if by.Below != 0 {
		slices.Reverse(found)
	}
	found = found[min(by.Offset, len(found)):]
	if by.Limit > 0 {
		found = found[:min(by.Limit, len(found))]
	}
	return found, nil
}

func (f *fakeStore) Delegators(ctx context.Context, run int64) ([]sdk.Run, error) {
	var all []sdk.Run
	for r, err := f.Run(ctx, run); err == nil && r.Delegator != 0; {
		if r, err = f.Run(ctx, r.Delegator); err == nil {
			all = slices.Insert(all, 0, r)
		}
	}
	return all, nil
}

// below reports whether a run is one, or hangs below it.
func (f *fakeStore) below(run, top int64) bool {
	chain, _ := f.Delegators(context.Background(), run)
	return run == top || slices.ContainsFunc(chain, func(r sdk.Run) bool { return r.ID == top })
}

func (f *fakeStore) Loops(_ context.Context, run int64) ([]sdk.Loop, error) {
	var found []sdk.Loop
	for _, l := range f.loops {
		if l.Run == run {
			found = append(found, l)
		}
	}
	return found, nil
}

func (f *fakeStore) Turns(context.Context, int64) ([]sdk.Turn, error) { return f.turns, nil }

func (f *fakeStore) Entries(_ context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	var found []sdk.Entry
	for _, e := range f.entries {
		if ok, _ := filepath.Match(q.Pattern, e.Path); (ok || q.Pattern == "") && (q.Path == "" || q.Path == e.Path) && (q.Paths == nil || slices.Contains(q.Paths, e.Path)) {
			if q.Brief {
				e.Body = ""
			}
			found = append(found, e)
		}
	}
	return found, nil
}

// Scheme knows facts, which belong to owners.
func (f *fakeStore) Scheme(name string) (sdk.Scheme, bool) {
	return sdk.Scheme{Name: name, Scope: "owner"}, name == "fact"
}

func (f *fakeStore) Verify(context.Context, int) error { return nil }

func (f *fakeStore) Journal(_ context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []sdk.JournalRow
	for _, r := range f.rows[min(int(q.After), len(f.rows)):] {
		if (q.Limit == 0 || len(found) < q.Limit) && (q.Run == 0 || r.Run == q.Run || q.Children && f.below(r.Run, q.Run)) && (!q.Notes || r.Path == "") {
			found = append(found, r)
		}
	}
	return found, nil
}

func (f *fakeStore) Forks(_ context.Context, run int64) ([]sdk.Run, error) {
	var found []sdk.Run
	for _, r := range f.runs {
		if r.Parent == run {
			found = append(found, r)
		}
	}
	return found, nil
}

func (f *fakeStore) Seq() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.rows) - f.unannounced)
}

func (f *fakeStore) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// fakeEngine records what it is asked; tests give it a tool.
type fakeEngine struct {
	mu       sync.Mutex
	prompts  []rpc.Prompt
	sessions []string
	approved bool // of the last call of a tool
	modes    []bool
	within   func(string) bool // the reach of the last verbs
	aborted  []int64
	done     []string // the other verbs
	touched  map[int64]rpc.PromptFiles
	tool     func(context.Context, rpc.ToolCall) (rpc.ToolDone, error)
	origins  []sdk.Origin
	streams  []string // sessions that sent pieces
	left     []string // sessions that have ended
	tell     func(session string, run int64, p rpc.StreamCancelled)
}

// Keeper is the run 19, of nobody.
func (f *fakeEngine) Keeper(context.Context, sdk.Origin) (sdk.Run, error) {
	return sdk.Run{ID: 19}, nil
}

func (f *fakeEngine) Submit(_ context.Context, session string, readOnly, _ bool, origin sdk.Origin, p rpc.Prompt) (rpc.Accepted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.origins = append(f.origins, origin)
	f.prompts, f.sessions, f.modes = append(f.prompts, p), append(f.sessions, session), append(f.modes, readOnly)
	if p.Model == "nobody" {
		return rpc.Accepted{}, sdk.Errorf(sdk.Validation, "there is no model nobody")
	}
	return rpc.Accepted{Run: "seven", ID: 7, Loop: 1, Sequence: 1, Seq: 3, Model: "m", Why: "it was there"}, nil
}

func (f *fakeEngine) StartRun(_ context.Context, _ sdk.Origin, p rpc.StartRun) (rpc.Started, error) {
	if p.Run == "seven" {
		return rpc.Started{}, sdk.Errorf(sdk.Conflict, "there is a run seven already")
	}
	return rpc.Started{Run: p.Run, ID: 11, Model: "m"}, nil
}

func (f *fakeEngine) Init(_ context.Context, root string) (sdk.Project, error) {
	switch root {
	case "/p/one":
		return sdk.Project{ID: 1, Name: "one", Root: root}, nil
	case "/p/two":
		return sdk.Project{ID: 2, Name: "two", Root: root}, nil
	}
	return sdk.Project{}, sdk.Errorf(sdk.NotFound, "the project directory cannot be found")
}

func (f *fakeEngine) CallTool(ctx context.Context, approved bool, _ sdk.Origin, p rpc.ToolCall) (rpc.ToolDone, error) {
	f.mu.Lock()
	f.approved = approved
	f.mu.Unlock()
	if f.tool == nil {
		return rpc.ToolDone{}, fmt.Errorf("no tool")
	}
	return f.tool(ctx, p)
}

func (f *fakeEngine) Abort(_ context.Context, run int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.aborted = append(f.aborted, run)
	return nil
}

func (f *fakeEngine) AbortHeld(_ context.Context, run int64) (int, error) {
	f.did("abort %d and hold", run)
	return 2, nil
}

func (f *fakeEngine) Release(_ context.Context, run int64) (int, error) {
	f.did("release %d", run)
	return 2, nil
}

func (f *fakeEngine) TakeBack(_ context.Context, run int64, prompt int) (rpc.TakenBack, error) {
	f.did("take back %d of %d", prompt, run)
	return rpc.TakenBack{ID: run, Sequence: prompt, Taken: true, Status: sdk.StatusAborted, Prompt: "the text"}, nil
}

// Cassette hands out "cassette" in two pieces.
func (f *fakeEngine) Cassette(_ context.Context, run int64, prompt int, offset int64) (rpc.CassettePiece, error) {
	f.did("cassette %d of %d from %d", prompt, run, offset)
	text := "cassette"
	next := min(offset+5, int64(len(text)))
	return rpc.CassettePiece{ID: run, Prompt: prompt, Size: int64(len(text)), Next: next, Text: text[offset:next]}, nil
}

func (f *fakeEngine) UseEntries(_ context.Context, _ bool, within func(string) bool, run sdk.Run, calls []sdk.EntryCall) ([]sdk.EntryDone, error) {
	c := calls[0]
	f.mu.Lock()
	f.within = within
	f.mu.Unlock()
	text, err := json.Marshal(c)
	if c.Path == "known://missing" {
		return nil, sdk.Errorf(sdk.NotFound, "there is no entry %s", c.Path)
	}
	return []sdk.EntryDone{{Text: fmt.Sprintf("%d %s", run.ID, text)}}, err
}

func (f *fakeEngine) ScanProject(_ context.Context, root string) (sdk.Project, sdk.Scanned, error) {
	f.did("scan %s", root)
	return sdk.Project{ID: 1, Root: root}, sdk.Scanned{Files: 3, Changed: 2}, nil
}

func (f *fakeEngine) ConstrainProject(_ context.Context, root, pattern string, to sdk.Constraint) (sdk.Project, sdk.Scanned, error) {
	if to == "some" {
		return sdk.Project{}, sdk.Scanned{}, sdk.Errorf(sdk.Validation, "there is no constraint %q", to)
	}
	f.did("constrain %s %s %q", root, pattern, to)
	return sdk.Project{ID: 1, Root: root}, sdk.Scanned{Files: 3, Removed: 1}, nil
}

func (f *fakeEngine) CancelCall(_ context.Context, run int64, path string) ([]string, error) {
	f.did("cancel %q of %d", path, run)
	return []string{"log://turn_1/bash/ls"}, nil
}

func (f *fakeEngine) Stream(_ context.Context, session string, run int64, p rpc.Stream) error {
	if session == "" {
		return sdk.Errorf(sdk.Internal, "there is no session")
	}
	if p.Path == "log://turn_1/sh/slow" {
		time.Sleep(time.Millisecond)
	}
	f.did("stream %d %s %d %s", run, p.Path, p.Channel, p.Chunk)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams = append(f.streams, session)
	return nil
}

func (f *fakeEngine) StreamCompleted(_ context.Context, _ string, run int64, p rpc.StreamCompleted) ([]rpc.StreamOutput, error) {
	f.did("completed %d %s %d %s", run, p.Path, *p.ExitCode, p.Duration)
	return []rpc.StreamOutput{{Path: "sh://turn_1/call_1", Bytes: 3, Status: 200}}, nil
}

func (f *fakeEngine) StreamAborted(_ context.Context, _ string, run int64, p rpc.StreamAborted) ([]rpc.StreamOutput, error) {
	f.did("aborted %d %s %s", run, p.Path, p.Reason)
	return nil, nil
}

func (f *fakeEngine) StreamCancel(_ context.Context, run int64, p rpc.StreamCancel) ([]rpc.StreamOutput, error) {
	f.did("cancel %d %s %s", run, p.Path, p.Reason)
	f.mu.Lock()
	sessions, tell := f.streams[max(0, len(f.streams)-1):], f.tell
	f.mu.Unlock()
	for _, session := range sessions {
		tell(session, run, rpc.StreamCancelled{Run: "seven", Path: p.Path, Reason: p.Reason})
	}
	return nil, nil
}

func (f *fakeEngine) LeaveStreams(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = append(f.left, session)
}

func (f *fakeEngine) StreamsCancelled(tell func(string, int64, rpc.StreamCancelled)) { f.tell = tell }

func (f *fakeEngine) did(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, fmt.Sprintf(format, args...))
}

func (f *fakeEngine) Agent(_, name string) (rpc.AgentDetail, error) {
	if name != "default" {
		return rpc.AgentDetail{}, sdk.Errorf(sdk.NotFound, "there is no agent %q", name)
	}
	return rpc.AgentDetail{Agent: rpc.Agent{Name: name}, Definition: sdk.Definition{Place: "config.hcl:1"}}, nil
}

func (f *fakeEngine) Agents(project string, _ bool) []rpc.Agent {
	return []rpc.Agent{{Name: "default", Mode: sdk.ModeRestricted, Tools: []string{}, Default: project == ""}}
}

func (f *fakeEngine) Compact(_ context.Context, run int64) (rpc.Accepted, error) {
	return rpc.Accepted{ID: run, Loop: 3, Ahead: 1}, nil
}

func (f *fakeEngine) Resume(_ context.Context, run int64) (rpc.Accepted, error) {
	f.did("resume %d", run)
	return rpc.Accepted{Run: "seven", ID: run, Loop: 2, Seq: 4}, nil
}

func (f *fakeEngine) Fork(_ context.Context, run int64, p rpc.Fork) (rpc.Forked, error) {
	f.did("fork %d as %q after %d", run, p.As, p.Turn)
	return rpc.Forked{Run: "eight", ID: 12, Turn: 2}, nil
}

func (f *fakeEngine) Reset(_ context.Context, run int64) error { f.did("reset %d", run); return nil }

func (f *fakeEngine) Leave(_ context.Context, run int64) (bool, error) {
	f.did("leave %d", run)
	return true, nil
}

func (f *fakeEngine) Changes(_ context.Context, run int64, of rpc.ChangesOf) (rpc.Changes, error) {
	f.did("changes %d %d %d %q %v %v", run, of.Prompt, of.Turn, of.Action, of.Paths, of.Redo)
	return rpc.Changes{ID: run, Differences: []sdk.Difference{}}, nil
}

func (f *fakeEngine) Touched(context.Context, int64) (map[int64]rpc.PromptFiles, error) {
	return f.touched, nil
}

func (f *fakeEngine) Undo(_ context.Context, run int64, p rpc.Undo) (rpc.Undone, error) {
	f.did("undo %d %v", run, p.Partial)
	return rpc.Undone{ID: run}, nil
}

func (f *fakeEngine) Redo(_ context.Context, run int64, partial bool) (rpc.Undone, error) {
	f.did("redo %d %v", run, partial)
	return rpc.Undone{ID: run}, nil
}

func (f *fakeEngine) Delete(_ context.Context, run int64) error {
	f.did("delete %d", run)
	return sdk.Errorf(sdk.Conflict, "it is at work")
}

func (f *fakeEngine) ConfigureRun(_ context.Context, run int64, p rpc.RunConfig) (sdk.Run, error) {
	f.did("configure %d with %s", run, p.Model)
	r := sdk.Run{ID: run, Alias: "seven", Agent: "default", Model: p.Model}
	p.Apply(&r.RunConfig)
	return r, nil
}

func (f *fakeEngine) Rename(_ context.Context, run int64, name string) (sdk.Run, error) {
	f.did("rename %d to %s", run, name)
	return sdk.Run{ID: run, Alias: name}, nil
}

type fakeDaemon struct {
	stopped chan struct{}
	once    sync.Once
	panics  bool
	gaveUp  chan string // the model of a pull that was given up

	tookBack chan struct{} // closed when what was lent is taken back
}

func (f *fakeDaemon) Status(context.Context) (rpc.Status, error) {
	if f.panics {
		panic("status is broken")
	}
	return rpc.Status{Version: "v", PID: 1}, nil
}

// Pull gets any model but endless and nowhere.
func (f *fakeDaemon) Pull(ctx context.Context, model string, progress func(sdk.PullProgress)) (string, error) {
	progress(sdk.PullProgress{Status: "pulling", Done: 1 << 20, Total: 2 << 20})
	switch model {
	case "endless":
		<-ctx.Done()
		f.gaveUp <- model
		return "", ctx.Err()
	case "nowhere":
		return "", sdk.Errorf(sdk.NotFound, "there is no nowhere")
	}
	return "ollama/" + model, nil
}

func (f *fakeDaemon) List(context.Context) rpc.Models {
	return rpc.Models{Models: []rpc.Model{{Alias: "a"}, {Alias: "b"}, {Alias: "c"}}}
}

func (f *fakeDaemon) Add(_ context.Context, p rpc.ModelAdd) (rpc.ModelAdded, error) {
	return rpc.ModelAdded{Alias: p.Alias, Actual: p.Actual, File: "/c.hcl", Changed: true}, nil
}

func (f *fakeDaemon) Remove(_ context.Context, p rpc.ModelRef) (rpc.ModelRemoved, error) {
	return rpc.ModelRemoved{Alias: p.Alias, File: "/c.hcl"}, nil
}

func (f *fakeDaemon) Find(_ context.Context, p rpc.FilesParams) (rpc.Files, error) {
	return rpc.Files{Project: p.Project, Files: []string{p.Query + ".go"}, Found: p.Limit}, nil
}

func (f *fakeDaemon) Read(_ context.Context, p rpc.FileParams) (rpc.FileText, error) {
	if p.Path == ".env" {
		return rpc.FileText{}, sdk.Errorf(sdk.Permission, "it may hold secrets")
	}
	return rpc.FileText{Path: p.Path, From: p.From, To: p.To, Lines: 9, Text: "text\n"}, nil
}

func (f *fakeDaemon) Tree(_ context.Context, _ sdk.Project, pattern string) ([]rpc.TreeFile, error) {
	return []rpc.TreeFile{{ProjectFile: sdk.ProjectFile{Path: "a" + pattern}}, {ProjectFile: sdk.ProjectFile{Path: "b"}}, {ProjectFile: sdk.ProjectFile{Path: "c"}}}, nil
}

func (f *fakeDaemon) Constraints(context.Context, sdk.Project) ([]sdk.FileConstraint, error) {
	return []sdk.FileConstraint{{Pattern: "vendor", Constraint: sdk.ConstraintReadOnly}}, nil
}

func (f *fakeDaemon) Tools() []sdk.Tool {
	return []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "bash", Parameters: json.RawMessage(`{"type":"object"}`)}, Plugin: "bash"}}
}

func (f *fakeDaemon) Plugins() []rpc.Plugin { return nil }
func (f *fakeDaemon) ReloadPlugin(_ context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	return rpc.PluginReloaded{Instance: p.Instance, How: "swapped"}, nil
}

func (f *fakeDaemon) CheckConfig(_ context.Context, p rpc.ConfigCheck) rpc.ConfigChecked {
	return rpc.ConfigChecked{Path: "/c.hcl", Usable: p.Project != ""}
}

func (f *fakeDaemon) CatchUp(context.Context) {}

func (f *fakeDaemon) ReloadConfig(context.Context) rpc.Reloaded {
	return rpc.Reloaded{Path: "/c.hcl", Applied: true, Changes: []rpc.ConfigChange{{Block: "agent", Label: "a", Kind: "added"}}}
}

func (f *fakeDaemon) Mistakes(project string) rpc.Mistakes {
	return rpc.Mistakes{Mistakes: []string{"c.hcl:1: odd in " + project}}
}
func (f *fakeDaemon) Settings() []rpc.Setting { return []rpc.Setting{{Name: "a.b", Value: "1"}} }

// Lend lends under other names.
func (f *fakeDaemon) Lend(_ context.Context, run sdk.Run, servers []rpc.LentServer) (lent []rpc.LentAs, end func()) {
	for _, s := range servers {
		lent = append(lent, rpc.LentAs{Name: s.Name, Server: "_" + run.Key + "_" + s.Name})
	}
	return lent, func() { close(f.tookBack) }
}

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

func (f *fakeDaemon) Stop(bool) { f.once.Do(func() { close(f.stopped) }) }

// house is a server on a socket in a directory of its own.
type house struct {
	*Server
	store    *fakeStore
	engine   *fakeEngine
	daemon   *fakeDaemon
	listener *Listener
	path     string
	served   chan error
}

// fakeFolders have one file, which takes whatever is written.
type fakeFolders struct{}

func (fakeFolders) Write(_ sdk.Run, p rpc.WorkspaceWrite) (rpc.WorkspaceWritten, error) {
	return rpc.WorkspaceWritten{Name: p.Name, Written: p.Offset + int64(len(p.Data))}, nil
}

func (fakeFolders) Read(_ sdk.Run, p rpc.WorkspaceRead) (rpc.WorkspacePiece, error) {
	return rpc.WorkspacePiece{Data: []byte("x")[p.Offset:], Size: 1}, nil
}

// open starts a server; change, when not nil, sees the configuration first.
func open(t *testing.T, change func(*Config)) *house {
	t.Helper()
	return openListening(t, change, func(*Listener) error { return nil })
}

// openListening is open; listen sees the listener before it is served.
func openListening(t *testing.T, change func(*Config), listen func(*Listener) error) *house {
	t.Helper()
	h := &house{store: newFakeStore(), engine: &fakeEngine{}, daemon: &fakeDaemon{stopped: make(chan struct{}), gaveUp: make(chan string, 1), tookBack: make(chan struct{})}, served: make(chan error, 1)}
	cfg := Config{Engine: h.engine, History: h.engine, Packets: fakePackets{}, Store: h.store, Daemon: h.daemon, Models: h.daemon, People: fakePeople{}, Keys: &fakeKeys{}, Files: h.daemon, Folders: fakeFolders{}, Skills: &fakeSkills{}, Policy: &fakePolicy{}, Audit: &fakeAudit{}, Clients: NewClients(), Configured: noRules, Log: hclog.NewNullLogger()}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.Server, h.path = s, filepath.Join(t.TempDir(), "s", rpc.SocketName)
	if h.listener, err = Listen(h.path); err != nil {
		t.Fatal(err)
	}
	if err := listen(h.listener); err != nil {
		t.Fatal(err)
	}
	go func() { h.served <- s.Serve(h.listener) }()
	t.Cleanup(func() { h.shut(t) })
	return h
}

func (h *house) shut(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h.Close(ctx)
	if err := <-h.served; err != nil {
		t.Errorf("serve: %v", err)
	}
	h.served <- nil
	if err := h.listener.Close(); err != nil {
		t.Errorf("closing the listener: %v", err)
	}
}

func (h *house) client(t *testing.T) *client.Client {
	t.Helper()
	c := &client.Client{Socket: h.path, Name: t.Name(), Role: rpc.RoleAdmin}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// dial connects without a client, for what no good client sends.
func (h *house) dial(t *testing.T) *raw {
	t.Helper()
	c, err := net.Dial("unix", h.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return newRaw(t, c)
}

// enter connects without a client and has a role.
func (h *house) enter(t *testing.T, role rpc.Role) *raw {
	t.Helper()
	r := h.dial(t)
	r.send(hello(h.token(t, role), ""))
	if m := r.answer(); m.Error != nil {
		t.Fatalf("hello: %v", m.Error)
	}
	return r
}

// token reads the token of a role from its file.
func (h *house) token(t *testing.T, role rpc.Role) string {
	t.Helper()
	text, err := os.ReadFile(rpc.TokenPath(h.path, role))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hello is the line that introduces a client.
func hello(token string, role rpc.Role) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"hello","params":{"client":"raw","protocol":"2.0","token":%q,"role":%q}}`+"\n", token, role)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (f *fakeEngine) Guards(string, string) sdk.Guards { return sdk.Guards{MaxCost: 2} }

func (f *fakeDaemon) Price(string) *sdk.Price { return &sdk.Price{Prompt: 1, Completion: 5} }

// Usage is what the journal's rows tell, as the store reads them.
func (f *fakeStore) Usage(_ context.Context, since time.Time, do func(sdk.Used) error) error {
	for _, u := range f.used {
		if u.Time.Before(since) {
			continue
		}
		if err := do(u); err != nil {
			return err
		}
	}
	return nil
}
