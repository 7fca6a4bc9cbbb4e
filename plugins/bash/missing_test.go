package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// TestMissingDependencyIsExplained with words as the programs print them.
func TestMissingDependencyIsExplained(t *testing.T) {
	for _, c := range []struct{ printed, want string }{
		{"go: golang.org/x/text@v0.3.0: module lookup disabled by GOPROXY=off", "go mod download"},
		{"npm error code ENOTCACHED\nnpm error request to https://registry.example/left-pad failed: cache mode is 'only-if-cached' but no cached response is available.", "npm ci"},
		{"As a reminder, you're using offline mode (via `--offline`) which can sometimes cause surprising resolution failures", "cargo fetch"},
		{"ERROR: No matching distribution found for requests", "pip install"},
		{"error: Network connectivity is disabled, but the requested data wasn't found in the cache", "uv sync"},
		{"Cannot access central (https://repository.example) in offline mode", "mvn dependency:go-offline"},
		{"No cached version of com.google.guava:guava:33 available for offline mode.", "gradle build"},
		{"curl: (6) Could not resolve host: example.org", "can open it"},
		{"bash: /dev/tcp/x: Name or service not known", "can open it"},
		{"FAIL: expected 3, got 4", ""},
	} {
		for _, out := range []output{{stderr: []byte(c.printed)}, {stdout: []byte(strings.Repeat("x", mostSearched) + c.printed), stderr: []byte("make: *** [all] Error 1")}} {
			got := unreached(sandbox.Result{ExitCode: 1}, &out)
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q: got %q, want %q", c.printed, got, c.want)
			}
			if got := unreached(sandbox.Result{}, &out); got != "" {
				t.Errorf("%q of a command that succeeded: got %q", c.printed, got)
			}
			out.network = true
			if got := unreached(sandbox.Result{ExitCode: 1}, &out); got != "" {
				t.Errorf("%q with a network: got %q", c.printed, got)
			}
		}
	}
}
