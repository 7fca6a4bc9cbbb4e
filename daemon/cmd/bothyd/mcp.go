package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/mcpfile"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// mcpCmd writes the blocks of servers of MCP.
type mcpCmd struct {
	Add    mcpAddCmd    `cmd:"" help:"Write the block of an MCP server into the configuration."`
	Import mcpImportCmd `cmd:"" help:"Write blocks for the MCP servers that other programs have."`
	Remove mcpRemoveCmd `cmd:"" help:"Take the block of an MCP server away."`
}

type mcpAddCmd struct{ verbs.MCPAdd }

// Run starts nothing.
func (cmd mcpAddCmd) Run(f *flags, c *console) error {
	e := config.MCPEdit{Name: cmd.Name, Unconfined: cmd.Unconfined, Confine: config.Confine{Network: cmd.Network, Paths: cmd.Paths, ReadPaths: cmd.ReadPaths}}
	switch {
	case len(cmd.Command) > 0 && cmd.URL != "" || len(cmd.Command) == 0 && cmd.URL == "":
		return sdk.Errorf(sdk.Validation, "name the command of the server behind --, or its --url, and not both")
	case cmd.URL != "":
		e.URL = config.Text(cmd.URL)
	default:
		e.Command = config.Text(cmd.Command[0])
		for _, a := range cmd.Command[1:] {
			e.Args = append(e.Args, config.Text(a))
		}
		open(&e, cmd.Command[0], cmd.Command[1:])
	}
	var err error
	if e.Env, err = assigned(cmd.Env); err != nil {
		return err
	}
	if e.Headers, err = assigned(cmd.Header); err != nil {
		return err
	}
	path, err := daemon.ConfigPath(f.Config)
	if err == nil {
		err = config.AddMCP(path, e)
	}
	return report(c, addedMCP{path, e.Name, e.Text()}, err, func(c *console, done addedMCP) error {
		_, err := fmt.Fprintf(c.out, "%s\nThis is in %s now. bothy tools call mcp__%s__TOOL tries it.\n", done.Block, oneLine(done.Config), done.Name)
		return err
	})
}

// addedMCP is a block that was written, or would be.
type addedMCP struct {
	Config string `json:"config,omitempty"`
	Name   string `json:"name"`
	Block  string `json:"block"`
}

// reference is what a person writes for what is looked up, within a text.
var reference = regexp.MustCompile(`(env|secret)\("([^"\\$%{}]+)"\)`)

// assigned reads NAME=VALUE.
func assigned(list []string) (map[string]config.Expression, error) {
	values := map[string]config.Expression{}
	for _, s := range list {
		name, text, is := strings.Cut(s, "=")
		if !is || name == "" {
			return nil, sdk.Errorf(sdk.Validation, "%q is no NAME=VALUE", s)
		}
		var parts []config.Expression
		at := 0
		for _, m := range reference.FindAllStringSubmatchIndex(text, -1) {
			if m[0] > at {
				parts = append(parts, config.Text(text[at:m[0]]))
			}
			parts = append(parts, config.Lookup(text[m[2]:m[3]], text[m[4]:m[5]], nil))
			at = m[1]
		}
		if at < len(text) || len(parts) == 0 {
			parts = append(parts, config.Text(text[at:]))
		}
		values[name] = config.Joined(parts)
	}
	return values, nil
}

// fetchers are programs that fetch what they run.
var fetchers = []string{"npx", "bunx", "pnpx", "yarn", "pnpm", "uvx", "uv", "pipx", "deno"}

// open opens to a server what its command line says that it needs: the network to what fetches
// itself, its program where that lies elsewhere than in the system, and the folders and files
// among its arguments. What runs containers cannot be confined.
func open(e *config.MCPEdit, command string, args []string) {
	name := filepath.Base(command)
	if name == "docker" || name == "podman" {
		e.Unconfined = true
		return
	}
	e.Confine.Network = e.Confine.Network || slices.Contains(fetchers, name)
	if program, err := exec.LookPath(command); err == nil && filepath.IsAbs(program) && !strings.HasPrefix(program, "/usr/") && !strings.HasPrefix(program, "/bin/") {
		dir := filepath.Dir(program)
		if filepath.Base(dir) == "bin" && filepath.Dir(dir) != homeDir() && filepath.Base(filepath.Dir(dir)) != ".local" {
			dir = filepath.Dir(dir) // of a toolchain, whose libraries lie beside
		} else {
			dir = program
		}
		e.Confine.ReadPaths = append(e.Confine.ReadPaths, dir)
	}
	for _, a := range args {
		if !filepath.IsAbs(a) || filepath.Clean(a) == homeDir() || a == "/" {
			continue
		}
		switch info, err := os.Stat(a); {
		case err != nil:
		case info.IsDir():
			e.Confine.Paths = append(e.Confine.Paths, a)
		default:
			e.Confine.ReadPaths = append(e.Confine.ReadPaths, a)
		}
	}
}

func homeDir() string {
	home, _ := os.UserHomeDir() // none is equal to nothing
	return home
}

type mcpImportCmd struct{ verbs.MCPImport }

// importing is what an import found, and did.
type importing struct {
	Config  string        `json:"config"`
	Servers []foundServer `json:"servers"`
}

// foundServer is a server of a file.
type foundServer struct {
	addedMCP
	From  string   `json:"from"`            // the file
	Notes []string `json:"notes,omitempty"` // what the person has to do
	Why   string   `json:"why,omitempty"`   // it was not written
	edit  config.MCPEdit
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
			fmt.Fprintln(c.err, "bothyd: "+oneLine(s.Why))
		case err != nil:
			return err
		default:
			s.Config = path
			written++
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
		files = mcpfile.Places(homeDir())
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
			fmt.Fprintf(c.err, "bothyd: %s: %s\n", oneLine(file), oneLine(why))
		}
		switch {
		case !named && sdk.OutcomeOf(err) == sdk.NotFound:
			continue
		case !named && err != nil:
			fmt.Fprintln(c.err, "bothyd: "+oneLine(err.Error()))
			continue
		case err != nil:
			return nil, err
		}
		for _, s := range servers {
			if names[s.Label] {
				fmt.Fprintf(c.err, "bothyd: %s has a server %s, too, which is left out\n", oneLine(file), oneLine(s.Name))
				continue
			}
			names[s.Label] = true
			e := editOf(s)
			found = append(found, foundServer{addedMCP: addedMCP{Name: s.Label, Block: e.Text()}, From: file, Notes: s.Notes, edit: e})
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

// editOf is the block of a server.
func editOf(s mcpfile.Server) config.MCPEdit {
	e := config.MCPEdit{
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
		open(&e, command, args)
	}
	return e
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

type mcpRemoveCmd struct{ verbs.MCPRemove }

// Run takes the block out of the user's file; a server that runs ends then.
func (cmd mcpRemoveCmd) Run(f *flags, c *console) error {
	path, err := daemon.ConfigPath(f.Config)
	if err != nil {
		return err
	}
	switch is, err := config.RemoveBlock(path, "mcp", cmd.Name); {
	case err != nil:
		return err
	case !is:
		return sdk.Errorf(sdk.NotFound, "%s has no mcp block %q", path, cmd.Name)
	}
	return report(c, map[string]string{"name": cmd.Name, "config": path}, nil, func(c *console, _ map[string]string) error {
		_, err := fmt.Fprintf(c.out, "removed %s from %s\n", cmd.Name, oneLine(path))
		return err
	})
}
