package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// finding is what `bothy doctor` shows of one thing that was looked at.
type finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // "ok" or "warn"
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// check answers "bothy-plugin-web check SETTINGS [PROJECT]" for `bothy doctor`: what of the plugin is at
// hand, as a JSON list of findings. SETTINGS is the sdk.Settings that Configure would get, in which
// another text stands for each key. Nothing is asked of anybody.
func check(args []string, stdout, stderr io.Writer) (code int, done bool) {
	if len(args) == 0 || args[0] != "check" {
		return 0, false
	}
	var given sdk.Settings
	var s settings
	err := fmt.Errorf("the settings of the plugin as JSON have to follow")
	if len(args) > 1 {
		if err = json.Unmarshal([]byte(args[1]), &given); err == nil && known(given.Config) {
			err = plugin.Decode(given.Config, &s)
		}
	}
	if err == nil {
		err = json.NewEncoder(stdout).Encode(s.findings(given))
	}
	if err != nil {
		fmt.Fprintf(stderr, "bothy-plugin-web check: %v\n", err)
		return 2, true
	}
	return 0, true
}

// known reports whether the block could be read.
func known(config json.RawMessage) bool { return len(config) > 0 && string(config) != "null" }

// findings are what there is to say of the settings; nothing where they could not be read, which the check of the
// configuration says.
func (s settings) findings(given sdk.Settings) []finding {
	if !known(given.Config) {
		return []finding{}
	}
	return []finding{s.reachFinding(given.Instance), readerFinding(given.Instance), s.searchFinding(given.Instance)}
}

// reachFinding says what is asked for: the web, and what the block opens beside it.
func (s settings) reachFinding(name string) finding {
	f := finding{Name: name + ", reach", Level: "ok", Detail: "public addresses at the ports " + strings.Join(append([]string{"80", "443"}, s.Ports...), ", ")}
	if len(s.Origins) > 0 {
		f.Detail += "; besides " + strings.Join(s.Origins, ", ")
	}
	f.Detail += ". Go's own resolver asks " + nameServers(resolvConf) + ", and no proxy is used"
	return f
}

// resolvConf is where that resolver finds whom to ask.
const resolvConf = "/etc/resolv.conf"

// nameServers are those that a file of that form names; as in there, without any it is one on this machine.
func nameServers(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "a name server on this machine, since " + file + " cannot be read"
	}
	var servers []string
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "nameserver" {
			servers = append(servers, words[1])
		}
	}
	if len(servers) == 0 {
		return "a name server on this machine, since " + file + " names none"
	}
	return strings.Join(servers, ", ")
}

// readerFinding says what those processes are held to that parse documents.
func readerFinding(name string) finding {
	if reader.Walled() {
		return finding{Name: name + ", reader", Level: "ok", Detail: "documents are parsed by processes without files and network"}
	}
	return finding{Name: name + ", reader", Level: "warn", Detail: "documents are parsed by processes that are held to limits of time and memory alone: this system cannot keep them from files and the network",
		Hint: "a kernel of Linux with seccomp, on x86-64 or ARM of 64 bits, can"}
}

// searchFinding says who is asked by a search.
func (s settings) searchFinding(name string) finding {
	f := finding{Name: name + ", search", Level: "ok"}
	switch found, err := s.searcher("web"); {
	case err != nil:
		f.Level, f.Detail = "warn", err.Error()
	case found == nil:
		f.Level, f.Detail = "warn", "no search engine is configured, so that "+sdk.SearchTool+" is not offered"
		f.Hint = "set tavily_key, brave_key or searxng_url in the block of the plugin"
	default:
		f.Detail = found.name + " at " + found.origin
		if found.prefetch > 0 {
			f.Detail += fmt.Sprintf("; the first %d pages are fetched ahead", found.prefetch)
		}
	}
	return f
}
