package shell

import (
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// The budget of one line. What is over it is never allowed.
const (
	commandCap = 500 // commands, however deep
	wrapperCap = 4   // wrappers in wrappers
	depthCap   = 16  // texts in texts, and wrappers: further down nobody looks
)

// Analyse says what a line does when bash runs it at a place. It never fails:
// a line that it cannot read is Unsafe, or Denied when its bytes are at fault.
func Analyse(line string, at Place) Report {
	j := newJudge(line, at)
	if f := checkBytes(line); f.grade != Proven {
		j.structure(f)
		return j.report()
	}
	stmts := j.script()
	if name, found := j.out.recursive(); found {
		j.structure(finding{Denied, "shell.deny", says("the function %q calls itself, which fills the machine with processes; use a loop", name)})
	}
	r := j.report()
	r.Argv = j.plain(stmts, &r)
	return r
}

func (j *judge) report() Report {
	return Report{
		Grade: j.out.worst.grade, Rule: j.out.worst.rule, Reason: j.out.worst.reason, Instead: j.out.worst.instead,
		Commands: j.out.commands, Structure: j.out.structure, Refused: *j.at.refused, Secret: *j.at.secrets,
	}
}

// script parses the judge's text and judges it all.
func (j *judge) script() []*syntax.Stmt {
	stmts, err := parse(j.src)
	switch {
	case err != nil:
		// What stands before the mistake may well run before bash sees it.
		j.structure(finding{Unsafe, "shell.syntax", says("the line cannot be read as bash: %s; correct it", strings.TrimPrefix(err.Error(), "line:"))})
	case len(stmts) == 0:
		j.structure(finding{Unsafe, "shell.syntax", says("there is no command in the line; write one")})
	}
	j.stmts(stmts)
	return stmts
}

// parsers are used again: to make one costs more than to parse a usual line.
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// parse reads a text as bash. With an error it returns what came before it.
func parse(text string) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if p := recover(); p != nil { // a mistake of the parser's must not take the daemon along
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	parser := parsers.Get().(*syntax.Parser)
	for stmt, failed := range parser.StmtsSeq(strings.NewReader(text)) {
		if failed != nil {
			return stmts, failed
		}
		stmts = append(stmts, stmt)
	}
	parsers.Put(parser) // one that failed is thrown away
	return stmts, nil
}

// plain is the argv of a line that is one simple command and needs no shell to
// be what bash would make of it.
func (j *judge) plain(stmts []*syntax.Stmt, r *Report) []string {
	if len(stmts) != 1 || r.Structure != Proven || len(r.Commands) == 0 {
		return nil
	}
	s := stmts[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || s.Negated || s.Background || len(s.Redirs)+len(call.Assigns) > 0 {
		return nil
	}
	argv := r.Commands[0].Argv
	if len(argv) != len(call.Args) || argv[0] == "" || strings.Contains(argv[0], "/") || shells[argv[0]] || isBuiltin(argv[0]) {
		return nil
	}
	for _, w := range call.Args {
		if d := j.peek(w); d.glob || d.tilde {
			return nil
		}
	}
	return argv
}
