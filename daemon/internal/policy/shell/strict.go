package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Strict says what a line does when it is no script but words, and runs without
// a shell: one program, its options and operands, quoted as in a shell. A line
// that would need a shell is Denied, for nothing can run it. What is neither
// proven nor contained is refused in every mode, unless a rule allows the
// command. Report.Argv is what is to be run.
func Strict(line string, at Place) Report {
	r := Analyse(line, at)
	refuse := func(f finding) Report {
		if f.grade >= r.Grade {
			r.Grade, r.Rule, r.Reason, r.Instead = f.grade, f.rule, f.reason, f.instead
		}
		r.Structure, r.Argv = max(r.Structure, f.grade), nil
		return r
	}
	if f := checkBytes(line); f.grade != Proven {
		return refuse(f)
	}
	stmts, f := single(line)
	if f.grade != Proven {
		return refuse(f)
	}
	j := newJudge(line, at)
	call := stmts.Cmd.(*syntax.CallExpr)
	argv := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		d := j.peek(w)
		if f := literal(d); f.grade != Proven {
			return refuse(f)
		}
		argv = append(argv, d.text)
	}
	if f := strictName(argv); f.grade != Proven {
		return refuse(f)
	}
	return strictly(r, argv, at)
}

// single is the one simple command of a line.
func single(line string) (*syntax.Stmt, finding) {
	denied := func(format string, args ...any) (*syntax.Stmt, finding) {
		return nil, finding{Denied, "shell.argv", says(format, args...)}
	}
	if line == "" {
		return denied("the command is empty; name a program")
	}
	if strings.Trim(line, " \t\n") == "" {
		return denied("the command is only blanks; name a program")
	}
	stmts, err := parse(line)
	switch {
	case err != nil && (strings.Contains(err.Error(), "closing quote") || strings.Contains(err.Error(), "without closing")):
		return denied("a quote is opened and never closed; close it")
	case err != nil:
		return denied("the command cannot be read, and there is no shell here: %v; put such characters in quotes", err)
	case len(stmts) == 0:
		return denied("the command is only a comment; name a program")
	case len(stmts) > 1:
		return denied("there is no shell here, so ; and new lines cannot join commands; send one command at a time")
	}
	s := stmts[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	switch {
	case s.Background:
		return denied("there is no shell here, so & cannot leave a command running; send the command alone")
	case s.Semicolon.IsValid():
		return denied("there is no shell here, so ; has no meaning; send the command alone")
	case s.Negated:
		return denied("there is no shell here, so ! has no meaning; send the command alone")
	case len(s.Redirs) > 0:
		return denied("there is no shell here, so %s cannot redirect; use a tool that writes or reads the file", s.Redirs[0].Op)
	case !simple:
		return denied("there is no shell here, so %s cannot run; send one simple command at a time", construct(s.Cmd))
	case len(call.Assigns) > 0:
		return denied("there is no shell here, so %s= cannot be set before a command; send the command alone", call.Assigns[0].Name.Value)
	}
	return s, finding{}
}

// construct names what only a shell knows.
func construct(cmd syntax.Command) string {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		return c.Op.String()
	case *syntax.TimeClause:
		return "the keyword time"
	case *syntax.DeclClause:
		return c.Variant.Value
	case *syntax.LetClause:
		return "let"
	case *syntax.FuncDecl:
		return "a function"
	}
	return "a construct of the shell"
}

// literal refuses a word that is more than its letters.
func literal(d word) finding {
	denied := func(what string) finding {
		return finding{Denied, "shell.argv", says("there is no shell here, so %s in %s has no meaning; write the value, or put it in single quotes", what, brief(d.source))}
	}
	switch {
	case d.tilde || d.why.rule == "shell.path":
		return denied("~")
	case !d.known || d.why.grade > Proven:
		if strings.Contains(d.source, "`") {
			return denied("`")
		}
		if strings.Contains(d.source, "$") {
			return denied("$")
		}
		return denied("what bash would expand")
	case d.glob:
		return denied("a pattern")
	}
	return finding{}
}

// strictName refuses names that a PATH does not find.
func strictName(argv []string) finding {
	name := argv[0]
	denied := func(format string, args ...any) finding {
		return finding{Denied, "shell.argv", says(format, args...)}
	}
	switch {
	case name == "":
		return denied("the name of the program is empty; name a program")
	case strings.Contains(name, "/"):
		return denied("%q is a path; call programs by their bare names", brief(name))
	case shells[name]:
		return denied("%s runs a text in a shell, and there is no shell here; send the command itself", name)
	case name != "env" && name != "find" && wrappers[name] != nil && programs[name] == nil && !slices.Contains([]string{"xargs", "parallel"}, name):
		return denied("%s runs another command; send that one itself", name)
	case name == "env" && len(argv) > 1:
		return denied("env runs another command; send that one itself, or env alone")
	case isBuiltin(name) && !slices.Contains([]string{"echo", "printf", "test", "[", "true", "false", "pwd", "kill"}, name):
		return denied("%s is a part of a shell, and there is no shell here; send a program", name)
	}
	return finding{}
}

// strictly grades a call of a program.
func strictly(r Report, argv []string, at Place) Report {
	r.Argv = argv
	if judge := strictPrograms[argv[0]]; judge != nil && (r.Grade == Unproven || r.Grade == Contained) && len(r.Commands) == 1 {
		f := judge(call{argv: argv, place: at})
		r.Grade, r.Rule, r.Reason, r.Instead = f.grade, f.rule, f.reason, f.instead
		r.Commands[0].Grade, r.Commands[0].Rule, r.Commands[0].Reason, r.Commands[0].Instead = f.grade, f.rule, f.reason, f.instead
	}
	return r
}
