package protect

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// gitConfigBytes is how much of a configuration file is read.
	gitConfigBytes = 1 << 20
	// gitConfigDepth is how deep configuration files may include each other,
	// as in git itself.
	gitConfigDepth = 10
)

// gitSettings is what a repository's configuration names that git obeys.
type gitSettings struct {
	// Files are the configuration files that are included, there or not.
	Files []string
	// Hooks are values of core.hooksPath. A relative one is meant from the
	// folder in which the hook runs.
	Hooks []string
	// Programs are values that name a program, or a file of such, as they stand.
	Programs []string
}

// readGitSettings reads configuration files and all they include, whatever the
// conditions. What is missing or cannot be read is left out.
func readGitSettings(files []string, home string) gitSettings {
	var s gitSettings
	for _, file := range files {
		s.read(file, home, 0)
	}
	return s
}

func (s *gitSettings) read(file, home string, depth int) {
	if depth > gitConfigDepth {
		return
	}
	text, err := readRegular(file, gitConfigBytes)
	if err != nil {
		return
	}
	for _, set := range parseGitConfig(text) {
		if set.runs() {
			s.Programs = append(s.Programs, set.value)
		}
		path, ok := expandGitPath(set.value, home)
		switch {
		case !ok:
		case set.key == "core.hookspath":
			s.Hooks = append(s.Hooks, path)
		case set.key == "include.path" || strings.HasPrefix(set.key, "includeif.") && strings.HasSuffix(set.key, ".path"):
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(file), path)
			}
			if !slices.Contains(s.Files, path) {
				s.Files = append(s.Files, path)
				s.read(path, home, depth+1)
			}
		}
	}
}

// globalGitConfig are the configuration files that hold for every repository of
// the user.
func globalGitConfig(home string) []string {
	files := []string{"/etc/gitconfig"}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		files = append(files, filepath.Join(dir, "git", "config"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".config", "git", "config"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// expandGitPath expands ~/ as git does; other users' homes and %(prefix) are
// nothing that lies in a project.
func expandGitPath(path, home string) (string, bool) {
	switch rest, ok := strings.CutPrefix(path, "~/"); {
	case ok && home != "":
		return filepath.Join(home, rest), true
	case path == "", strings.HasPrefix(path, "~"), strings.HasPrefix(path, "%("), strings.ContainsRune(path, 0):
		return "", false
	}
	return filepath.Clean(path), true
}

// gitFolder is the repository behind a folder's .git, which may be a file that
// names it, and the folder that holds its configuration.
func gitFolder(worktree string) (folder, common string) {
	folder = filepath.Join(worktree, ".git")
	if text, err := readRegular(folder, gitConfigBytes); err == nil {
		folder = gitTarget(worktree, text)
	}
	common = folder
	if text, err := readRegular(filepath.Join(folder, "commondir"), gitConfigBytes); err == nil {
		common = from(folder, strings.TrimRight(string(text), "\r\n"))
	}
	return folder, common
}

// gitTarget is the repository that the text of a .git file names; the file
// itself when it names none.
func gitTarget(worktree string, text []byte) string {
	target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok || target == "" {
		return filepath.Join(worktree, ".git")
	}
	return from(worktree, target)
}

// from is a path that is relative to a folder, unless it is absolute.
func from(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// readRegular reads a regular file and never waits for anything else.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EINVAL}
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// gitSetting is one line of a git configuration file; the key is the lower-case
// section, the subsection as it stands, and the lower-case name.
type gitSetting struct{ key, value string }

// parseGitConfig reads the syntax of git-config(1) and skips what is no part of
// it: a reader that gives up at a mistake would overlook what follows it.
func parseGitConfig(text []byte) []gitSetting {
	var found []gitSetting
	section := ""
	s := strings.TrimPrefix(string(text), "\ufeff")
	for s != "" {
		s = strings.TrimLeft(s, " \t\r\n")
		switch {
		case s == "":
		case s[0] == '#' || s[0] == ';':
			s = afterLine(s)
		case s[0] == '[':
			section, s = gitSection(s[1:])
		default:
			end := strings.IndexAny(s, "=\n#;")
			if end < 0 || s[end] != '=' {
				s = afterLine(s)
				continue
			}
			name := strings.ToLower(strings.TrimSpace(s[:end]))
			var value string
			value, s = gitValue(s[end+1:])
			found = append(found, gitSetting{section + "." + name, value})
		}
	}
	return found
}

func afterLine(s string) string {
	_, rest, _ := strings.Cut(s, "\n")
	return rest
}

// gitSection reads a section's header behind its bracket.
func gitSection(s string) (section, rest string) {
	end := strings.IndexAny(s, "]\"\n")
	if end < 0 {
		return "", ""
	}
	section = strings.ToLower(strings.TrimSpace(s[:end]))
	if s[end] != '"' {
		return section, s[end+1:]
	}
	var sub strings.Builder
	for i := end + 1; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return section, s[i:]
		case s[i] == '\\' && i+1 < len(s):
			i++
			sub.WriteByte(s[i])
		case s[i] == '"':
			_, rest, _ := strings.Cut(s[i:], "]")
			return section + "." + sub.String(), rest
		default:
			sub.WriteByte(s[i])
		}
	}
	return section, ""
}

// gitValue reads a value to the end of its line: quotes, escapes, comments and
// lines that go on.
func gitValue(s string) (value, rest string) {
	var out strings.Builder
	s = strings.TrimLeft(s, " \t")
	quoted, kept := false, 0 // kept is how much a trailing blank does not belong to
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\n':
			return out.String()[:kept], s[i:]
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
			if s[i] == '\n' {
				continue
			}
			out.WriteByte(unescaped(s[i]))
			kept = out.Len()
		case c == '"':
			quoted = !quoted
			kept = out.Len()
		case (c == '#' || c == ';') && !quoted:
			return out.String()[:kept], afterLine(s[i:])
		default:
			out.WriteByte(c)
			if quoted || !strings.ContainsRune(" \t\r", rune(c)) {
				kept = out.Len()
			}
		}
	}
	return out.String()[:kept], ""
}

func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}
