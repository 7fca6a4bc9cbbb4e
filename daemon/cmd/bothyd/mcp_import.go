package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/known"
	"github.com/bothyd/bothy/daemon/internal/mcpfile"
	"github.com/bothyd/bothy/daemon/internal/opening"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

type mcpImportCmd struct{ verbs.MCPImport }

// importing is what an import found, and did.
type importing struct {
	Config  string        `json:"config"`
	Servers []foundServer `json:"servers"`
}

// foundServer is a server of a file.
type foundServer struct {
	addedMCP
	From string `json:"from"`          // the file
	Why  string `json:"why,omitempty"` // it was not written
	edit config.MCPEdit
}

// Run exits with 1 when nothing was found.
func (cmd mcpImportCmd) Run(f *flags, c *console) error {
	asks := !cmd.Yes && !cmd.Print
	path, err := daemon.ConfigPath(f.Config)
	if err != nil {
		return err
	}
	found := importing{Config: path}
	if found.Servers, err = readServers(c, cmd.Files); err != nil {
		return err
	}
	if asks && (c.json || !term.IsTerminal(int(os.Stdin.Fd()))) {
		return sdk.Errorf(sdk.Validation, "nobody can be asked here: say --yes, or --print to look at the blocks first")
	}
	if !c.json {
		if err := printServers(c, found.Servers); err != nil {
			return err
		}
	}
	if cmd.Print || asks && !agreed(c, "Write these into "+oneLine(path)+"? [y/N] ") {
		return report(c, found, nil, func(*console, importing) error { return nil })
	}
	written := 0
	for i := range found.Servers {
		s := &found.Servers[i]
		switch err := config.AddMCP(path, s.edit); {
		case sdk.OutcomeOf(err) == sdk.Conflict:
			s.Why = err.Error()
			c.say("%s", oneLine(s.Why))
		case err != nil:
			return err
		default:
			s.Config = path
			written++
			if len(cmd.Files) == 0 {
				continue
			}
			if err := hold(f.Config, s.Name); err != nil {
				fmt.Fprintf(c.err, "bothyd: what %s starts is not held to what it is now: %s\n", s.Name, oneLine(err.Error()))
			}
		}
	}
	return report(c, found, nil, func(c *console, _ importing) error {
		_, err := fmt.Fprintf(c.out, "wrote %d of %d into %s\n", written, len(found.Servers), oneLine(path))
		return err
	})
}

// readServers reads the files; those of the programs that are known when there are none. Of
// two servers of one name the first counts.
func readServers(c *console, files []string) (found []foundServer, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	named := len(files) > 0
	if !named {
		home, _ := os.UserHomeDir() // without one there are no such files
		files = mcpfile.Places(home)
	}
	names := map[string]bool{}
	for _, file := range files {
		text, err := watch.ReadRegular(file, mcpfile.MaxFile)
		if !named && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var servers []mcpfile.Server
		var odd []string
		if err == nil {
			servers, odd, err = mcpfile.Read(file, here, text)
		}
		for _, why := range odd {
			c.say("%s: %s", oneLine(file), oneLine(why))
		}
		switch {
		case !named && sdk.OutcomeOf(err) == sdk.NotFound:
			continue
		case !named && err != nil:
			c.say("%s", oneLine(err.Error()))
			continue
		case err != nil:
			return nil, err
		}
		for _, s := range servers {
			if names[s.Label] {
				c.say("%s has a server %s, too, which is left out", oneLine(file), oneLine(s.Name))
				continue
			}
			names[s.Label] = true
			e, notes := editOf(s, !named)
			for _, file := range known.Files(wouldStart(s, true)) {
				notes = append(notes, fmt.Sprintf("It starts %s, sha256 %s.", file.Path, file.Digest))
			}
			found = append(found, foundServer{addedMCP: addedMCP{Name: s.Label, Block: e.Text(), Notes: append(s.Notes, notes...)}, From: file, edit: e})
		}
	}
	if len(found) == 0 {
		return nil, sdk.Errorf(sdk.NotFound, "no MCP servers were found; name a file that has some")
	}
	return found, nil
}

func printServers(c *console, servers []foundServer) error {
	w := bufio.NewWriter(c.out)
	for _, s := range servers {
		fmt.Fprintf(w, "# from %s\n", oneLine(s.From))
		for _, note := range s.Notes {
			fmt.Fprintf(w, "# %s\n", oneLine(note))
		}
		fmt.Fprintf(w, "%s\n", s.Block)
	}
	return w.Flush()
}

// editOf is the block of a server, with notes on what it opens. own is told of a server in
// one of the person's own files.
func editOf(s mcpfile.Server, own bool) (e config.MCPEdit, notes []string) {
	e = config.MCPEdit{
		Name: s.Label, Command: expression(s.Command), Dir: expression(s.Dir), URL: expression(s.URL),
		Env: expressions(s.Env), Headers: expressions(s.Headers), Transport: s.Transport, Timeout: s.Timeout, Disabled: s.Disabled,
	}
	var args []string
	for _, a := range s.Args {
		e.Args = append(e.Args, cmp.Or(expression(a), config.Text("")))
		if text, is := a.Plain(); is {
			args = append(args, text)
		}
	}
	if command, is := s.Command.Plain(); is && command != "" {
		notes = opening.Of(&e, command, args, own)
	}
	return e, notes
}

func expressions(values map[string]mcpfile.Value) map[string]config.Expression {
	out := map[string]config.Expression{}
	for name, v := range values {
		out[name] = cmp.Or(expression(v), config.Text(""))
	}
	return out
}

func expression(v mcpfile.Value) config.Expression {
	if len(v) == 0 {
		return ""
	}
	var parts []config.Expression
	for _, p := range v {
		switch {
		case p.Secret != "":
			parts = append(parts, config.Lookup("secret", p.Secret, nil))
		case p.Env != "":
			parts = append(parts, config.Lookup("env", p.Env, p.Default))
		default:
			parts = append(parts, config.Text(p.Text))
		}
	}
	return config.Joined(parts)
}
