package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
	"github.com/bothyd/bothy/sdk/tool"
)

// TestMain keeps the locks of projects out of the folder that real ones have.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "files-locks")
	if err == nil {
		err = os.Setenv("XDG_RUNTIME_DIR", dir)
	}
	if err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// served is the plugin's tools at the other end of a connection, as the daemon
// has them.
func served(t *testing.T) *tool.Client {
	t.Helper()
	f := &files{}
	if err := plugin.Decode(nil, &f.config); err != nil {
		t.Fatal(err)
	}
	if err := f.configure(context.Background(), sdk.Settings{}); err != nil {
		t.Fatal(err)
	}
	set := f.tools()
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(plugin.MaxMessage), grpc.MaxSendMsgSize(plugin.MaxMessage))
	tool.Register(server, set)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	conn, err := grpc.NewClient("passthrough:files",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(plugin.MaxMessage), grpc.MaxCallSendMsgSize(plugin.MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		wg.Wait()
	})
	return tool.NewClient(conn, set.Tools()...)
}

// nowhere takes the pieces of a call; these tools send none.
type nowhere struct{ t *testing.T }

func (n nowhere) Chunk(int, []byte) error        { n.t.Error("a chunk"); return nil }
func (n nowhere) Progress(string, float64) error { n.t.Error("progress"); return nil }

func call(t *testing.T, c *tool.Client, project, name string, arguments any) sdk.ToolResult {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Invoke(context.Background(), sdk.Invocation{Tool: name, Arguments: raw, Project: project, CallID: name}, nowhere{t})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return got
}

type object = map[string]any

// TestTools calls each tool once, as the daemon does, and checks what a model
// and a program get back.
func TestTools(t *testing.T) {
	c := served(t)
	tp := newProject(t, map[string]string{"src/a.go": "package a\n\nvar x = 1\n"})
	for _, tt := range []struct {
		tool      string
		arguments object
		output    string
		field     string
		value     any
	}{
		{"read_file", object{"path": "src/a.go", "start_line": 3, "end_line": 3}, "var x = 1\n", "total_lines", 3.0},
		{"list_files", object{}, "src/\n", "total", 1.0},
		{"list_files", object{"pattern": "src/*.go"}, "src/a.go  ", "total", 1.0},
		{"list_files", object{"pattern": "*.rs", "recursive": true}, "nothing in . fits *.rs\n", "total", 0.0},
		{"list_files", object{"pattern": "*.go", "recursive": true}, "src/a.go  ", "total", 1.0},
		{"find_files", object{"pattern": "**/*.go"}, "src/a.go\n", "total", 1.0},
		{"grep", object{"pattern": `x\s*=`, "glob": "*.go"}, "src/a.go:3:var x = 1\n", "files", 1.0},
		{"diff_files", object{"path": "src/a.go", "text": "package a\n"}, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1 @@\n package a\n-\n-var x = 1\n", "same", false},
		{"diff_files", object{"path": "src/a.go", "text": "package a\n", "context_lines": 1}, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1 @@\n package a\n-\n-var x = 1\n", "same", false},
		{"write_file", object{"path": "b/c.txt", "content": "hi\n"}, "Created b/c.txt (3 bytes)", "created", true},
		{"edit_file", object{"path": "src/a.go", "old_text": "x = 1", "new_text": "x = 2"}, "Edited src/a.go at line 3\n--- a/src/a.go", "line", 3.0},
		{"create_directory", object{"path": "d/e"}, "Created the directory d/e", "created", true},
		{"copy_path", object{"source": "b", "destination": "d/b"}, "Copied the directory b to d/b (1 entry)", "entries", 2.0},
		{"move_path", object{"source": "b/c.txt", "destination": "d/c.txt"}, "Moved the file b/c.txt to d/c.txt", "kind", "file"},
		{"delete_path", object{"path": "d", "recursive": true}, "Deleted the directory d with what lay in it (5 items)", "items", 5.0},
	} {
		got := call(t, c, tp.dir, tt.tool, tt.arguments)
		var data object
		if err := json.Unmarshal(got.Structured, &data); err != nil {
			t.Errorf("%s: structured %q: %v", tt.tool, got.Structured, err)
		}
		if !got.Success || got.Error != "" || !strings.HasPrefix(got.Output, tt.output) || data[tt.field] != tt.value {
			t.Errorf("%s: %+v, structured %s", tt.tool, got, got.Structured)
		}
	}
	if tp.get("src/a.go") != "package a\n\nvar x = 2\n" {
		t.Errorf("%q", tp.get("src/a.go"))
	}
}

func TestContract(t *testing.T) {
	f := &files{config: config{MaxFileBytes: megabytes}}
	tp := newProject(t, map[string]string{"a": "one\n", "d/x": "x\n"})
	var calls []sdktest.Call
	for _, c := range []struct{ tool, arguments string }{
		{"read_file", `{"path":"a"}`}, {"list_files", `{}`}, {"find_files", `{"pattern":"**"}`}, {"grep", `{"pattern":"o"}`},
		{"diff_files", `{"path":"a","other":"d/x"}`},
		{"write_file", `{"path":"n/m","content":"new\n"}`}, {"edit_file", `{"path":"a","old_text":"one","new_text":"two"}`},
		{"create_directory", `{"path":"p/q"}`}, {"copy_path", `{"source":"d","destination":"e"}`},
		{"move_path", `{"source":"d","destination":"f"}`}, {"delete_path", `{"path":"f","recursive":true}`},
	} {
		calls = append(calls, sdktest.Call{Invocation: sdk.Invocation{Tool: c.tool, Arguments: json.RawMessage(c.arguments), Project: tp.dir, CallID: c.tool}})
	}
	sdktest.Tool(t, f.tools(), calls...)
}

func TestFailuresCarryTheirOutcome(t *testing.T) {
	c := served(t)
	tp := newProject(t, map[string]string{"a": "x\nx\n"})
	for _, tt := range []struct {
		tool      string
		arguments object
		outcome   sdk.Outcome
	}{
		{"read_file", object{"path": "gone"}, sdk.NotFound},
		{"read_file", object{"path": "../x"}, sdk.Permission},
		{"write_file", object{"path": ".git/hooks/pre-commit", "content": "x"}, sdk.Permission},
		{"edit_file", object{"path": "a", "old_text": "x", "new_text": "y"}, sdk.Conflict},
		{"grep", object{"pattern": "("}, sdk.Validation},
		{"delete_path", object{"path": "."}, sdk.Validation},
	} {
		got := call(t, c, tp.dir, tt.tool, tt.arguments)
		if got.Success || got.Outcome != tt.outcome || got.Error == "" || got.Output == "" {
			t.Errorf("%s %v: %+v", tt.tool, tt.arguments, got)
		}
	}
	if got := call(t, c, "", "read_file", object{"path": "a"}); got.Success || got.Outcome != sdk.Validation {
		t.Errorf("a call without a project: %+v", got)
	}
	for _, bad := range []string{`{"path":"a","run":"other"}`, `{"path":1}`, `{`} {
		_, err := c.Invoke(context.Background(), sdk.Invocation{Tool: "read_file", Arguments: json.RawMessage(bad), Project: tp.dir}, nowhere{t})
		wantOutcome(t, err, sdk.Validation, "read_file")
	}
}

func TestLargestFileCrossesTheWire(t *testing.T) {
	c := served(t)
	tp := newProject(t, nil)
	content := strings.Repeat("0123456789abcde\n", largestFile/16)
	if got := call(t, c, tp.dir, "write_file", object{"path": "big", "content": content}); !got.Success {
		t.Fatal(got.Error)
	}
	if got := call(t, c, tp.dir, "read_file", object{"path": "big"}); !got.Success || got.Output != content {
		t.Errorf("%d bytes came back: %s", len(got.Output), got.Error)
	}
	tp.put("latin", strings.Repeat("a\xe9", largestFile/2))
	if got := call(t, c, tp.dir, "read_file", object{"path": "latin"}); got.Success || got.Outcome != sdk.Overflow {
		t.Errorf("%d bytes, outcome %s", len(got.Output), got.Outcome)
	}
	wide := strings.Repeat("y", 390) + "\n"
	tp.put("wide", strings.Repeat(wide, 9000))
	got := call(t, c, tp.dir, "grep", object{"pattern": "y", "path": "wide", "context": 20, "limit": 1000})
	if !got.Success || !got.Truncated || len(got.Structured) > 3*shownBytes {
		t.Errorf("%d bytes: %s", len(got.Structured), got.Error)
	}
}

func TestDeclarations(t *testing.T) {
	specs := served(t).Tools()
	looks := []string{"read_file", "list_files", "find_files", "grep", "diff_files"}
	required := map[string][]string{
		"read_file": {"path"}, "write_file": {"path", "content"}, "edit_file": {"path", "old_text", "new_text"}, "list_files": nil,
		"find_files": {"pattern"}, "grep": {"pattern"}, "create_directory": {"path"}, "delete_path": {"path"},
		"move_path": {"source", "destination"}, "diff_files": {"path"}, "copy_path": {"source", "destination"},
	}
	if len(specs) != len(required) {
		t.Errorf("%d tools", len(specs))
	}
	for _, spec := range specs {
		if a := spec.Annotations; a.ReadOnly != slices.Contains(looks, spec.Name) || a.ReadOnly && (a.Destructive || !a.Idempotent) || a.OpenWorld || a.Terminal {
			t.Errorf("%s: %+v", spec.Name, a)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(schema.Required, required[spec.Name]) {
			t.Errorf("%s requires %v", spec.Name, schema.Required)
		}
		for name, p := range schema.Properties {
			if p.Description == "" || p.Type == "" {
				t.Errorf("argument %s of %s: %+v", name, spec.Name, p)
			}
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(object{"path": "x", "surprise": true}); err == nil {
			t.Errorf("%s takes undeclared arguments", spec.Name)
		}
		if spec.Staged == spec.Annotations.ReadOnly {
			t.Errorf("%s: staged is %v", spec.Name, spec.Staged)
		}
		if spec.Description == "" {
			t.Errorf("%s has no description", spec.Name)
		}
	}
}

func TestConfigure(t *testing.T) {
	for n, fine := range map[int64]bool{1: true, largestFile: true, 0: false, -1: false, largestFile + 1: false} {
		f := &files{config: config{MaxFileBytes: n}}
		if err := f.configure(context.Background(), sdk.Settings{}); (err == nil) != fine {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestIdempotentToolsAre repeats each call that says so, as the host does after
// a crash: the same is there afterwards, and the second call is no failure.
func TestIdempotentToolsAre(t *testing.T) {
	c := served(t)
	tp := newProject(t, map[string]string{"a": "x\n"})
	arguments := object{"path": "a", "pattern": "x", "content": "y\n"}
	for _, spec := range c.Tools() {
		if !spec.Annotations.Idempotent {
			continue
		}
		wanted := object{}
		for name, value := range arguments {
			if strings.Contains(string(spec.Parameters), fmt.Sprintf("%q:{", name)) {
				wanted[name] = value
			}
		}
		switch spec.Name {
		case "list_files", "find_files":
			delete(wanted, "path")
		case "diff_files":
			wanted["text"] = "y\n"
		case "create_directory":
			wanted["path"] = "made/deep"
		}
		if got := call(t, c, tp.dir, spec.Name, wanted); !got.Success {
			t.Errorf("%s: %s", spec.Name, got.Error)
		}
		tp.unchangedBy(func() {
			if got := call(t, c, tp.dir, spec.Name, wanted); !got.Success {
				t.Errorf("%s again: %s", spec.Name, got.Error)
			}
		})
		if spec.Annotations.ReadOnly && tp.get("a") != "x\n" {
			t.Errorf("%s is read_only and wrote", spec.Name)
		}
	}
}

// TestCallsAtTheSameTime edits one file from several sides: every edit that was
// said to be done is there.
func TestCallsAtTheSameTime(t *testing.T) {
	c := served(t)
	tp := newProject(t, nil)
	var start strings.Builder
	for i := range 20 {
		fmt.Fprintf(&start, "<%d>\n", i)
	}
	tp.put("a", start.String())
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			got, err := c.Invoke(context.Background(), sdk.Invocation{
				Tool: "edit_file", Project: tp.dir, CallID: fmt.Sprint(i), Deadline: time.Now().Add(time.Minute),
				Arguments: json.RawMessage(fmt.Sprintf(`{"path":"a","old_text":"<%d>","new_text":"done %d"}`, i, i)),
			}, nowhere{t})
			if err != nil || !got.Success {
				t.Errorf("%v, %s", err, got.Error)
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		if !strings.Contains(tp.get("a"), fmt.Sprintf("done %d\n", i)) {
			t.Errorf("edit %d was lost", i)
		}
	}
}
