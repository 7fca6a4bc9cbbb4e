package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/known"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

type mcpAcceptCmd struct{ verbs.MCPAccept }

// accepting is what a person is shown of a server, and what came of it.
type accepting struct {
	Name    string        `json:"name"`
	Starts  starting      `json:"starts"`
	Another bool          `json:"another,omitempty"` // what it starts is another than was accepted
	Tools   []shownChange `json:"tools"`
	Same    int           `json:"same"` // tools that are as they were
	Lock    string        `json:"lock,omitempty"`
}

// starting is what a block starts or reaches.
type starting struct {
	Command string       `json:"command,omitempty"`
	Args    []string     `json:"args,omitempty"`
	Files   []known.File `json:"files,omitempty"`
	Env     []string     `json:"env,omitempty"` // names
	URL     string       `json:"url,omitempty"`
}

func startingOf(s *config.Server, files []known.File) starting {
	return starting{Command: s.Command, Args: s.Args, Files: files, Env: s.Env, URL: s.URL}
}

func (s starting) print(w *bufio.Writer) {
	line := cmp.Or(s.URL, s.Command)
	for _, a := range s.Args {
		if strings.ContainsAny(a, " \t\"'\\") || a == "" {
			a = fmt.Sprintf("%q", a)
		}
		line += " " + a
	}
	fmt.Fprintf(w, "  %s\n", oneLine(line))
	for _, f := range s.Files {
		fmt.Fprintf(w, "  %s, sha256 %s\n", oneLine(f.Path), f.Digest)
	}
	if len(s.Env) > 0 {
		fmt.Fprintf(w, "  its variables: %s\n", oneLine(strings.Join(s.Env, ", ")))
	}
}

// shownChange is a tool that is not as it was.
type shownChange struct {
	Name   string            `json:"name"`
	Kind   config.ChangeKind `json:"kind"`
	Reads  bool              `json:"reads,omitempty"` // it only reads, as the server says
	Before string            `json:"before,omitempty"`
	After  string            `json:"after,omitempty"`
}

// Run writes into bothy.lock what the server was when the daemon last saw it, as it is shown.
func (cmd mcpAcceptCmd) Run(c *console, files *inspect.Files) error {
	label := sdk.MCPPrefix + cmd.Name
	n := slices.IndexFunc(files.Config.Plugins, func(p config.Plugin) bool { return p.Label == label && p.Server != nil })
	if n < 0 {
		return sdk.Errorf(sdk.NotFound, "%s has no mcp block %q", files.Path, cmd.Name)
	}
	block := files.Config.Plugins[n].Server
	record, err := recordOf(label, cmd.Name, block)
	if err != nil {
		return err
	}
	shown := compared(cmd.Name, block, record)
	if !c.json {
		if err := printAccepting(c, shown); err != nil {
			return err
		}
	}
	switch {
	case cmd.Yes:
	case c.json || !term.IsTerminal(int(os.Stdin.Fd())):
		return sdk.Errorf(sdk.Validation, "nobody can be asked here: look at what is shown, and say --yes")
	case !agreed(c, "Accept it as it is? [y/N] "):
		return report(c, shown, nil, func(*console, accepting) error { return nil })
	}
	shown.Lock = files.LockPath()
	_, _, err = config.EditLock(shown.Lock, func(l *config.Lock) error {
		l.Plugins[label] = record.Entry()
		return nil
	})
	if err != nil {
		return err
	}
	did, err := takeUp(files)
	return report(c, shown, err, func(c *console, _ accepting) error {
		_, err := fmt.Fprintf(c.out, "%s is accepted as it is, in %s; %s\n", cmd.Name, oneLine(shown.Lock), did)
		return err
	})
}

// recordOf is what the daemon saw last of a server, which is what would be started now.
func recordOf(label, name string, block *config.Server) (*known.Record, error) {
	dir, err := rpc.StateDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	records, err := known.Read(filepath.Join(dir, known.FileName))
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "%w", err)
	}
	r := records[label]
	switch {
	case r == nil || len(r.Now) == 0:
		return nil, sdk.Errorf(sdk.Conflict, "nobody has seen the tools of %s yet: have a prompt use it, or call bothy tools call mcp__%[1]s__TOOL", name)
	case !r.Starts(block):
		return nil, sdk.Errorf(sdk.Conflict, "what %s starts changed since its tools were seen: call bothy plugins reload --force mcp__%[1]s, and look again", name)
	}
	return r, nil
}

// compared is a server as it was seen last beside what was accepted or, where nothing was, seen
// first.
func compared(name string, block *config.Server, r *known.Record) accepting {
	a := accepting{Name: name, Starts: startingOf(block, r.Files), Tools: []shownChange{}}
	was := map[string]string{}
	for tool, t := range r.Known {
		was[tool] = t.Hash
	}
	if lock := block.Accepted; lock != nil {
		a.Another = lock.Digest != r.Digest
		if len(lock.Tools) > 0 {
			was = lock.Tools
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(r.Now)) {
		now, before := r.Now[tool], r.Known[tool]
		hash, had := was[tool]
		switch {
		case had && hash == now.Hash:
			a.Same++
			continue
		case !had:
			a.Tools = append(a.Tools, shownChange{Name: tool, Kind: config.Added, Reads: now.Annotations.ReadOnly, After: now.Text()})
		case before.Hash == hash:
			a.Tools = append(a.Tools, shownChange{Name: tool, Kind: config.Changed, Reads: now.Annotations.ReadOnly, Before: before.Text(), After: now.Text()})
		default: // the text of what was accepted is not known here
			a.Tools = append(a.Tools, shownChange{Name: tool, Kind: config.Changed, Reads: now.Annotations.ReadOnly, After: now.Text()})
		}
	}
	if block.Accepted != nil {
		for _, tool := range slices.Sorted(maps.Keys(was)) {
			if _, has := r.Now[tool]; !has {
				a.Tools = append(a.Tools, shownChange{Name: tool, Kind: config.Removed})
			}
		}
	}
	return a
}

func printAccepting(c *console, a accepting) error {
	w := bufio.NewWriter(c.out)
	fmt.Fprintf(w, "the MCP server %s", a.Name)
	if a.Another {
		fmt.Fprint(w, ", which starts something else than was accepted")
	}
	fmt.Fprintln(w)
	a.Starts.print(w)
	for _, t := range a.Tools {
		reads := ""
		if t.Reads {
			reads = ", which only reads, as the server says"
		}
		mark := map[config.ChangeKind]string{config.Added: "+", config.Removed: "-", config.Changed: "~"}[t.Kind]
		fmt.Fprintf(w, "%s %s%s\n", mark, oneLine(t.Name), reads)
		text := t.After
		if t.Before != "" {
			_, body, _ := strings.Cut(match.DiffAround("", "", t.Before, t.After, 1), "\n+++")
			_, text, _ = strings.Cut(body, "\n") // without the names of files
		}
		for line := range strings.Lines(text) {
			fmt.Fprintf(w, "    %s\n", oneLine(strings.TrimRight(line, "\n")))
		}
	}
	fmt.Fprintf(w, "%d tools are as they were\n", a.Same)
	return w.Flush()
}
