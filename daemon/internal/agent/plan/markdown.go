package plan

import (
	"regexp"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// section is a heading of Markdown with what stands below it, up to the next heading of its level or a higher one.
type section struct {
	level int // 1 or 2; 0 is what stands above the first heading
	title string
	line  int
	lines []string
}

var (
	heading = regexp.MustCompile(`^ {0,3}(#{1,2})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	fence   = regexp.MustCompile("^ {0,}(`{3,}|~{3,})(.*)$")
	item    = regexp.MustCompile(`^( {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)[ \t]*)(.*)$`)
	under   = regexp.MustCompile(`^ {0,3}(?:=+|-+)[ \t]*$`)
)

// fenced follows blocks of code, in which nothing is a heading or an item.
type fenced struct {
	mark string // that opened the block; empty is outside of one
	line int
}

// takes reports whether a line belongs to a block.
func (f *fenced) takes(text string, line int) bool {
	m := fence.FindStringSubmatch(text)
	switch {
	case f.mark == "" && m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")):
		f.mark, f.line = m[1], line
		return true
	case f.mark == "":
		return false
	case m != nil && m[1][0] == f.mark[0] && len(m[1]) >= len(f.mark) && strings.TrimSpace(m[2]) == "":
		f.mark = ""
	}
	return true
}

// comment follows comments of HTML that begin a line. What a person has commented out is no part of a plan.
type comment struct{ line int } // of one that has no end yet; 0 is outside of one

// cut is what a line has outside of comments.
func (c *comment) cut(text string, line int) string {
	if c.line == 0 {
		_, begun, is := strings.Cut(text, "<!--")
		if !is || strings.TrimSpace(text[:len(text)-len("<!--")-len(begun)]) != "" {
			return text
		}
		c.line, text = line, begun
	}
	_, rest, ended := strings.Cut(text, "-->")
	if !ended {
		return ""
	}
	c.line = 0
	return c.cut(rest, line)
}

// markdown reads a plan of headings: a title and a heading for each step, or the headings of the other form.
func (r *reader) markdown(src string) Plan {
	all := r.sections(src)
	if len(r.found) > 0 {
		return Plan{}
	}
	if strings.TrimSpace(strings.Join(all[0].lines, "")) != "" {
		r.wrong(1, "something stands above the title: a plan begins with # and its name")
	}
	title, rest := section{}, all[1:]
	if len(rest) > 0 && rest[0].level == 1 {
		title, rest = rest[0], rest[1:]
	}
	for _, s := range rest {
		if s.level == 1 {
			r.wrong(s.line, "a second title: a plan has one, and its steps begin with ##")
		}
		if strings.EqualFold(s.title, "instructions") {
			return r.goalOf(title, rest)
		}
	}
	p := Plan{Goal: r.title("the name of the plan, its title (# NAME),", title.title, title.line), Description: block(title.lines)}
	for i, s := range rest {
		name := s.title
		if strings.TrimSpace(name) == "" {
			r.wrong(s.line, "step %d has no name: its heading says one", i+1)
		}
		step := Step{Name: r.titleOf(name, s.line)}
		step.Action, step.Context = split(s.lines)
		r.action(step, s.line)
		p.Steps = append(p.Steps, step)
	}
	return p
}

// titleOf is the name of a step, which is not empty.
func (r *reader) titleOf(name string, line int) string {
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return r.title("the name of a step", name, line)
}

// goalOf reads the form with a goal, a context and instructions.
func (r *reader) goalOf(title section, rest []section) (p Plan) {
	p.Goal, p.Description = title.title, block(title.lines)
	at := title.line
	seen := map[string]int{}
	for _, s := range rest {
		name := strings.ToLower(s.title)
		if first := seen[name]; first > 0 {
			r.wrong(s.line, "the section %s stands in line %d already", s.title, first)
		}
		seen[name] = s.line
		switch name {
		case "goal":
			if title.line > 0 {
				r.wrong(s.line, "the goal stands twice: as the title in line %d and as a section; leave one out", title.line)
			}
			p.Goal, at = block(s.lines), s.line
		case "context":
			p.Context = block(s.lines)
		case "instructions":
			p.Steps = r.instructions(s)
		default:
			r.wrong(s.line, "a plan with a section Instructions has beside it Goal and Context, and no %q", sdk.Excerpt(s.title))
		}
	}
	p.Goal = r.title("the goal of the plan", p.Goal, at)
	return p
}

// instructions are the items of a list, each with the lines below it; a list below an item is part of it.
func (r *reader) instructions(s section) (steps []Step) {
	var lines []string
	begun, at, inside := false, 0, 0 // in which column the words of the item begin
	end := func() {
		if !begun {
			return
		}
		step := Step{}
		if step.Action, step.Context = split(lines); step.Action == "" {
			r.wrong(at, "instruction %d is empty: say what is to be done", len(steps)+1)
		}
		steps = append(steps, step)
	}
	var code fenced
	for i, text := range s.lines {
		line := s.line + 1 + i
		m := item.FindStringSubmatch(text)
		switch {
		case code.takes(text, line), m == nil, begun && len(text)-len(strings.TrimLeft(text, " ")) >= inside:
			if !begun && strings.TrimSpace(text) != "" {
				r.wrong(line, "the instructions are a list: begin each one with a number or a dash")
				return nil
			}
			lines = append(lines, unindent(text, inside))
		default:
			end()
			begun, at, inside, lines = true, line, max(len(m[1]), len(strings.TrimRight(m[1], " \t"))+1), []string{m[2]}
		}
	}
	end()
	return steps
}

// sections cuts a text at its headings.
func (r *reader) sections(src string) []section {
	all := []section{{}}
	var code fenced
	var out comment
	for i, text := range strings.Split(src, "\n") {
		if code.mark == "" {
			text = out.cut(text, i+1)
		}
		m := heading.FindStringSubmatch(text)
		last := &all[len(all)-1]
		if code.takes(text, i+1) || m == nil {
			if code.mark == "" && under.MatchString(text) && last.endsInWords() {
				r.wrong(i+1, "a heading that is underlined is not read: begin it with #, or one of a step with ##")
			}
			last.lines = append(last.lines, text)
			continue
		}
		all = append(all, section{level: len(m[1]), title: strings.TrimSpace(m[2]), line: i + 1})
	}
	if out.line > 0 {
		r.wrong(out.line, "the comment that begins here has no end: close it with -->")
	}
	if code.mark != "" {
		r.wrong(code.line, "the block of code that begins here has no end: close it with %s", code.mark)
	}
	return all
}

// endsInWords reports whether a line that underlines makes a heading of the one above it, which is no item of a list.
func (s section) endsInWords() bool {
	if len(s.lines) == 0 {
		return false
	}
	above := s.lines[len(s.lines)-1]
	return strings.TrimSpace(above) != "" && !item.MatchString(above) && !fence.MatchString(above)
}

// split parts the words of a step from the first block of code on, which is its context.
func split(lines []string) (action, context string) {
	var code fenced
	for i, text := range lines {
		if code.takes(text, 0) {
			return block(lines[:i]), block(lines[i:])
		}
	}
	return block(lines), ""
}

// block is lines without the empty ones around them.
func block(lines []string) string {
	return strings.TrimRight(strings.Trim(strings.Join(lines, "\n"), "\n"), " \t\n")
}

// unindent takes away what puts a line below its item, whose words begin in this column.
func unindent(text string, inside int) string {
	spaces := len(text) - len(strings.TrimLeft(text, " "))
	return text[min(spaces, inside):]
}
