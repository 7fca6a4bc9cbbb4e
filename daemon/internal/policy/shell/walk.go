package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (j *judge) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		j.succeeded = nil
		j.stmt(s)
	}
	j.succeeded = nil
}

// stmt judges one statement: what it runs, then what it redirects.
func (j *judge) stmt(s *syntax.Stmt) {
	inner := *j
	inner.stdin = j.input(s.Redirs)
	inner.succeeded = nil
	if s.Coprocess || s.Disown {
		j.structure(finding{Unsafe, "shell.syntax", says("|& at an end and &| are nothing that bash knows; leave them out")})
	}
	if s.Background {
		j.structure(finding{Unproven, "shell.background", says("& leaves a command running, and everything is ended when the line returns; run it in the foreground")})
	}
	inner.tree(s.Cmd)
	for _, r := range s.Redirs {
		j.redirect(r) // which stands where the command began
	}
	if s.Background {
		return
	}
	j.dirs, j.succeeded = inner.dirs, inner.succeeded
	if s.Negated {
		j.succeeded = nil
	}
}

// tree judges one kind of command each. A kind that is not named here is not
// known, and never proven.
func (j *judge) tree(cmd syntax.Command) {
	switch c := cmd.(type) {
	case nil: // only redirections
	case *syntax.CallExpr:
		j.call(c)
	case *syntax.BinaryCmd:
		j.binary(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			j.stmt(c.Stmt)
		}
	case *syntax.Block:
		j.contained("{ ...; }")
		j.stmts(c.Stmts)
	case *syntax.Subshell:
		j.contained("( ... )")
		j.substatements(c.Stmts)
	case *syntax.IfClause:
		j.contained("if")
		j.branches(c)
	case *syntax.WhileClause:
		j.control("while")
		j.loop(c.Cond, c.Do)
	case *syntax.ForClause:
		j.forClause(c)
	case *syntax.CaseClause:
		j.control("case")
		j.caseClause(c)
	case *syntax.FuncDecl:
		j.function(c)
	case *syntax.ArithmCmd:
		j.control("((...))")
		j.arithmetic(c.X)
	case *syntax.TestClause:
		j.control("[[ ... ]]")
		j.test(c.X)
	case *syntax.DeclClause:
		j.declare(c)
	case *syntax.LetClause:
		j.let(c)
	case *syntax.CoprocClause:
		j.structure(finding{Unproven, "shell.background", says("coproc leaves a command running beside the line; run it in the foreground")})
		j.look(c.Name)
		inner := *j
		inner.stdin = input{kind: inputProc}
		inner.stmt(c.Stmt)
	default:
		j.structure(finding{Unsafe, "shell.syntax", says("%T is nothing that is known; write it with plain commands", cmd)})
	}
}

func (j *judge) control(what string) {
	j.structure(finding{Unproven, "shell.control", says("with %s nobody can say beforehand which commands run, and how often; write them one after the other, with && between", what)})
}

// contained notes what runs no other commands than those that stand in it.
func (j *judge) contained(what string) {
	j.structure(finding{Contained, "shell.control", says("%s runs only what stands in it", what)})
}

// substatements judges what runs in a shell of its own, whose directory the
// line does not share.
func (j *judge) substatements(list []*syntax.Stmt) {
	inner := *j
	inner.stmts(list)
}

func (j *judge) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		if c.Op == syntax.PipeAll {
			j.structure(finding{Unproven, "shell.redirect", says("|& sends errors along with the output; write 2>&1 |")})
		}
		left, right := *j, *j
		left.stmt(c.X)
		right.stdin = input{kind: inputPipe}
		if y, simple := c.Y.Cmd.(*syntax.CallExpr); simple && len(y.Args) > 0 && y.Args[0].Lit() == "xargs" {
			right.stdin.names, right.stdin.whole = j.lists(c.X), j.whole(c.X)
		}
		right.stmt(c.Y)
	case syntax.AndStmt:
		j.stmt(c.X)
		failed := j.dirs
		if j.succeeded != nil {
			j.dirs = j.succeeded
		}
		j.stmt(c.Y)
		if j.succeeded == nil {
			j.succeeded = j.dirs
		}
		j.dirs = union(failed, j.dirs)
	case syntax.OrStmt:
		j.stmt(c.X)
		after := j.dirs
		j.stmt(c.Y)
		j.dirs, j.succeeded = union(after, j.dirs), nil
	default:
		j.structure(finding{Unsafe, "shell.syntax", says("%s between commands is nothing that is known; use && or |", c.Op)})
		j.stmt(c.X)
		j.stmt(c.Y)
	}
}

func (j *judge) branches(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		j.stmts(c.Cond)
		before := j.dirs
		j.stmts(c.Then)
		j.dirs = union(before, j.dirs)
	}
}

// loop judges bodies that run often: where they change the directory, nobody
// knows where the next round starts, and they are judged for that, too.
func (j *judge) loop(bodies ...[]*syntax.Stmt) {
	before, start := j.dirs, len(j.out.commands)
	for _, body := range bodies {
		j.stmts(body)
	}
	if len(union(before, j.dirs)) == len(before) {
		return
	}
	if j.dirs = nil; j.again { // or loops in loops would cost twice as much each
		return
	}
	next := *j
	next.again, next.out = true, &tally{calls: map[string][]string{}}
	for _, body := range bodies {
		next.stmts(body)
	}
	j.merge(start, next.out)
}

func (j *judge) forClause(c *syntax.ForClause) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		if c.Select {
			j.control("select")
		}
		j.contained("for")
		j.structure(loopName(l.Name.Value))
		for _, w := range l.Items {
			j.look(w)
		}
		j.each(l, c.Do)
		return
	case *syntax.CStyleLoop:
		j.control("for")
		j.arithmetic(l.Init)
		j.arithmetic(l.Cond)
		j.arithmetic(l.Post)
	default:
		j.structure(finding{Unsafe, "shell.syntax", says("this loop is nothing that is known; write the commands one after the other")})
	}
	j.loop(c.Do)
}

func (j *judge) caseClause(c *syntax.CaseClause) {
	j.look(c.Word)
	before := j.dirs
	for _, item := range c.Items {
		for _, pattern := range item.Patterns {
			j.look(pattern)
		}
		j.stmts(item.Stmts)
		before = union(before, j.dirs)
	}
	j.dirs = before
}

// function judges a body as if it ran here. Calling it changes what every name
// after it means, so nothing is proven from here on.
func (j *judge) function(c *syntax.FuncDecl) {
	name := "a function"
	if c.Name != nil {
		name = c.Name.Value
	}
	j.structure(finding{Unsafe, "shell.function", says("%q is given a meaning of its own, so that names no longer say what runs; write the commands out, or a script file", name)})
	if j.out.calls[name] == nil {
		j.out.calls[name] = []string{}
	}
	inner := *j
	inner.functions = append(append([]string{}, j.functions...), name)
	if len(inner.functions) > depthCap {
		j.structure(finding{Denied, "shell.size", says("there are functions in functions without end; write a script file")})
		return
	}
	inner.stmt(c.Body)
	j.dirs = union(j.dirs, inner.dirs)
}

// substitution judges what $(...) runs.
func (j *judge) substitution(list []*syntax.Stmt) {
	j.structure(finding{Unproven, "shell.substitution", says("$(...) puts in what a command says, which nobody can see beforehand; run it first and write down what it said")})
	j.substatements(list)
}

// process judges what <(...) or >(...) runs. What is written to the latter comes
// by a pipe: of the whole output, or of what the command makes of its own input.
func (j *judge) process(p *syntax.ProcSubst, output bool) {
	j.structure(finding{Unproven, "shell.substitution", says("<(...) and >(...) join commands by a hidden pipe; use a file in the workspace")})
	inner := *j
	if p.Op == syntax.CmdOut {
		kind := inputProc
		if output || j.stdin.kind == inputPipe {
			kind = inputPipe
		}
		inner.stdin = input{kind: kind}
	}
	inner.stmts(p.Stmts)
}

// plainSubscript is an index that evaluates nothing.
var plainSubscript = regexp.MustCompile(`^([0-9]+|[A-Za-z_][A-Za-z0-9_]*|[@*])$`)

// subscript judges an index. Bash evaluates it, commands in it included.
func (j *judge) subscript(x syntax.ArithmExpr) {
	j.arithmetic(x)
	if w, is := x.(*syntax.Word); is && plainSubscript.MatchString(j.slice(w.Pos().Offset(), w.End().Offset())) {
		return
	}
	j.structure(finding{Unsafe, "shell.dynamic", says("the index %s is evaluated, commands in it included; use a number", j.brief(x))})
}

// arithmetic judges an expression. The value of a name in it is evaluated once
// more, so only numbers and names without an index are let by.
func (j *judge) arithmetic(x syntax.ArithmExpr) {
	switch e := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		j.arithmetic(e.X)
		j.arithmetic(e.Y)
	case *syntax.UnaryArithm:
		j.arithmetic(e.X)
	case *syntax.ParenArithm:
		j.arithmetic(e.X)
	case *syntax.Word:
		d := j.word(e)
		j.structure(d.why)
		if _, index := indexed(e); index || strings.ContainsAny(d.text, "[`") || strings.Contains(d.source, "$(") && d.known {
			j.structure(finding{Unsafe, "shell.dynamic", says("%s has an index, which bash evaluates, commands in it included; use plain names and numbers", brief(d.source))})
		}
	default:
		j.structure(finding{Unsafe, "shell.syntax", says("%T in arithmetic is nothing that is known; write the number", x)})
	}
}

// indexed reports whether a word of arithmetic is a name with an index that is
// more than a number or a name.
func indexed(w *syntax.Word) (*syntax.ParamExp, bool) {
	for _, part := range w.Parts {
		if p, is := part.(*syntax.ParamExp); is && p.Index != nil {
			inner, word := p.Index.(*syntax.Word)
			return p, !word || !plainSubscript.MatchString(inner.Lit())
		}
	}
	return nil, false
}

// test judges [[ ... ]]. Some of its operators evaluate their operands.
func (j *judge) test(x syntax.TestExpr) {
	switch e := x.(type) {
	case *syntax.BinaryTest:
		switch e.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			j.evaluated(e.X)
			j.evaluated(e.Y)
		}
		j.test(e.X)
		j.test(e.Y)
	case *syntax.UnaryTest:
		if e.Op == syntax.TsVarSet || e.Op == syntax.TsRefVar {
			j.structure(finding{Unsafe, "shell.dynamic", says("[[ %s evaluates the index of a name, commands in it included; test the value with -n", e.Op)})
		}
		j.test(e.X)
	case *syntax.ParenTest:
		j.test(e.X)
	case *syntax.Word:
		j.look(e)
	default:
		j.structure(finding{Unsafe, "shell.syntax", says("%T in [[ ]] is nothing that is known; write a plain test", x)})
	}
}

// evaluated judges an operand of -eq and its like, which is arithmetic.
func (j *judge) evaluated(x syntax.TestExpr) {
	w, is := x.(*syntax.Word)
	if !is {
		return
	}
	if d := j.peek(w); strings.ContainsAny(d.text, "[`$(") && !(len(w.Parts) == 1 && !d.known && !strings.ContainsAny(d.text, "[`(")) {
		j.structure(finding{Unsafe, "shell.dynamic", says("%s is evaluated as arithmetic, commands in it included; compare plain numbers with [ ]", brief(d.source))})
	}
}
