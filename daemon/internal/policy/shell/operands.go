package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
)

// streams are the devices that hold nothing of anybody's.
var (
	readable = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdin"}
	writable = []string{"/dev/null", "/dev/stdout", "/dev/stderr"}
)

// reads judges a path that a program reads, or only the name and dates of.
func (c call) reads(text string, names bool) finding {
	abs, inside := c.place.resolveRead(text)
	switch {
	case secret(abs) && !(inside && names):
		return c.leaks(text)
	case inside, slices.Contains(readable, abs):
		return finding{}
	default:
		return c.unproven("shell.path", "%s reads %q, which is outside of the workspace; name a path below %s", c.argv[0], text, c.place.Workspace)
	}
}

// writes judges a path that a program writes.
func (c call) writes(text string) finding {
	abs, found := c.place.target(text)
	switch {
	case found.Class == protect.Asked:
		return c.unproven("shell.write", "%s writes to %q, and a person agrees to that: %s; leave it to the person", c.argv[0], text, found.Reason)
	case found.Class == protect.Refused:
		return c.unproven("shell.write", "%s writes to %q, which is protected: %s; write to another path below %s", c.argv[0], text, found.Reason, c.place.Workspace)
	case text == "-", c.place.holds(abs) && abs != c.place.Workspace:
		return finding{grade: Contained, rule: "shell.write", why: says("%s writes to %q, below the workspace", c.argv[0], text)}
	case slices.Contains(writable, abs):
		return finding{}
	case isDevice(abs):
		return device(text)
	case secret(abs) && !c.place.holds(abs):
		return c.leaks(text)
	default:
		return c.unproven("shell.write", "%s writes to %q, which is outside of the workspace; write to another path below %s", c.argv[0], text, c.place.Workspace)
	}
}

// changes notes what is refused among the words of a program that changes files,
// of which it is not known how.
func (c call) changes(words []string) {
	for _, word := range words {
		for _, text := range pathsIn(word) {
			c.place.target(text)
		}
	}
}

func (c call) leaks(text string) finding {
	return c.place.leak(finding{grade: Unsafe, rule: "shell.secret", why: says("%q of %s names credentials, which no command may touch unasked; do without them", text, c.argv[0])})
}

// leak notes for the report that credentials are read.
func (p Place) leak(f finding) finding {
	if p.secrets != nil && *p.secrets == "" {
		*p.secrets = f.reason
	}
	return f
}

// harmlessOptions are programs of which no option runs a command or writes a file,
// one that no table has included.
var harmlessOptions = []string{
	"cat", "head", "tail", "wc", "ls", "grep", "egrep", "fgrep", "nl", "tac", "rev", "cut", "paste", "comm", "cmp", "stat", "md5sum", "sha1sum",
	"sha256sum", "sha512sum", "b2sum", "cksum", "od", "basename", "dirname", "realpath", "readlink", "du",
}

// noOption reports whether nothing that a pattern expands to can be a harmful option of a
// program: the pattern begins with a plain character, or neither the options of the program
// nor the names in the folder let it.
func (p Place) noOption(name, pattern string) bool {
	if strings.IndexAny(pattern, "*?[") != 0 {
		return !strings.HasPrefix(pattern, "-")
	}
	to, led := p.real(pattern)
	return slices.Contains(harmlessOptions, name) && !(led && strings.HasPrefix(path.Base(to), "-"))
}

// globbed is what a pattern gets that could become an option.
func (c call) globbed(text string) finding {
	return c.unproven("shell.glob", "the pattern %q can expand to an option of %s; quote it, or write it as an operand behind --, such as: ls -- *.go, or ./*.go", text, c.argv[0])
}

// expands judges a pattern behind "--" whose names are all used alike. It is
// not proven to a degree, since what it expands to is only known when it runs.
func (c call) expands(text string, alike, names bool) finding {
	if !alike {
		return c.unproven("shell.glob", "what the pattern %q expands to has different meanings to %s; write the names out", text, c.argv[0])
	}
	for part := range strings.SplitSeq(text, "/") {
		at := strings.IndexAny(part, "*?[")
		switch {
		case at < 0:
		case !names && protect.SecretPattern(part):
			return c.leaks(text)
		case strings.HasPrefix(part, "."):
			return c.unproven("shell.glob", "the pattern %q of %s can expand to names outside of the workspace; write names that begin with a dot out", text, c.argv[0])
		}
	}
	if f := c.reads(text, names); f.grade > Proven {
		return f
	}
	if last := path.Base(text); !names && protect.SecretMatch(last, false) {
		return c.unproven("shell.secret", "the pattern %q of %s fits names of credentials too; write the names out, or more of them", text, c.argv[0])
	}
	return finding{grade: Contained, rule: "shell.glob", why: says("%s reads the names below the workspace that %q expands to", c.argv[0], text)}
}

// orSecret looks for credentials in the words of a call that is not proven, also
// behind the signs with which programs mark a path: it is unsafe then.
func (c call) orSecret(f finding, names bool) finding {
	if f.grade != Unproven {
		return f
	}
	for _, word := range c.argv[1:] {
		for _, text := range pathsIn(word) {
			abs, inside := c.place.resolveRead(text)
			if secret(abs) && !(inside && names) {
				return c.leaks(word)
			}
		}
	}
	return f
}

// pathsIn are the texts in a word that may be a path: itself, and what follows
// "=", "@", "<" or "file://", or the letter of an option.
func pathsIn(word string) []string {
	texts := []string{word}
	for _, sign := range []string{"=", "@", "<", "file://"} {
		if _, rest, found := strings.Cut(word, sign); found && rest != "" {
			texts = append(texts, rest)
		}
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		texts = append(texts, word[2:])
	}
	return texts
}
