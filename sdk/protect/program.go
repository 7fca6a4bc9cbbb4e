package protect

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// running are the last names of settings whose values git runs, or that say which
// settings hold for which files.
var running = []string{
	"textconv", "command", "cmd", "external", "clean", "smudge", "process", "driver", "fsmonitor", "editor", "sshcommand", "askpass",
	"gitproxy", "program", "helper", "difffilter", "packobjectshook", "uploadpack", "receivepack", "browser", "defaultkeycommand",
	"alternaterefscommand", "update", "attributesfile", "templatedir", "pager", "tocmd", "cccmd", "smtpserver", "httpd", "path",
}

// runs says whether git runs what a setting holds.
func (s gitSetting) runs() bool {
	section, _, _ := strings.Cut(s.key, ".")
	switch section {
	case "include", "includeif":
		return false
	case "alias":
		return strings.HasPrefix(s.value, "!")
	case "pager":
		return true
	}
	return slices.Contains(running, s.key[strings.LastIndexByte(s.key, '.')+1:])
}

// programs are the paths of a project that configuration of git names as
// programs: the user's, and that of the repositories whose worktrees the folders
// are. Git runs them where a worktree begins.
func (r Rules) programs(project string, worktrees []string) (paths []string) {
	home, _ := os.UserHomeDir() // without one there is no configuration in it
	global := readGitSettings(globalGitConfig(home), home)
	for _, folder := range worktrees {
		top := filepath.Join(project, folder)
		own := readGitSettings(r.configOf(top), home)
		for _, value := range slices.Concat(own.Programs, global.Programs) {
			for _, at := range filesIn(value, top, home) {
				if rel, ok := local(project, at); ok && rel != "." && !slices.Contains(paths, rel) {
					paths = append(paths, rel)
				}
			}
		}
	}
	return paths
}

// filesIn are the files that words of a command name, seen from a folder. A word
// with a slash or a dot is one, there or not; any other only when there is such a
// file. A folder is none: what is in it is not run because of its name.
func filesIn(command, dir, home string) (files []string) {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`;|&()<>=!$", r) })
	for i, word := range words {
		if rest, ok := strings.CutPrefix(word, "~/"); ok && home != "" {
			word = path.Join(home, rest)
		}
		if strings.HasPrefix(word, "-") || !strings.Contains(word, "/") && i == 0 || strings.ContainsRune(word, 0) {
			continue // an option, or a program that is looked for on the PATH
		}
		at := from(dir, word)
		info, err := os.Stat(at)
		if err == nil && info.IsDir() || err != nil && !strings.ContainsAny(word, "/.") {
			continue
		}
		files = append(files, at)
	}
	return files
}
