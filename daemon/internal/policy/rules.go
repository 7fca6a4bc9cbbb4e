package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// firstOf finds the first rule of a verdict, deny or propose, that fits.
func (p *Policy) firstOf(j *judged, v sdk.Verdict) (sdk.Decision, bool) {
	for i := range p.set.Rules {
		r := &p.set.Rules[i]
		if r.Verdict == v && j.holds(r) && j.catches(r) {
			return decided(r, j), true
		}
	}
	return sdk.Decision{}, false
}

// allows finds the rules that allow an action. The commands of a line may be
// allowed by one rule each.
func (p *Policy) allows(j *judged) (sdk.Decision, bool) {
	var found *sdk.PolicyRule
	var open []shell.Command // what still needs a rule
	if j.line != nil {
		for _, c := range j.line.Commands {
			if c.Grade > shell.Proven {
				open = append(open, c)
			}
		}
	}
	for i := range p.set.Rules {
		r := &p.set.Rules[i]
		if r.Verdict != sdk.Allow || strings.HasPrefix(r.Source, SourceWorkspace) || !j.holds(r) || !j.lets(r) || !j.Unwritten && !j.pathsFit(r) {
			continue
		}
		if r.Exact != "" || j.line == nil {
			if len(r.Commands)+len(r.Whole) == 0 {
				return decided(r, j), true
			}
			continue
		}
		lifted, rest := j.lift(r, open)
		if lifted && found == nil {
			found = r
		}
		open = rest
	}
	if found == nil || len(open) > 0 || !j.line.explained() {
		return sdk.Decision{}, false
	}
	return decided(found, j), true
}

// lift takes away the commands that a rule allows. Commands of a plugin that
// nothing vouches for, or outside the sandbox, are no rule's to allow one by one.
func (j *judged) lift(r *sdk.PolicyRule, open []shell.Command) (bool, []shell.Command) {
	all, words := len(r.Commands)+len(r.Whole) == 0, commandsOf(r.Commands)
	if !all && (!j.tool.Pinned || !j.sandboxed()) {
		return false, open
	}
	allows := func(c shell.Command) bool { return words.allowsOne(c) || wholly(r.Whole, c) }
	// a rule that has nothing to do with the line does not allow its redirections
	lifted := all || slices.ContainsFunc(j.line.Commands, allows)
	rest := slices.DeleteFunc(slices.Clone(open), func(c shell.Command) bool {
		return c.Grade <= shell.Unproven && c.Argv != nil && (all || allows(c))
	})
	return lifted, rest
}

// holds reports whether the conditions of a rule hold that mean the same for
// each verdict.
func (j *judged) holds(r *sdk.PolicyRule) bool {
	return (len(r.Hosts) == 0 || j.isHost(r.Hosts)) && j.holdsElsewhere(r)
}

// holdsElsewhere is holds for any host.
func (j *judged) holdsElsewhere(r *sdk.PolicyRule) bool {
	whichever := j.Unwritten && r.Verdict == sdk.Allow // of arguments
	return (len(r.Modes) == 0 || slices.Contains(r.Modes, j.Mode)) &&
		(r.Project == "" || r.Project == cmp.Or(j.Settled, j.Project)) &&
		j.named(r) &&
		(whichever || fitArguments(r.Arguments, j.arguments) || r.Verdict != sdk.Allow && j.written != nil && fitArguments(r.Arguments, j.written)) &&
		(whichever || r.Exact == "" || r.Exact == j.call())
}

// call is the hash of the call, made when a rule first asks for it. Arguments
// that have none are no call that a rule could be about.
func (j *judged) call() string {
	if j.hash == "" {
		hash, err := j.PolicyRequest.Hash()
		if err != nil {
			hash = "none"
		}
		j.hash = hash
	}
	return j.hash
}

// isTool reports whether a pattern names the tool, or the one that makes its calls.
func (j *judged) isTool(glob string) bool {
	named := func(name string) bool {
		qualified := name
		if prefix := j.tool.Plugin + "__"; !strings.HasPrefix(name, prefix) {
			qualified = prefix + name
		}
		return fits(glob, name) || fits(glob, qualified)
	}
	return named(j.tool.Name) || j.tool.Runs != "" && named(j.tool.Runs)
}

// isVerb is isTool for the verb by which a tool was called: one of the daemon's own.
func (j *judged) isVerb(glob string) bool { return fits(glob, j.Verb) || fits(glob, "bothy__"+j.Verb) }

func fitArguments(globs map[string]string, arguments map[string]any) bool {
	for name, glob := range globs {
		value, given := arguments[name]
		if !given {
			return false
		}
		text, is := value.(string)
		if !is {
			encoded, err := json.Marshal(value)
			if err != nil {
				return false
			}
			text = string(encoded)
		}
		if !fits(glob, text) {
			return false
		}
	}
	return true
}

// pathsFit reports whether every path that a call names fits a rule that allows.
// The paths of a command line are not known for sure, and none is no path either.
func (j *judged) pathsFit(r *sdk.PolicyRule) bool {
	if len(r.Paths) == 0 {
		return true
	}
	if j.line != nil || len(j.paths) == 0 {
		return false
	}
	for _, p := range j.paths {
		if !slices.ContainsFunc(r.Paths, func(glob string) bool { return fitsPath(glob, path.Clean(p.path)) }) {
			return false
		}
	}
	return true
}

// catches reports whether a rule that denies or proposes has to do with the
// paths and the commands of a call; any of them is enough.
func (j *judged) catches(r *sdk.PolicyRule) bool {
	if len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, j.touches) {
		return false
	}
	if len(r.Commands) == 0 {
		return true
	}
	return j.line != nil && (slices.ContainsFunc(j.line.Commands, commandsOf(r.Commands).catches))
}

// touches reports whether a call names a path that fits, or a folder that a tool
// which writes would change along with such a path. Case is no difference: for
// some file systems it is none.
func (j *judged) touches(glob string) bool {
	glob = strings.ToLower(glob)
	fixed := fixedPart(glob)
	hit := func(p string) bool {
		p = strings.ToLower(path.Clean(p))
		return fitsPath(glob, p) || !j.tool.Annotations.ReadOnly && (p == "." || strings.HasPrefix(fixed, p+"/"))
	}
	if slices.ContainsFunc(append(pathsOf(j.written), j.paths...), func(p namedPath) bool { return hit(p.path) }) {
		return true
	}
	return j.line != nil && slices.ContainsFunc(j.line.words(), hit)
}

// words are the paths below the workspace that words of a line may be. It is no
// wall: a command makes paths of its own.
func (l *line) words() []string {
	var out []string
	for _, c := range l.Commands {
		for i, word := range c.Argv {
			if i == 0 || word == "" {
				continue
			}
			_, value, isOption := strings.Cut(word, "=")
			if isOption && value != "" {
				word = value
			}
			if !strings.HasPrefix(word, "/") {
				word = l.at.Dir + "/" + word
			}
			if rel, below := strings.CutPrefix(l.at.In(path.Clean(word)), workspace+"/"); below {
				out = append(out, rel)
			}
		}
	}
	return out
}

// fixedPart is a path pattern up to its first sign.
func fixedPart(glob string) string {
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		return glob[:i]
	}
	return glob
}

// fitsPath matches as sdk/match does. A pattern that cannot be used fits
// nothing; who reads rules refuses it.
func fitsPath(glob, p string) bool {
	g, err := match.ParseGlob(glob)
	return err == nil && g.Match(p)
}

func decided(r *sdk.PolicyRule, j *judged) sdk.Decision {
	d := sdk.Decision{Verdict: r.Verdict, Rule: r.Name, Source: r.Source, SameHost: r.Verdict == sdk.Allow && len(r.Hosts) > 0}
	at := ""
	if r.Source != SourceRemembered {
		at = " at " + r.Source
	}
	switch r.Verdict {
	case sdk.Deny:
		d.Reason = fmt.Sprintf("the rule %q%s denies this call of %q", r.Name, at, j.tool.Name)
	case sdk.Propose:
		d.Reason = fmt.Sprintf("the rule %q%s wants a person to agree to this call of %q", r.Name, at, j.tool.Name)
	default:
		d.Reason = fmt.Sprintf("the rule %q%s allows this call of %q", r.Name, at, j.tool.Name)
	}
	return d
}
