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
	var notes []string
	switch {
	case len(cmd.Command) > 0 && cmd.URL != "" || len(cmd.Command) == 0 && cmd.URL == "":
		return sdk.Errorf(sdk.Validation, "name the command of the server behind --, or its --url, and not both")
	case cmd.URL != "":
		e.URL = config.Text(cmd.URL)
		notes = openNotes(e)
	default:
		e.Command = config.Text(cmd.Command[0])
		for _, a := range cmd.Command[1:] {
			e.Args = append(e.Args, config.Text(a))
		}
		notes = open(&e, cmd.Command[0], cmd.Command[1:], true)
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
	return report(c, addedMCP{path, e.Name, e.Text(), notes}, err, func(c *console, done addedMCP) error {
		for _, note := range done.Notes {
			if _, err := fmt.Fprintf(c.out, "# %s\n", oneLine(note)); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(c.out, "%s\nThis is in %s now. bothy tools call mcp__%s__TOOL tries it.\n", done.Block, oneLine(done.Config), done.Name)
		return err
	})
}

// addedMCP is a block that was written, or would be.
type addedMCP struct {
	Config string `json:"config,omitempty"`
	Name   string `json:"name"`
	Block  string `json:"block"`
	// Notes are what is open to it, and what the person has to do.
	Notes []string `json:"notes,omitempty"`
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
// itself, its program where that lies elsewhere than in the system, and to read the folders and
// files among its arguments. What runs containers cannot be confined. To a server that is not
// the person's own, as one of a project, it opens nothing. The notes say what is open, and how
// to open what is not.
func open(e *config.MCPEdit, command string, args []string, own bool) (notes []string) {
	note := func(format string, a ...any) { notes = append(notes, fmt.Sprintf(format, a...)) }
	switch { // only the program of that name in PATH, and not one that a path names
	case command != "docker" && command != "podman":
	case own:
		e.Unconfined = true
	default:
		note("It is %s, which starts containers and cannot be confined: confined = false in its block runs it with all that you may read and write.", command)
	}
	if slices.Contains(fetchers, command) {
		switch {
		case e.Unconfined || e.Confine.Network:
		case own:
			e.Confine.Network = true
		default:
			note("It is %s, which fetches what it runs: network = true in its confine block opens the network to it.", command)
		}
	}
	if !e.Unconfined {
		for _, path := range programFiles(command) {
			switch {
			case slices.Contains(e.Confine.ReadPaths, path):
			case own:
				e.Confine.ReadPaths = append(e.Confine.ReadPaths, path)
			default:
				note("Its program needs %s: read_paths = [%q] in its confine block opens it.", path, path)
			}
		}
		for _, a := range args {
			if !filepath.IsAbs(a) {
				continue
			}
			path := filepath.Clean(a)
			info, err := os.Stat(path)
			switch {
			case err != nil || !info.IsDir() && !info.Mode().IsRegular():
			case slices.ContainsFunc(slices.Concat(e.Confine.Paths, e.Confine.ReadPaths), func(p string) bool { return filepath.Clean(p) == path }):
			case own && !kept(path):
				e.Confine.ReadPaths = append(e.Confine.ReadPaths, path)
				note("It may read %s: paths = [%q] in its confine block lets it write there, too.", path, path)
			default:
				note("It names %s: paths = [%q] in its confine block opens it.", path, path)
			}
		}
	}
	return append(notes, openNotes(*e)...)
}

// openNotes say what a block opens that is more than files.
func openNotes(e config.MCPEdit) (notes []string) {
	switch {
	case e.Unconfined:
		notes = append(notes, "It has confined = false: it reads and writes all that you may, your keys included.")
	case e.Confine.Network:
		notes = append(notes, "It has network = true: it reaches the network, and can send there what it reads.")
	}
	return notes
}

// programFiles are the file of a program that lies elsewhere than in the system, the folder lib
// beside its folder bin, and the same of the interpreter that it names.
func programFiles(command string) (files []string) {
	add := func(path string) {
		if _, err := os.Stat(path); err == nil && !within(path, files...) {
			files = append(files, path)
		}
	}
	for range 2 { // the program, and what interprets it
		program, err := exec.LookPath(command)
		if err != nil || !filepath.IsAbs(program) {
			return files
		}
		target, err := filepath.EvalSymlinks(program)
		if err != nil {
			return files
		}
		for _, path := range []string{filepath.Clean(program), target} {
			if within(path, "/usr", "/bin", "/sbin", "/lib", "/lib64") || within(path, machine...) {
				continue
			}
			add(path)
			if dir := filepath.Dir(path); filepath.Base(dir) == "bin" {
				add(filepath.Join(filepath.Dir(dir), "lib"))
			}
		}
		if command = interpreter(target); command == "" {
			return files
		}
	}
	return files
}

// interpreter is what the first line of a script names.
func interpreter(program string) string {
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
		return "" // to open a pipe would wait
	}
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head) // none is no script
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	line, is := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if is && len(words) > 0 && filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
	}
	if !is || len(words) == 0 {
		return ""
	}
	return words[0]
}

// machine are the folders of the machine itself.
var machine = []string{"/etc", "/run", "/proc", "/sys", "/dev"}

// kept reports whether a path is one that is never opened by itself, or leads to one: the root,
// the home, what is above it, what is hidden in it, and the folders of the machine.
func kept(path string) bool {
	for _, home := range resolved(homeDir()) {
		for _, path := range resolved(path) {
			if path == "/" || within(path, machine...) || within(home, path) {
				return true
			}
			if rest, err := filepath.Rel(home, path); err == nil && strings.HasPrefix(rest, ".") && rest != ".." && !strings.HasPrefix(rest, "../") {
				return true
			}
		}
	}
	return false
}

// resolved is a path as it is written, cleaned, and as its links lead.
func resolved(path string) []string {
	paths := []string{filepath.Clean(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && target != paths[0] {
		paths = append(paths, target)
	}
	return paths
}

// within reports whether a path is one of some folders, or below it.
func within(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, strings.TrimSuffix(f, "/")+"/")
	})
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
			e, notes := editOf(s, !named)
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
		notes = open(&e, command, args, own)
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
