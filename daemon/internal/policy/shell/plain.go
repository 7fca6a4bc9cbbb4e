package shell

import (
	"slices"
	"strings"
)

// plainOptions are, by the first words of commands that can do everything, their plain
// options: those without a value that only change what is printed. Each is a word of its own.
var plainOptions = map[string]string{
	"python -m unittest": loud, "python3 -m unittest": loud,
	"python -m pytest": loud + " -vv -qq", "python3 -m pytest": loud + " -vv -qq", "pytest": loud + " -vv -qq",
	"go test": "-v -json", "go vet": "-v -json", "go build": "-v -x",
	"cargo build": loud + " -vv", "cargo check": loud + " -vv", "cargo clippy": loud + " -vv", "cargo test": loud + " -vv",
	"make":     "-s --silent --quiet -w --print-directory --no-print-directory --trace",
	"npm test": "-s --silent", "npm run": "-s --silent",
	"git push": loud + " --progress", "git pull": loud + " --progress", "git fetch": loud + " --progress",
	"git commit": "-q --quiet", "git checkout": "-q --quiet", "git switch": "-q --quiet", "git add": "-v --verbose",
	"rm": "-v --verbose", "cp": "-v --verbose", "mv": "-v --verbose", "mkdir": "-v --verbose", "chmod": "-v --verbose",
}

const loud = "-v -q --verbose --quiet"

// plainPrograms are programs of the tables whose options without a value are all plain, but
// those that are named: these read more than was asked for, or go on for ever.
var plainPrograms = map[string]string{
	"cat": "", "head": "", "tail": "f F follow retry", "wc": "", "nl": "", "tac": "", "rev": "", "cut": "", "paste": "", "comm": "", "cmp": "",
	"od": "", "strings": "", "fold": "", "expand": "", "unexpand": "",
	"ls":   "R L H recursive dereference dereference-command-line dereference-command-line-symlink-to-dir",
	"grep": "r R recursive dereference-recursive",
}

// Plain are the plain options that are known of a command, in order: a rule about it may
// let them come and go. Nothing is known of most.
func Plain(argv []string) []string {
	_, options, _ := plainOf(argv)
	return options
}

// Bare takes the plain options out of a command's words, and returns them beside the rest,
// each by itself. Behind the first other option every word stays: it may be a value, or
// another program's.
func Bare(argv []string) (rest, options []string) {
	head, known, bundled := plainOf(argv)
	rest = slices.Clone(argv[:min(head, len(argv))])
	for i := len(rest); i < len(argv); i++ {
		word := argv[i]
		found := []string{word}
		if bundled && len(word) > 2 && word[0] == '-' && word[1] != '-' {
			found = nil
			for _, letter := range word[1:] {
				found = append(found, "-"+string(letter))
			}
		}
		switch {
		case !strings.HasPrefix(word, "-"):
			rest = append(rest, word)
		case slices.ContainsFunc(found, func(option string) bool { return !slices.Contains(known, option) }):
			return append(rest, argv[i:]...), options
		default:
			options = append(options, found...)
		}
	}
	return rest, options
}

// plainOf finds what is known of a command's plain options: behind how many words they
// stand, which there are, and whether letters can be bundled.
func plainOf(argv []string) (head int, options []string, bundled bool) {
	const longest = 3
	for head = min(longest, len(argv)); head > 0; head-- {
		if listed, found := plainOptions[strings.Join(argv[:head], " ")]; found && !strings.Contains(argv[0], " ") {
			options = strings.Fields(listed)
			slices.Sort(options)
			return head, options, false
		}
	}
	if len(argv) == 0 {
		return 0, nil, false
	}
	but, found := plainPrograms[argv[0]]
	if !found {
		return len(argv), nil, false
	}
	for _, family := range []map[string]usage{textPrograms, filePrograms, searchPrograms} {
		if s, is := family[argv[0]]; is {
			return 1, s.ready().valueless(strings.Fields(but)), true
		}
	}
	return len(argv), nil, false
}

// valueless are the options that take no value, but some.
func (o *options) valueless(but []string) []string {
	var all []string
	for letter, signs := range o.letters {
		if name := string(letter); signs == "" && !slices.Contains(but, name) {
			all = append(all, "-"+name)
		}
	}
	for name, signs := range o.words {
		if signs == "" && !o.refused[name] && name != "help" && name != "version" && !slices.Contains(but, name) {
			all = append(all, "--"+name)
		}
	}
	slices.Sort(all)
	return all
}
