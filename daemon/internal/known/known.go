// Package known holds what is known of the servers of MCP: how each was when it was first
// seen or accepted, and whether it is still that. What a person accepted stands in
// bothy.lock; what was only seen, and all texts, in a file of the daemon's own.
package known

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostTools is how many tools of one server are kept, those included that it has no more: of
// one that names its tools anew each time, what comes later is drift.
const mostTools = 2000

// Options are what the servers are judged with.
type Options struct {
	Path   string // of the file; it is made when there is something to keep
	Log    hclog.Logger
	Redact func(string) string
	// Tell is told that a server is not any more what it was; an empty text is that it is. It
	// is called under a lock, and may not ask the servers.
	Tell func(instance, text string)
}

// Servers judges the tools of servers. Its methods may be called from any goroutine.
type Servers struct {
	o     Options
	files files

	mu      sync.Mutex
	records map[string]*Record
	trust   map[string]trust // of each server, as it was judged last
	of      *config.Config   // and of the tools: what was judged last
	from    []sdk.Tool
	judged  []sdk.Tool
	kept    bool // the file has all that is known
}

// trust is what was judged of a server: it is as a person accepted it, or it drifted, or it
// is as it was first seen.
type trust struct {
	accepted bool
	drift    string
}

// Open reads the file. One that cannot be read is told in the log, and begun anew.
func Open(o Options) *Servers {
	s := &Servers{o: o, trust: map[string]trust{}, kept: true}
	var err error
	if s.records, err = Read(o.Path); err != nil {
		o.Log.Warn("what was known of the servers of MCP is lost, and they are seen for the first time", "error", err)
		s.records = map[string]*Record{}
	}
	return s
}

// Judge is the list with what is known of each tool that a server passes on: whether the
// server is accepted as it is, and how the tool drifted. What is seen for the first time is
// kept. The list stays as it is; the same one, by the same configuration, costs nothing.
func (s *Servers) Judge(cfg *config.Config, list []sdk.Tool) []sdk.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == cfg && len(s.from) == len(list) && (len(list) == 0 || &s.from[0] == &list[0]) {
		return s.judged
	}
	s.of, s.from, s.judged = cfg, list, list
	of := map[string][]int{}
	for i, t := range list {
		if t.Source != "" && t.SourceName != "" { // what the plugin adds is no word of the server
			of[t.Plugin] = append(of[t.Plugin], i)
		}
	}
	if len(of) == 0 {
		return list
	}
	s.judged = slices.Clip(slices.Clone(list)) // who adds to it adds to a copy
	changed := false
	for _, p := range cfg.Plugins {
		if at := of[p.Label]; p.Server != nil && len(at) > 0 {
			changed = s.server(p.Label, p.Server, at) || changed
		}
	}
	if changed || !s.kept {
		err := write(s.o.Path, s.records)
		if s.kept = err == nil; err != nil { // it is tried again with the next list
			s.o.Log.Warn("what is known of the servers of MCP could not be kept", "error", err)
		}
	}
	return s.judged
}

// Vouch says of the plugin of a server what was judged last of that: the plugin's file came
// with Bothy, which vouches for nothing that the server says. Other plugins stay as they are.
func (s *Servers) Vouch(p *rpc.Plugin) {
	if !strings.HasPrefix(p.Instance, sdk.MCPPrefix) {
		return
	}
	s.mu.Lock()
	now := s.trust[p.Instance]
	s.mu.Unlock()
	p.Pinned, p.PinnedBy = false, ""
	if now.accepted {
		p.Pinned, p.PinnedBy = true, "lock"
	}
	p.Error = cmp.Or(p.Error, now.drift)
}

// Accepted reports whether a person accepted a server, in whichever form it is now.
func (s *Servers) Accepted(server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of != nil && slices.ContainsFunc(s.of.Plugins, func(p config.Plugin) bool {
		return p.Label == sdk.MCPPrefix+server && p.Server != nil && p.Server.Accepted != nil && len(p.Server.Accepted.Tools) > 0
	})
}

// mostDrift is how many of the ways in which a server drifted are told; all are shown when it
// is to be accepted.
const mostDrift = 3

// drift is how a server drifted, in one sentence; empty when it did not.
func drift(instance string, how []string) string {
	if len(how) == 0 {
		return ""
	}
	name, rest := strings.TrimPrefix(instance, sdk.MCPPrefix), ""
	if more := len(how) - mostDrift; more > 0 {
		how, rest = how[:mostDrift], fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("the MCP server %s is not what it was: %s%s. A person is asked about each call of that, until `bothy mcp accept %[1]s` has shown and accepted it", name, strings.Join(how, "; "), rest)
}

// server judges the tools of one, which stand at these places, and reports whether there is
// something new to keep.
func (s *Servers) server(label string, block *config.Server, at []int) (changed bool) {
	command, digest, files := s.files.sum(block)
	r := s.records[label]
	if r == nil || r.Command != command {
		// The person has written another block: that is another server.
		r = &Record{Command: command, Known: map[string]Tool{}}
		s.records[label], changed = r, true
	}
	tools := map[string]Tool{}
	var how []string
	known, now := size(r.Known), 0
	for _, i := range at {
		t := &s.judged[i]
		own, is := t.SourceName, s.tool(t.ToolSpec)
		more := is.size(own)
		if was, had := r.Known[own]; had {
			more -= was.size(own)
		}
		fits := known+more <= mostServer
		if kept := s.judge(r, block.Accepted, digest, t, is, fits); kept {
			r.Known[own], known, changed = is, known+more, true
		}
		if now += is.size(own); now <= mostServer {
			tools[own] = is
		} else {
			t.Pinned, t.Drift = false, beyond
		}
		if t.Drift != "" {
			how = append(how, fmt.Sprintf("its tool %q %s", t.SourceName, t.Drift))
		}
	}
	if r.Digest != digest || !maps.EqualFunc(r.Now, tools, Tool.equal) {
		r.Digest, r.Files, r.Now, changed = digest, files, tools, true
	}
	lock := block.Accepted
	started := lock == nil || lock.Digest == digest
	if !started {
		how = []string{"it " + anotherStart}
	}
	is := trust{accepted: len(how) == 0 && lock != nil && len(lock.Tools) > 0, drift: drift(label, how)}
	s.trust[label] = is
	s.o.Tell(label, is.drift)
	return changed
}

// anotherStart is the drift of a server that was accepted.
const anotherStart = "starts something else than was accepted"

// beyond is the drift of a tool of which nothing is kept, so that it can be compared with nothing.
var beyond = fmt.Sprintf("is beyond the %d MB that are kept of a server's tools", mostServer>>20)

// judge writes into a tool what is known of it, and reports whether it is to be kept as it is
// now. Fits says that there is room for it.
func (s *Servers) judge(r *Record, lock *config.Locked, digest string, t *sdk.Tool, is Tool, fits bool) (keep bool) {
	was, had := r.Known[t.SourceName]
	t.Pinned, t.Drift = false, ""
	switch {
	case lock != nil && lock.Digest != digest:
		t.Drift = "is of a server that " + anotherStart
	case lock != nil && len(lock.Tools) > 0:
		switch accepted, has := lock.Tools[norm.NFC.String(t.SourceName)]; {
		case !has:
			t.Drift = "is new"
		case accepted != is.Hash && had && was.Hash == accepted:
			t.Drift = was.otherwise(is)
		case accepted != is.Hash:
			t.Drift = "is another than was accepted"
		default:
			t.Pinned = true
			return fits && (!had || !was.equal(is))
		}
	case had && was.Hash != is.Hash:
		t.Drift = was.otherwise(is)
	case !had && r.named(t.Name):
		t.Drift = "is another tool of the server under the name of one that was known"
	case !had && len(r.Known) >= mostTools:
		t.Drift = fmt.Sprintf("is new, of a server that had %d others", mostTools)
	case !had && !fits:
		t.Drift = beyond
	case !had:
		return true
	}
	return false
}
