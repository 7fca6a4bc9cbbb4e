package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bothyd/bothy/sdk/protect"
)

// input is what a statement's standard input is: what it is given, else what is
// around it.
func (j *judge) input(redirs []*syntax.Redirect) input {
	in := j.stdin
	for _, r := range redirs {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			in = j.opened(r.Word, in)
		case syntax.DplIn:
			if w := j.peek(r.Word); (!w.known || w.text != "0") && in.kind != inputPipe {
				in = input{kind: inputDynamic}
			}
		case syntax.Hdoc, syntax.DashHdoc:
			in = j.document(r)
		case syntax.WordHdoc:
			if w := j.peek(r.Word); w.known && w.why.grade == Proven {
				in = input{kind: inputText, text: w.text + "\n"}
			} else {
				in = input{kind: inputDynamic}
			}
		}
	}
	return in
}

// opened is the input that < gives.
func (j *judge) opened(target *syntax.Word, before input) input {
	w := j.peek(target)
	switch {
	case w.proc:
		return input{kind: inputPipe}
	case isStdin(w.text):
		return before
	case !w.known:
		return input{kind: inputDynamic}
	}
	return input{kind: inputFile}
}

// document is the text of a here-document, if nothing is put into it.
func (j *judge) document(r *syntax.Redirect) input {
	if r.Hdoc == nil {
		return input{kind: inputText}
	}
	quoted := slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool {
		lit, plain := p.(*syntax.Lit)
		return !plain || strings.Contains(lit.Value, "\\")
	})
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, plain := part.(*syntax.Lit)
		switch {
		case !plain:
			return input{kind: inputDynamic}
		case quoted:
			b.WriteString(lit.Value)
		default:
			b.WriteString(unescape(lit.Value, "$`\\\n"))
		}
	}
	text := b.String()
	if r.Op == syntax.DashHdoc {
		text = strings.ReplaceAll("\n"+text, "\n\t", "\n")
	}
	return input{kind: inputText, text: text}
}

// isStdin reports whether a path is the standard input itself.
func isStdin(name string) bool {
	return slices.Contains([]string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, name)
}

// redirect judges one redirection. They are part of no command: they happen
// whether or not the command is found.
func (j *judge) redirect(r *syntax.Redirect) {
	if r.N != nil && !slices.Contains([]string{"0", "1", "2"}, r.N.Value) {
		grade := Unproven
		if strings.ContainsAny(r.N.Value, "[$`") {
			grade = Unsafe
		}
		j.structure(finding{grade, "shell.redirect", says("%s opens a descriptor that later commands inherit; redirect only 0, 1 and 2", brief(r.N.Value))})
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			j.look(r.Hdoc)
		}
	case syntax.WordHdoc:
		j.look(r.Word)
	case syntax.RdrIn, syntax.RdrInOut:
		j.reads(r)
	case syntax.DplIn:
		j.duplicate(r, j.word(r.Word))
	case syntax.DplOut:
		if w := j.target(r); isDescriptor(w.text) || !w.known {
			j.duplicate(r, w)
		} else {
			j.writes(w)
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		j.writes(j.target(r))
	default:
		j.structure(finding{Unsafe, "shell.redirect", says("the redirection %s is nothing that is known; use > or <", r.Op)})
		j.look(r.Word)
	}
}

// target decodes the word of a redirection. The commands of >(...) get all that
// is written to it.
func (j *judge) target(r *syntax.Redirect) word {
	if len(r.Word.Parts) == 1 {
		if p, is := r.Word.Parts[0].(*syntax.ProcSubst); is {
			j.process(p, true)
			return j.peek(r.Word)
		}
	}
	return j.word(r.Word)
}

// isDescriptor reports whether the word of >& or <& is no file: digits, a minus
// for closing, or digits and a minus for moving.
func isDescriptor(text string) bool {
	return text != "" && strings.Trim(strings.TrimSuffix(text, "-"), "0123456789") == ""
}

func (j *judge) duplicate(r *syntax.Redirect, w word) {
	if w.known && slices.Contains([]string{"0", "1", "2", "-"}, w.text) {
		j.structure(w.why)
		return
	}
	j.structure(finding{Unproven, "shell.redirect", says("%s%s takes a descriptor that nobody knows; use only 0, 1 and 2", r.Op, brief(w.source))})
}

func (j *judge) reads(r *syntax.Redirect) {
	w := j.word(r.Word)
	j.structure(w.why)
	if !w.known {
		return
	}
	if r.Op == syntax.RdrInOut {
		j.structure(finding{Unproven, "shell.redirect", says("<> makes %s when it is not there; read it with <", brief(w.source))})
	}
	if w.glob {
		j.structure(finding{Unproven, "shell.path", says("%s is a pattern; name the file", brief(w.source))})
	}
	for _, place := range j.places() {
		abs, inside := place.resolveRead(w.text)
		switch {
		case w.text == "-": // a file of that name, for a redirection knows no streams
		case isNetwork(abs):
			j.structure(finding{Unsafe, "shell.redirect", says("%s opens a connection; use a web tool", abs)})
		case secret(abs):
			j.structure(place.leak(finding{Unsafe, "shell.path", says("%s holds credentials, which nothing reads unasked; do without it", abs)}))
		case slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/urandom"}, abs) && r.Op == syntax.RdrIn:
		case r.Op == syntax.RdrInOut && isDevice(abs):
			j.structure(device(abs))
		case !inside:
			j.structure(finding{Unsafe, "shell.path", says("< reads %s, which is outside the workspace; read files below %s", abs, place.Workspace)})
		}
	}
}

// writes judges what a redirection would overwrite.
func (j *judge) writes(w word) {
	j.structure(w.why)
	if !w.known {
		return
	}
	if w.glob {
		j.structure(finding{Unproven, "shell.path", says("%s is a pattern; name the file", brief(w.source))})
	}
	for _, place := range j.places() {
		if w.text == "-" {
			w.text = "./-"
		}
		j.structure(written(w.text, place))
	}
}

// written is the finding about one file that a redirection writes.
func written(name string, place Place) finding {
	abs, found := place.target(name)
	switch {
	case found.Class == protect.Asked:
		return finding{Unproven, "shell.path", says("%s is written, and a person agrees to that: %s; leave it to the person", abs, found.Reason)}
	case found.Class == protect.Refused:
		return finding{Unsafe, "shell.path", says("%s is protected: %s, so nothing may write it; write another file", abs, found.Reason)}
	case abs == "/dev/null", abs == "/dev/stdout", abs == "/dev/stderr":
		return finding{}
	case isNetwork(abs):
		return finding{Unsafe, "shell.redirect", says("%s opens a connection; use a web tool", abs)}
	case isDevice(abs):
		return device(abs)
	case place.holds(abs) && abs != place.Workspace:
		return finding{Contained, "shell.redirect", says("writes %s", abs)}
	case secret(abs):
		return finding{Unsafe, "shell.path", says("%s is where credentials lie; write below %s", abs, place.Workspace)}
	case slices.Contains(devices, abs), strings.HasPrefix(abs, "/dev/fd/"), strings.HasPrefix(abs, "/dev/shm/"):
		return finding{Unproven, "shell.path", says("%s is no file of the workspace; write below %s", abs, place.Workspace)}
	case abs == "/tmp", strings.HasPrefix(abs, "/tmp/"), strings.HasPrefix(abs, path.Clean(place.Home)+"/"):
		return finding{Unproven, "shell.path", says("%s is outside the workspace; write below %s", abs, place.Workspace)}
	}
	return finding{Unsafe, "shell.path", says("%s is outside the workspace; write below %s", abs, place.Workspace)}
}

// isNetwork reports whether bash opens a connection instead of a file.
func isNetwork(abs string) bool {
	return strings.HasPrefix(abs, "/dev/tcp/") || strings.HasPrefix(abs, "/dev/udp/")
}
