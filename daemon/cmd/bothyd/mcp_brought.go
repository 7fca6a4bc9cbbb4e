package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/known"
	"github.com/bothyd/bothy/daemon/internal/mcpfile"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// wouldStart is what a server of a file would start or reach. Keys stand there by their names, and
// so do variables but where they are looked up, as for the names of its files.
func wouldStart(s mcpfile.Server, look bool) *config.Server {
	text := func(v mcpfile.Value) string {
		var b strings.Builder
		for _, p := range v {
			switch {
			case p.Secret != "":
				b.WriteString("secret(" + p.Secret + ")")
			case p.Env != "" && look:
				b.WriteString(cmp.Or(os.Getenv(p.Env), *cmp.Or(p.Default, new(string))))
			case p.Env != "":
				b.WriteString("${" + p.Env + "}")
			default:
				b.WriteString(p.Text)
			}
		}
		return b.String()
	}
	out := &config.Server{Command: text(s.Command), Dir: text(s.Dir), URL: text(s.URL), Env: slices.Sorted(maps.Keys(s.Env)), Headers: slices.Sorted(maps.Keys(s.Headers))}
	for _, a := range s.Args {
		out.Args = append(out.Args, text(a))
	}
	return out
}

// hold has bothy.lock say what a server of a project's file starts, as it is now: it may be
// another with the next change of the project.
func hold(file, name string) error {
	files, err := daemon.OpenPluginFiles(file)
	if err != nil {
		return err
	}
	label := sdk.MCPPrefix + name
	n := slices.IndexFunc(files.Config.Plugins, func(p config.Plugin) bool { return p.Label == label && p.Server != nil })
	if n < 0 {
		return nil // it is gone again
	}
	_, _, err = config.EditLock(files.LockPath(), func(l *config.Lock) error {
		l.Plugins[label] = config.Locked{Plugin: "mcp", Digest: known.Sum(files.Config.Plugins[n].Server)}
		return nil
	})
	return err
}

// broughtServers say which servers the project of a folder brings, and what each would start.
func broughtServers(dir string) (found []daemon.Finding) {
	home, _ := os.UserHomeDir() // without one it is no project's border
	root, is := sdk.ProjectOf(dir, home)
	if !is {
		return nil
	}
	for _, name := range sdk.ProjectServers {
		path := filepath.Join(root, name)
		text, err := watch.ReadRegular(path, mcpfile.MaxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f := daemon.Finding{Name: name, Level: "ok", Hint: "bothy mcp import " + path + " shows them, and asks; until then they are not started"}
		var servers []mcpfile.Server
		if err == nil {
			servers, _, err = mcpfile.Read(path, root, text)
		}
		switch {
		case sdk.OutcomeOf(err) == sdk.NotFound:
			continue // it names none
		case err != nil:
			f.Detail, f.Hint = oneLine(err.Error()), ""
		}
		var would []string
		for _, s := range servers {
			start := wouldStart(s, false)
			line := strings.Join(append([]string{cmp.Or(start.URL, start.Command)}, start.Args...), " ")
			for _, file := range known.Files(wouldStart(s, true)) {
				line += fmt.Sprintf(" (%s, sha256 %s)", file.Path, file.Digest)
			}
			if len(start.Env) > 0 {
				line += " with " + strings.Join(start.Env, ", ")
			}
			would = append(would, oneLine(s.Name+" would start "+line))
		}
		f.Detail = cmp.Or(f.Detail, "the project has servers of MCP: "+strings.Join(would, "; "))
		found = append(found, f)
	}
	return found
}

// brought is broughtServers of the folder that the verb is called in.
func brought() []daemon.Finding {
	dir, err := os.Getwd()
	if err != nil {
		return nil // it is nowhere
	}
	return broughtServers(dir)
}
