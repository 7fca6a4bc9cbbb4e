// Package opening says what a server of MCP needs beyond its walls, by its command line: for
// a block that is written (`bothy mcp add`, `bothy mcp import`) and for a server that a front
// end lends to a run.
package opening

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// fetchers are programs that fetch what they run.
var fetchers = []string{"npx", "bunx", "pnpx", "yarn", "pnpm", "uvx", "uv", "pipx", "deno"}

// Of opens to a server what its command line says that it needs: the network to what fetches
// itself, its program where that lies elsewhere than in the system, and to read the folders and
// files among its arguments. What runs containers cannot be confined. To a server that is not
// the person's own, as one of a project, it opens nothing. The notes say what is open, and how
// to open what is not.
func Of(e *config.MCPEdit, command string, args []string, own bool) (notes []string) {
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
	return append(notes, Notes(*e)...)
}

// Notes say what a block opens that is more than files.
func Notes(e config.MCPEdit) (notes []string) {
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
