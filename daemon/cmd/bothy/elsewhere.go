package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// elsewhere are the words of other tools that mean what a verb here means. They are
// no verbs of the parser, which would be a third slower for them.
var elsewhere = map[string][]string{
	"exec": {"run"}, "undo": {"runs", "undo"}, "redo": {"runs", "redo"}, "diff": {"runs", "diff"}, "fork": {"runs", "fork"},
	"resume": {"chat", "--pick"}, "login": {"auth", "login"}, "logout": {"auth", "logout"}, "abort": {"runs", "abort"}, "answer": {"proposals", "answer"}, "session": {"runs"}, "sessions": {"runs"},
}

// insteads say what does here what a word of other tools does there, where it is not
// the same.
var insteads = map[string]string{
	"rm":          "`bothy runs rm RUN` deletes a run, `bothy plugins remove NAME` a plugin",
	"delete":      "`bothy runs rm RUN` deletes a run, `bothy plugins remove NAME` a plugin",
	"continue":    "`bothy run -c \"...\"` goes on with the last run, `bothy runs resume` with one that was cut short",
	"ask":         "`bothy run --ask \"...\"` only reads",
	"ls":          "`bothy runs` lists the runs of the project, `bothy runs -g` all",
	"list":        "`bothy runs` lists the runs of the project, `bothy runs -g` all",
	"ps":          "`bothy status` says what is at work, `bothy runs` lists the runs of the project",
	"history":     "`bothy runs` lists the runs of the project, `bothy runs show` tells one",
	"show":        "`bothy runs show` tells a run, `bothy config show` the configuration",
	"stats":       "`bothy usage` says what was used and what it cost, `bothy runs show` of one run",
	"cost":        "`bothy usage` says what was used and what it cost, `bothy runs show` of one run",
	"providers":   "`bothy models` lists models and their providers, `bothy auth` where their keys are",
	"pull":        "`bothy models pull NAME` gets a model",
	"init":        "`bothy config init` writes a first configuration; a project needs none",
	"setup":       "`bothy config init` writes a first configuration, `bothy doctor` says what this machine lacks",
	"settings":    "`bothy config show` prints every setting with the place it comes from",
	"permissions": "`bothy policy` lists the rules about what may run, `bothy policy test` tries one",
	"allow":       "`bothy policy` lists the rules about what may run, `bothy policy test` tries one",
	"approve":     "`bothy proposals accept ID` says yes to what waits; `bothy proposals` lists it",
	"accept":      "`bothy proposals accept ID` says yes to what waits; `bothy proposals` lists it",
	"reject":      "`bothy proposals reject ID` says no to what waits; `bothy proposals` lists it",
	"apply":       "what an agent changes is in the project already: `bothy runs diff` shows it, `bothy runs undo` takes it back",
	"serve":       "every verb starts the daemon when it needs it; `bothy status` says how it is",
	"start":       "every verb starts the daemon when it needs it; `bothy status` says how it is",
	"restart":     "`bothy stop` ends the daemon, and the next verb starts it",
	"kill":        "`bothy runs abort` ends what a run works on, `bothy stop` the daemon",
	"export":      "`bothy runs show --json` has all of a run",
	"update":      "a new version is installed over the old one: `bothy stop`, and the next verb starts the new daemon",
	"upgrade":     "a new version is installed over the old one: `bothy stop`, and the next verb starts the new daemon",
}

// verbAt is where the verb stands, or the number of words: flags may come first.
func verbAt(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-C" || args[i] == "--dir": // a value follows
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i
		}
	}
	return len(args)
}

// wordAt is where the first word stands that is no flag of chat and no value of one, or the
// number of words.
func wordAt(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case chatFlags[args[i]]: // a value follows
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i
		}
	}
	return len(args)
}

// ours puts the verb in the place of another tool's word for it.
func ours(args []string) []string {
	at := verbAt(args)
	if at == len(args) || elsewhere[args[at]] == nil {
		return args
	}
	rest := args[at+1:]
	if named := wordAt(rest); args[at] == "resume" && named < len(rest) { // the run
		return slices.Concat(args[:at], []string{"chat"}, rest[:named], []string{"--run"}, rest[named:])
	}
	return slices.Concat(args[:at], elsewhere[args[at]], rest)
}

// isPrint reports whether a flag is the one with which other tools are given a prompt whose
// answer they print, and no conversation begins.
func isPrint(arg string) bool { return arg == "-p" || arg == "--print" || arg == "--prompt" }

// familiar is what people write out of habit, as it is written here: -p and --version
// without a verb, help before one, and words of other tools.
func familiar(args []string) []string {
	if i := slices.IndexFunc(args, isPrint); i >= 0 && i < wordAt(args) {
		return slices.Concat([]string{"run"}, args[:i], args[i+1:])
	}
	at := verbAt(args)
	if at == len(args) {
		if i := slices.Index(args, "--version"); i >= 0 {
			return slices.Replace(slices.Clone(args), i, i+1, "version")
		}
		return args
	}
	if args[at] == "help" {
		return append(ours(slices.Concat(args[:at], args[at+1:])), "--help")
	}
	return ours(args)
}

// instead is what to say about a word that is no verb here: what does here what it does
// elsewhere, or which verbs there are below the one that was named. It is empty where
// nothing is known.
func instead(err error, args []string) string {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return ""
	}
	n := parse.Context.Selected()
	switch at := verbAt(args); {
	case n == nil && at < len(args):
		return insteads[args[at]]
	case n == nil || n.Parent == nil || n.Parent.DefaultCmd != n || slices.Contains(args, n.Name) || !strings.HasPrefix(err.Error(), "unexpected argument"):
		return ""
	}
	var verbs []string
	for _, child := range n.Parent.Children {
		if !child.Hidden {
			verbs = append(verbs, child.Name)
		}
	}
	return "`bothy " + n.Parent.Path() + "` has the verbs " + strings.Join(verbs, ", ")
}
