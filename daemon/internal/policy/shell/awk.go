package shell

import (
	"regexp"
	"strings"
)

// awkWords are the parts of awk by which a program runs commands, opens files
// of its own or finds other code.
var awkWords = regexp.MustCompile(`system|getline|close|ARGV|ARGC|ENVIRON|PROCINFO|include|load|namespace|@|\\`)

// awkShows reports whether arguments of awk are a program that only prints, and
// names of files in the place where it runs. In an action > writes a file, so it
// may stand in a pattern only; nothing tries to tell a string from code.
func awkShows(args []string) bool {
	for len(args) > 0 && strings.HasPrefix(args[0], "-F") {
		if args[0] == "-F" {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return false
	}
	program := args[0]
	if awkWords.MatchString(program) || strings.Contains(strings.ReplaceAll(program, "||", ""), "|") {
		return false
	}
	if strings.Contains(program, ">") && !comparesOnly(program) {
		return false
	}
	for _, file := range args[1:] {
		if strings.ContainsAny(file, "=/~") || strings.HasPrefix(file, "-") || secret("/"+file) {
			return false
		}
	}
	return true
}

// comparesOnly reports whether every > stands in a pattern. With a string or an
// expression in it, a brace might be taken for what it is not.
func comparesOnly(program string) bool {
	depth := 0
	for _, c := range program {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '"' || c == '/' || c == '>' && depth != 0:
			return false
		}
	}
	return depth == 0
}
