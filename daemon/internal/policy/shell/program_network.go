package shell

import (
	"slices"
	"strings"
)

// fetch is for programs that talk to other machines and could be harmless
// otherwise.
func fetch(c call) finding {
	return c.orSecret(c.unproven("shell.network", "%s reaches other machines, and the sandbox has no network; use the tool that fetches web pages", c.argv[0]), false)
}

// remote is for programs of which some options start a program here.
func remote(starting ...string) program {
	return func(c call) finding {
		for _, word := range c.argv[1:] {
			if slices.ContainsFunc(starting, func(sign string) bool { return starts(word, sign) }) {
				return finding{Unsafe, "shell.network", says("%q makes %s start a program, which nothing allows unasked; leave it out", word, c.argv[0])}
			}
		}
		return fetch(c)
	}
}

// starts reports whether a word has a sign: a letter in a bundle of options, or
// what it begins with.
func starts(word, sign string) bool {
	if len(sign) == 2 && sign[0] == '-' {
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, sign[1:])
	}
	return strings.HasPrefix(strings.ToLower(word), sign)
}
