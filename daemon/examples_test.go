package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
)

// examples are the plugins below examples/ that were built, by folder: each
// once, beside the installation.
var examples struct {
	sync.Mutex
	built map[string]func() (string, error)
}

// builtExample is the binary bothy-plugin-NAME that a folder of examples/ makes.
func builtExample(folder, name string) (string, error) {
	examples.Lock()
	once, ok := examples.built[folder]
	if !ok {
		once = sync.OnceValues(func() (string, error) { return buildExample(folder, name) })
		if examples.built == nil {
			examples.built = map[string]func() (string, error){}
		}
		examples.built[folder] = once
	}
	examples.Unlock()
	return once()
}

// example is builtExample for tests in Go, with the binary's digest.
func example(t testing.TB, folder, name string) (binary, pin string) {
	t.Helper()
	installation(t)
	binary, err := builtExample(folder, name)
	if err != nil {
		t.Fatal(err)
	}
	return binary, pinOf(t, binary)
}

// scriptExample is the command of scripts that sets a variable to an example's
// binary.
func scriptExample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: example VARIABLE FOLDER NAME")
	}
	binary, err := builtExample(args[1], args[2])
	ts.Check(err)
	ts.Setenv(args[0], binary)
}

// TestDeviceProvider: the example keeps to the protocol as a process, its sign-in included,
// and its own test goes through the whole of it.
func TestDeviceProvider(t *testing.T) {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.HandleFunc("POST /device/code", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"device_code":"d","user_code":"WXYZ-1234","verification_uri":%q,"expires_in":60}`, server.URL)
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"name":"Ada"}`) })
	binary, _ := example(t, "device-provider", "device")
	signedIn := false
	settings := fmt.Appendf(nil, `{"url":%q,"token":"t"}`, server.URL)
	err := conformance.Binary(t.Context(), conformance.Options{Path: binary, Config: settings, Call: true}, func(f conformance.Finding) {
		if f.Severity == conformance.Failed || f.Severity == conformance.Warned {
			t.Errorf("%+v", f)
		}
		signedIn = signedIn || f.Name == "provider: sign-in" && f.Severity == conformance.Passed
	})
	if err != nil || !signedIn {
		t.Errorf("the sign-in was tried: %v, error %v", signedIn, err)
	}
	cmd := exec.Command("go", "test", "-mod=readonly", ".")
	cmd.Dir = filepath.Join("..", "examples", "device-provider")
	cmd.Env = append(os.Environ(), offline...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestReviewAgent: the example keeps to the protocol, brings the agent that its block takes, and refuses what its judge
// is there to refuse.
func TestReviewAgent(t *testing.T) {
	binary, _ := example(t, "review-agent", "review")
	conforms(t, binary)
	e := newExecuting(t, fmt.Sprintf("plugin \"review\" {\n  path = %q\n  grants = [\"project\"]\n  agents = [\"reviewer\"]\n  agent_tools = [\"read_*\"]\n}\n", binary))
	d, found := e.agents.Find("", "reviewer")
	if a := d.Agent; !found || d.Source != sdk.AgentOfPlugin || d.Place != "review" || !slices.Equal(a.Tools, []string{"read_file"}) || a.Finish.Validator != "review" {
		t.Errorf("%+v", d)
	}
	read := sdk.WorkDone{Tool: "read_file", Arguments: []byte(`{"path": "README.md"}`), Success: true}
	for _, c := range []struct {
		file    string
		line    int
		done    []sdk.WorkDone
		missing string
	}{
		{"README.md", 2, []sdk.WorkDone{read}, ""},
		{"README.md", 2, nil, "README.md is spoken of, and was not read"},
		{"README.md", 99, []sdk.WorkDone{read}, "README.md has 5 lines, and a finding is about line 99"},
	} {
		j, err := e.host.Validate(t.Context(), "review", sdk.Work{
			Agent: "reviewer", Key: e.run.Key, Project: e.project, Done: c.done,
			Result: fmt.Appendf(nil, `{"summary": "s", "findings": [{"file": %q, "line": %d, "text": "t"}]}`, c.file, c.line),
		})
		if said := strings.Join(j.Missing, " "); err != nil || j.Accepted != (c.missing == "") || !strings.Contains(said, c.missing) {
			t.Errorf("%s:%d: %+v %v, want %q", c.file, c.line, j, err, c.missing)
		}
	}
}

// pinOf is what sha256sum prints of a file.
func pinOf(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// offline builds from what is on this machine.
var offline = []string{"GOPROXY=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0", "GOWORK=off"}

// buildExample builds as somebody else would: in the example's own module or
// folder, from what is on this machine.
func buildExample(folder, name string) (string, error) {
	source := filepath.Join("..", "examples", folder)
	binary := filepath.Join(build.prefix, "examples", folder, "bothy-plugin-"+name)
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(source, "go.mod")); err != nil {
		return binary, buildPython(source, binary)
	}
	cmd := exec.Command("go", "build", "-mod=readonly", "-o", binary, ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), offline...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the example %s: %w\n%s", folder, err, text)
	}
	return binary, nil
}

// python is the interpreter that Debian's packages of gRPC belong to.
const python = "/usr/bin/python3"

// needPython skips a test where plugins in Python cannot run, but not in CI.
func needPython(t testing.TB) {
	t.Helper()
	out, err := exec.Command(python, "-c", "import google.protobuf, grpc, grpc_tools").CombinedOutput()
	if err == nil {
		return
	}
	say := fmt.Sprintf("python: install python3-grpcio, python3-grpc-tools and python3-protobuf (%v: %s)", err, out)
	if os.Getenv("CI") == "true" {
		t.Fatal(say)
	}
	t.Skip(say)
}

// buildPython does what README.md of the example says: the script and its manifest,
// with the stubs beside them.
func buildPython(source, binary string) error {
	dir := filepath.Dir(binary)
	for name, mode := range map[string]os.FileMode{filepath.Base(binary): 0o755, bundle.ManifestName: 0o644} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, mode); err != nil {
			return err
		}
	}
	if folder := filepath.Base(source); folder != "python-tool" { // made with the package
		return copyPackage(filepath.Join(dir, "bothy"))
	}
	out, err := exec.Command(python, "-m", "grpc_tools.protoc", "-I", "../sdk/proto/v1", "--python_out="+dir, "--grpc_python_out="+dir, "bothy.proto").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return nil
}

// TestExamplePython: a plugin without our SDK, as a script with its stubs
// beside it and as a bundle, confined and not, started by its path and by the open
// file that its pin was checked on, serves calls and calls back.
func TestExamplePython(t *testing.T) {
	needPython(t)
	script, pin := example(t, "python-tool", "words")
	folder := filepath.Dir(script)
	whole, err := bundle.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	listing, err := whole.Sum()
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range []string{script, folder} {
		if out, err := exec.Command(filepath.Join(build.prefix, "bin", "bothyd"), "plugins", "test", "--call", binary).CombinedOutput(); err != nil {
			t.Errorf("it does not keep to the protocol: %v\n%s", err, out)
		}
	}
	e := newExecuting(t, fmt.Sprintf(`
plugin "script" {
  plugin = "words"
  path   = %[1]q
}
plugin "pinned" {
  plugin    = "words"
  path      = %[1]q
  sha256    = %[2]q
  grants    = ["entries"]
  separator = ","
}
plugin "bundle" {
  plugin = "words"
  path   = %[3]q
  sha256 = %[4]q
  grants = ["entries"]
  confine { best_effort = true }
}
`, script, pin, folder, listing.Digest()))
	body := "a plan, with five words"
	known := sdk.Write{Path: "known://plan", Body: &body, Writer: sdk.WriterModel}
	if _, err := e.store.Commit(t.Context(), sdk.Change{Run: e.run.ID, Writes: []sdk.Write{known}}); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		`script__count_words {"text":"one, two three"}`:  "3",
		`pinned__count_words {"text":"one, two three"}`:  "2",
		`bundle__count_words {"text":"one, two three"}`:  "3",
		`pinned__count_known {"path":"known://plan"}`:    "2",
		`bundle__count_known {"path":"known://plan"}`:    "5",
		`bundle__count_known {"path":"known://nothing"}`: "not_found",
		`script__count_known {"path":"known://plan"}`:    "permission",
		`script__count_words {"path":"known://plan"}`:    "validation",
	} {
		e.wants(t, call, want)
	}
}
