//go:build interop

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// suiteServer is the variable that names the server of the suite, for the client that it starts: this binary.
const suiteServer = "BOTHY_TEST_SUITE_SERVER"

// TestInteropConformance: the public conformance suite of MCP has nothing to say against the client but what is
// listed, with the reason.
func TestInteropConformance(t *testing.T) {
	if url := os.Getenv(suiteServer); url != "" {
		callAll(t, url)
		return
	}
	suite := os.Getenv("BOTHY_MCP_CONFORMANCE")
	if suite == "" {
		t.Fatal("BOTHY_MCP_CONFORMANCE names no program of @modelcontextprotocol/conformance 0.1.16 (see docs/development.md)")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(t.TempDir(), "client")
	script := fmt.Sprintf("#!/bin/sh\n%s=$1 exec %q -test.run '^TestInteropConformance$'\n", suiteServer, program)
	if err := os.WriteFile(client, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	expected, err := filepath.Abs("../../bridge/mcp/testdata/conformance.yml")
	if err != nil {
		t.Fatal(err)
	}
	run := func(what ...string) (string, error) {
		cmd := exec.Command(suite, append([]string{"client", "--command", client, "-o", t.TempDir()}, what...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("--suite", "all", "--expected-failures", expected)
	t.Logf("%s", out[max(0, len(out)-4000):])
	if _, unexpected, _ := strings.Cut(out, "Unexpected failures"); err != nil && strings.Count(unexpected, "✗") == 1 && strings.Contains(unexpected, "✗ "+timed) && !strings.Contains(out, "Stale") {
		out, err = run("--scenario", timed)
		t.Logf("by itself: %s", out)
	}
	if err != nil {
		t.Error(err)
	}
}

// timed is the scenario that has to be done within 200 ms of its time: all the others, at once with it, may take them.
const timed = "sse-retry"

// callAll connects to a server as a block does, and calls each of its tools. Where that says that a login is
// wanted, a person does what it says.
func callAll(t *testing.T, url string) {
	block := map[string]any{"url": url, "transport": "http", "timeout": "25s"}
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		block["client_id"] = "https://conformance-test.local/client-metadata.json" // the suite's
	}
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if context := os.Getenv("MCP_CONFORMANCE_CONTEXT"); context != "" {
		if err := json.Unmarshal([]byte(context), &known); err != nil {
			t.Fatal(err)
		}
	}
	if known.ID != "" {
		block["client_id"], block["client_secret"] = known.ID, known.Secret
	}
	text, err := json.Marshal(block)
	if err != nil {
		t.Fatal(err)
	}
	person, _ := asked(t, sdk.QuestionAnswer{Answer: sdk.Accept, Data: json.RawMessage(`{}`)}, nil) // with all that a form has filled in
	logins := 0
	does := func(said error) bool {
		_, words, wanted := strings.Cut(fmt.Sprint(said), "`bothy mcp login fake")
		if !wanted || logins == 2 { // who is asked a third time gives up
			return false
		}
		logins++
		var p sitter
		for _, word := range strings.Fields(strings.TrimSuffix(words, "`")) {
			if word != "--scope" {
				p.scopes = append(p.scopes, word)
			}
		}
		l, err := p.logsIn(t.Context(), t, string(text))
		if err != nil {
			t.Fatal(err)
		}
		person.SetLogin(l.Text())
		return true
	}
	m, err := configuredBy(t, person, string(text))
	for err != nil && does(err) {
		m, err = configuredBy(t, person, string(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Tools() {
		ctx := host.WithCall(host.With(t.Context(), person), s.Name)
		arguments := json.RawMessage(`{}`)
		if m.raw[s.Name] == "add_numbers" {
			arguments = json.RawMessage(`{"a":5,"b":3}`)
		}
		invoke := func() (sdk.ToolResult, error) {
			return m.Invoke(ctx, sdk.Invocation{Tool: s.Name, Arguments: arguments, CallID: s.Name}, &sdktest.Recorder{})
		}
		r, err := invoke()
		for err != nil && does(err) {
			r, err = invoke()
		}
		if err != nil || !r.Success {
			t.Errorf("%s: %+v, %v", s.Name, r, err)
		}
	}
}
