package show

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Question is what waits for an answer, at its shortest: what would run, exactly and in
// at most `most` lines, and a line that says why it is asked. Behind a command stands what
// is unusual about it. Whole reports that nothing of what would run was left out, and that
// no character of it looks like another; else an answer that lets it run has to wait until
// Details were shown. Of what a plugin asks the person there are its words, and what it wants
// to know. Width is that of a terminal; 0 folds nothing.
func Question(p sdk.Proposal, width, most int) (lines []Spans, whole bool) {
	if p.Question != nil {
		return asked(p, width, most)
	}
	var what []Spans
	lead := Span{Ask, "? "}
	whole = Unfit(p) == ""
	if p.Command != "" {
		for _, line := range strings.Split(p.Command, "\n") {
			what = append(what, Flow(Spans{lead}, line, "", width, Bold)...)
			lead = Span{Dim, lineMark}
		}
		unusual := unusual(p)
		if unusual != "" {
			what = append(what, Flow(Spans{{Plain, "  "}}, unusual, "  ", width, Plain)...)
		}
		whole = whole && BeyondASCII(p.Command+unusual) == 0
	} else {
		d := differenceOf(p.Diff, func(file string) bool { return namesFile(p, file) }, func(folder string) bool { return namesFolder(p, folder) })
		arguments, all := argumentsBeside(p.Arguments, d)
		call := strings.TrimSpace(p.Tool + " " + arguments)
		what = Flow(Spans{lead}, call, "", width, Bold)
		for _, line := range d.lines {
			what = append(what, Flow(Spans{{Dim, "  " + lineMark}}, line, "  ", width, DiffStyle(line))...)
		}
		whole = whole && all && d.plain && BeyondASCII(call) == 0
	}
	if len(what) > most {
		whole = false
		left := Plural(len(what)-most+1, "more line")
		what = append(what[:most-1:most-1], Spans{{Ask, "  … " + left + ": d shows all of it"}})
	}
	why := Spans{{Plain, "  "}, {Dim, cutTo(reason(p), width)}}
	if bad := Unfit(p); bad != "" {
		return append(what, wrap(Spans{{Plain, "  "}}, bad, "  ", width, Bad)...), whole
	}
	return append(what, why), whole
}

// commandsRoot is the project's root as commands see it.
const commandsRoot = "/workspace"

// unusual is what else a command is called with, and where, as far as that is not what
// most are: empty when nothing is.
func unusual(p sdk.Proposal) string {
	var parts, limits []string
	if p.Dir != "" && p.Dir != p.Project && p.Dir != commandsRoot {
		parts = append(parts, "in "+word(p.Dir))
	}
	if p.Network {
		parts = append(parts, "network open")
	}
	if bash := "bash"; p.Tool != bash || p.Plugin != "" && p.Plugin != bash {
		parts = append(parts, strings.TrimSuffix("tool "+word(p.Tool)+" of plugin "+p.Plugin, " of plugin "))
	}
	command := commandArgument(p)
	names, values, ok := Members(p.Arguments)
	if !ok && len(p.Arguments) > 0 {
		parts = append(parts, member("arguments", value(p.Arguments)))
	}
	for i, name := range names {
		text, _ := textOf(values[i])
		switch argument := member(name, value(values[i])); {
		case name == command && text == p.Command:
		case name == "dir" && slices.Contains([]string{path.Clean(text), path.Join(commandsRoot, text), path.Join(p.Project, text)}, p.Dir):
		case argument == "background=false":
		case argument == "background=true":
			parts = append(parts, "background")
		case name == "timeout_seconds":
			limits = append(limits, argument)
		default:
			parts = append(parts, argument)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(append(parts, limits...), ", ")
}

// namesFile reports whether a file of the project is one that an argument names.
func namesFile(p sdk.Proposal, file string) bool {
	return slices.Contains(namedPaths(p), file)
}

// namesFolder reports whether a folder of the project is one that an argument names, or one
// above what it names.
func namesFolder(p sdk.Proposal, folder string) bool {
	return slices.ContainsFunc(namedPaths(p), func(name string) bool { return strings.HasPrefix(name+"/", folder+"/") })
}

// namedPaths are the texts among the arguments of a call as paths of the project.
func namedPaths(p sdk.Proposal) (all []string) {
	_, values, _ := Members(p.Arguments)
	for _, raw := range values {
		names := listedPaths(raw)
		if text, is := textOf(raw); is && text != "" {
			names = []string{text}
		}
		for _, name := range names {
			name = path.Clean(name)
			if p.Project != "" && strings.HasPrefix(name, p.Project+"/") {
				name = name[len(p.Project)+1:]
			}
			all = append(all, strings.TrimPrefix(name, commandsRoot+"/"))
		}
	}
	return all
}

// listedPaths are the paths of an argument that is a list of objects with a path each; none
// when it is something else.
func listedPaths(raw json.RawMessage) (all []string) {
	var list []struct{ Path string }
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, x := range list {
		if x.Path == "" {
			return nil
		}
		all = append(all, x.Path)
	}
	return all
}

// argumentsBeside are the arguments of a call on one line: the path first, then those that
// the lines of the difference do not show. Of a list of paths with what belongs to each there
// are the paths, and not all of it then.
func argumentsBeside(raw json.RawMessage, d difference) (line string, all bool) {
	names, values, ok := Members(raw)
	if !ok {
		return string(raw), true
	}
	var parts []string
	all = true
	for i, name := range names {
		if text, is := textOf(values[i]); name == "path" {
			parts = slices.Insert(parts, 0, mainValue(values[i]))
		} else if listed := listedPaths(values[i]); name == "paths" && len(listed) > 0 {
			all = false
			for _, one := range listed {
				parts = append(parts, word(one))
			}
		} else if !is || !d.tells(name, text) {
			parts = append(parts, member(name, value(values[i])))
		}
	}
	return strings.Join(parts, " "), all
}

// DiffStyle is the style of a line of a unified difference.
func DiffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return Good
	case strings.HasPrefix(line, "-"):
		return Bad
	case strings.HasPrefix(line, "@@"):
		return Code
	}
	return Plain
}

// Unfit says why a proposal cannot be accepted by who sees it here; empty when it can.
func Unfit(p sdk.Proposal) string {
	if p.Command != "" && p.Bytes != len(p.Command) {
		return fmt.Sprintf("The daemon counts %s and %d came here: what is shown is not what would run. Reject it.", Plural(p.Bytes, "byte"), len(p.Command))
	}
	return ""
}
