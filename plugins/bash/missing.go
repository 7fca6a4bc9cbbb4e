package main

import (
	"bytes"
	"fmt"

	"github.com/bothyd/bothy/sandbox"
)

// missing are the words of programs that could not get what a build depends on, since
// there is no network, and what gets it into a cache that commands see.
var missing = []struct{ words, fetch string }{
	{"GOPROXY=off", "go mod download"},
	{"ENOTCACHED", "npm ci"},
	{"ERR_PNPM_NO_OFFLINE", "pnpm fetch"},
	{"offline mode (via `--offline`)", "cargo fetch"},
	{"--offline was specified", "cargo fetch"},
	{"No matching distribution found", "pip install, into the virtual environment of the project"},
	{"Network connectivity is disabled", "uv sync"},
	{"in offline mode", "mvn dependency:go-offline"},
	{"No cached version of", "gradle build"},
	{"Could not resolve host", ""},
	{"ould not resolve all", "gradle build"}, // "Could not resolve all files for configuration"
	{"Temporary failure in name resolution", ""},
	{"Name or service not known", ""},
	{"getaddrinfo ENOTFOUND", ""},
	{"getaddrinfo EAI_AGAIN", ""},
	{"dial tcp: lookup ", ""},
	{"Network is unreachable", ""},
}

// mostSearched is how much of the end of each channel is searched for those words.
const mostSearched = 64 << 10

// unreached is one sentence about a command that failed since it wanted something from
// the network, or "".
func unreached(r sandbox.Result, out *output) string {
	if r.ExitCode == 0 || out.network {
		return ""
	}
	for _, m := range missing {
		for _, channel := range [][]byte{out.stderr, out.stdout} {
			if !bytes.Contains(channel[max(0, len(channel)-mostSearched):], []byte(m.words)) {
				continue
			}
			if m.fetch == "" {
				return "[commands have no network here: if this needs it, ask the person, who can open it for the project]\n"
			}
			return fmt.Sprintf("[commands have no network here, and what is missing is not in the caches of this machine: ask the person to get it outside of here (%s), or to open the network for the project]\n", m.fetch)
		}
	}
	return ""
}
