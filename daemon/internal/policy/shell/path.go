package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
)

// resolve says where an operand leads when it is written to: its absolute and
// clean path, and whether that is provably below the workspace and free. "-"
// stands for a standard stream and is returned as it is.
func (p Place) resolve(operand string) (abs string, inside bool) {
	abs, found := p.target(operand)
	return abs, operand == "-" || p.holds(abs) && abs != p.Workspace && found.Class == protect.Free
}

// target says where an operand leads when it is written to, and what is known of
// a path below the workspace. The first that is refused is noted for the report. What only holds a protected path is free here: most
// that is written is not removed, and a program that removes is not proven.
func (p Place) target(operand string) (abs string, found protect.Finding) {
	abs, _ = p.resolveRead(operand)
	if real, ok := p.real(operand); ok {
		abs = real
	}
	if operand == "-" || p.Open || !p.holds(abs) || abs == p.Workspace {
		return abs, protect.Finding{}
	}
	if found = p.rules().Name(strings.TrimPrefix(abs, p.Workspace)); found.Holds {
		return abs, protect.Finding{}
	}
	if found.Class == protect.Refused && p.refused != nil && *p.refused == "" {
		*p.refused = fmt.Sprintf("it changes %s, and %s is protected: %s, so that nothing may change it", abs, found.Name, found.Reason)
	}
	return abs, found
}

// resolveRead is resolve for what is only read: the workspace itself, what is
// protected in it and the folders that can only be read are inside. A link that
// leads out of the workspace is the container's to stop.
func (p Place) resolveRead(operand string) (abs string, inside bool) {
	abs = p.lexical(operand)
	if real, ok := p.real(operand); ok && (p.holds(real) || secret(real)) {
		abs = real
	}
	return abs, operand == "-" || p.holds(abs) || p.readable(abs)
}

// lexical is an operand's absolute and clean path, whatever links are on the way;
// "-" is itself.
func (p Place) lexical(operand string) string {
	switch {
	case operand == "-":
		return operand
	case strings.HasPrefix(operand, "~"):
		return p.In(p.tilde(operand))
	case path.IsAbs(operand):
		return p.In(path.Clean(operand))
	default:
		return p.In(path.Join(p.Dir, operand))
	}
}

// In is a clean path by the name that the workspace has, where that is another.
func (p Place) In(abs string) string {
	if p.Own == "" || p.Own == "/" {
		return abs
	}
	if rest, below := strings.CutPrefix(abs, p.Own); below && (rest == "" || rest[0] == '/') {
		return p.Workspace + rest
	}
	return abs
}

// logical is where cd goes: the shell keeps the names of the links that it went
// through.
func (p Place) logical(operand string) (abs string, inside bool) {
	p.real(operand)
	abs = p.lexical(operand)
	return abs, operand == "-" || p.holds(abs) || p.readable(abs)
}

// real is where links lead an operand that is below the workspace as it is named,
// and whether any does. What is named is remembered for whoever looks for links.
func (p Place) real(operand string) (abs string, led bool) {
	if operand == "-" || strings.HasPrefix(operand, "~") {
		return "", false
	}
	if !path.IsAbs(operand) {
		operand = p.Dir + "/" + operand
	}
	operand = p.In(operand)
	named, below := strings.CutPrefix(operand, strings.TrimSuffix(p.Workspace, "/")+"/")
	if !below || !path.IsAbs(p.Workspace) {
		return "", false
	}
	if p.named != nil {
		*p.named = append(*p.named, named)
	}
	to, led := p.Links[named]
	if led && !path.IsAbs(to) {
		to = path.Join(p.Workspace, to)
	}
	return to, led
}

// Named are the paths below the workspace that a line names, as far as that can be
// seen, as it names them: those of which Place.Links may say where they lead.
func Named(line string, at Place, strict bool) []string {
	var named []string
	at.named = &named
	if strict {
		Strict(line, at)
	} else {
		Analyse(line, at)
	}
	slices.Sort(named)
	return slices.Compact(named)
}

// in is the same place for a command that starts elsewhere.
func (p Place) in(dir string) Place {
	p.Dir = dir
	return p
}

// tilde takes every leading tilde for one that the shell expands: whether it
// was quoted can no longer be seen. Another user's home, and the directories
// that ~+ and ~- name, are nowhere that is known.
func (p Place) tilde(operand string) string {
	first, rest, _ := strings.Cut(operand, "/")
	if first != "~" {
		return path.Join("/home", first, rest)
	}
	return path.Join(p.Home, rest)
}

// holds reports whether an absolute, clean path is the workspace or below it.
func (p Place) holds(abs string) bool {
	if !path.IsAbs(p.Workspace) {
		return false
	}
	return abs == p.Workspace || strings.HasPrefix(abs, strings.TrimSuffix(p.Workspace, "/")+"/")
}

// readable reports whether an absolute, clean path is a folder that can only be
// read, or below one.
func (p Place) readable(abs string) bool {
	return slices.ContainsFunc(p.ReadOnly, func(dir string) bool { return abs == dir || strings.HasPrefix(abs, dir+"/") })
}

// secret reports whether an absolute path leads to credentials, which nothing
// reads unasked, wherever they lie.
func secret(abs string) bool {
	return secretProc(strings.ToLower(abs)) || protect.Secret(abs)
}

// secretProc reports whether a path is what the kernel shows of a process's
// environment, memory or open files, or of the machine's memory.
func secretProc(abs string) bool {
	if abs == "/dev/mem" || abs == "/dev/kmem" {
		return true
	}
	rest, found := strings.CutPrefix(abs, "/proc/")
	if !found {
		return false
	}
	last := path.Base(rest)
	return last == "environ" || last == "mem" || last == "kcore" || last == "auxv"
}

func (p Place) rules() protect.Rules {
	if p.Rules == nil {
		return protect.Rules{}
	}
	return *p.Rules
}
