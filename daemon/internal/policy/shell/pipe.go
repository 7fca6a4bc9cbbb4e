package shell

import (
	"slices"
	"strings"
)

// interpreter is how a program that runs programs is told where its own is. One
// that is told nothing reads it from its standard input.
type interpreter struct {
	code   string   // letters of options whose value is the program
	value  string   // letters of options with another value
	glued  string   // letters of options whose other value is never apart
	long   []string // long options whose value is the program
	values []string // long options with another value
	file   string   // the letter of the option that names a file; without it the program is an operand
}

var interpreters = map[string]interpreter{
	"python": {code: "cm", value: "WX", values: []string{"--check-hash-based-pycs"}},
	"perl":   {code: "eE", value: "ICMmD", glued: "0ilxF"},
	"ruby":   {code: "e", value: "rICEFKT"},
	"node":   {code: "ep", value: "rC", long: []string{"--eval", "--print"}, values: []string{"--require", "--import", "--loader"}},
	"php":    {code: "rBRE", value: "dcnz", long: []string{"--run"}},
	"lua":    {code: "e", value: "l"},
	"deno":   {}, "bun": {code: "e", long: []string{"--eval"}}, "tclsh": {}, "wish": {}, "guile": {code: "c", value: "Lls"},
	"R": {code: "e", value: "f"}, "Rscript": {code: "e"}, "pwsh": {code: "cCf"}, "ghci": {}, "ocaml": {}, "julia": {code: "eE"},
	"groovy": {code: "e"}, "scala": {code: "e"}, "elixir": {code: "e"}, "iex": {}, "erl": {}, "swift": {}, "jshell": {},
	"qjs": {code: "e"}, "gdb": {value: "xp"}, "osascript": {code: "e"}, "raku": {code: "e"}, "racket": {code: "e"}, "expect": {code: "c"},
	"awk": {file: "f"}, "sed": {file: "f"}, "make": {file: "f"},
}

// interpreterOf finds an interpreter by a name that may end in a version.
func interpreterOf(name string) (interpreter, bool) {
	switch name {
	case "nodejs":
		name = "node"
	case "gawk", "mawk", "nawk":
		name = "awk"
	case "gsed":
		name = "sed"
	case "gmake":
		name = "make"
	case "pypy", "pypy3", "ipython", "ipython3":
		name = "python"
	case "luajit":
		name = "lua"
	}
	if p, is := interpreters[name]; is {
		return p, true
	}
	p, is := interpreters[strings.TrimRight(name, "0123456789.-")]
	return p, is
}

// fed denies a program that reads its own program from what another command
// says: nobody has seen that text.
func (j *judge) fed(name string, words []word) finding {
	reads, from := readsProgram(name, words)
	piped := reads && j.stdin.kind == inputPipe
	if from != nil && from.proc && strings.HasPrefix(from.source, "<(") {
		piped = true
	}
	if (name == "." || name == "source") && len(words) > 1 {
		piped = j.stdin.kind == inputPipe && isStdin(words[1].text)
	}
	switch {
	case piped:
		return finding{Denied, "shell.pipe_interpreter", says("%s would run what another command says, which nobody has seen; save it to a file, read that, and run it then", name)}
	case reads && j.stdin.kind == inputProc:
		return finding{Unsafe, "shell.pipe_interpreter", says("%s would run what is written to it, which nobody has seen; write the commands themselves", name)}
	case reads && j.stdin.kind == inputDynamic:
		return finding{Unsafe, "shell.dynamic", says("%s would run a text that is made when the line runs; write the text out", name)}
	}
	return finding{}
}

// readsProgram reports whether a program reads its program from its standard
// input, or else the word that names the file of it.
func readsProgram(name string, words []word) (bool, *word) {
	if shells[name] {
		c := readShell(words)
		return c.stdin, c.script
	}
	p, is := interpreterOf(name)
	if !is {
		return false, nil
	}
	if p.file != "" {
		return p.readsFile(words)
	}
	return p.reads(words)
}

// reads looks for the program among options and operands.
func (p interpreter) reads(words []word) (bool, *word) {
	for n := 1; n < len(words); n++ {
		text := words[n].text
		name, _, glued := strings.Cut(text, "=")
		switch {
		case !words[n].known, text == "-", isStdin(text):
			if words[n].known {
				return true, nil
			}
			return false, &words[n]
		case text == "--":
			if n+1 < len(words) && words[n+1].text != "-" && !isStdin(words[n+1].text) {
				return false, &words[n+1]
			}
			return true, nil
		case strings.HasPrefix(text, "--"):
			if slices.Contains(p.long, name) {
				return false, nil
			}
			if slices.Contains(p.values, name) && !glued {
				n++
			}
		case strings.HasPrefix(text, "-"):
			code, apart := p.cluster(text[1:])
			if code {
				return false, nil
			}
			n += apart
		case text == "run" || text == "eval": // deno run FILE, bun run FILE
			if text == "eval" {
				return false, nil
			}
		default:
			return false, &words[n]
		}
	}
	return true, nil
}

// cluster reads short options: whether one holds the program, and how many words
// the value of another takes.
func (p interpreter) cluster(letters string) (code bool, apart int) {
	for n, c := range letters {
		switch {
		case strings.ContainsRune(p.code, c):
			return true, 0
		case strings.ContainsRune(p.glued, c): // -lane ends with -e, and so might -i.bare
			return p.code != "" && strings.ContainsAny(letters[n+1:], p.code), 0
		case strings.ContainsRune(p.value, c) && n+1 == len(letters):
			return false, 1
		case strings.ContainsRune(p.value, c):
			return false, 0
		}
	}
	return false, 0
}

// readsFile looks for -f with the standard input for a file.
func (p interpreter) readsFile(words []word) (bool, *word) {
	for n, w := range words {
		if n == 0 || !strings.HasPrefix(w.text, "-") && w.known {
			continue
		}
		value := ""
		switch long, glued, _ := strings.Cut(w.text, "="); {
		case slices.Contains([]string{"--file", "--makefile", "--from-file"}, long) && glued != "":
			value = glued
		case w.text == "-"+p.file || slices.Contains([]string{"--file", "--makefile"}, w.text):
			if n+1 < len(words) {
				if words[n+1].proc {
					return false, &words[n+1]
				}
				value = words[n+1].text
			}
		case strings.HasPrefix(w.text, "-"+p.file):
			value = w.text[2:]
		}
		if value == "-" || isStdin(value) {
			return true, nil
		}
	}
	return false, nil
}
