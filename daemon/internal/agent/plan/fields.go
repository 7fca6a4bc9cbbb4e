package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// The two forms of a plan.
var (
	goalForm = []string{"goal", "context", "instructions"}
	stepForm = []string{"name", "description", "version", "steps"}
	ofStep   = []string{"name", "action", "context"}
)

// forms is how a person is told of them.
const forms = "a plan is goal, context and instructions, or name, description and steps"

// plan reads a plan of YAML or JSON.
func (r *reader) plan(v value) (p Plan) {
	if v.kind != fields {
		r.wrong(v.line, "this is %s: %s", v.kind, forms)
		return p
	}
	form := goalForm
	if slices.ContainsFunc(v.fields, func(f field) bool { return slices.Contains(stepForm, f.name) }) {
		form = stepForm
	}
	had := r.fields(v, form, "the plan")
	if len(r.found) > 0 {
		return p
	}
	if slices.Equal(form, goalForm) {
		p.Goal = r.title("the goal of the plan", r.text(had, "goal"), had["goal"].at(v.line))
		p.Context = r.context(had["context"])
		for _, item := range r.list(had["instructions"], "instructions") {
			p.Steps = append(p.Steps, Step{Action: r.instruction(item, len(p.Steps)+1)})
		}
		return p
	}
	p.Goal = r.title("the name of the plan", r.text(had, "name"), had["name"].at(v.line))
	p.Description = strings.TrimSpace(r.text(had, "description"))
	for _, item := range r.list(had["steps"], "steps") {
		p.Steps = append(p.Steps, r.step(item, len(p.Steps)+1))
	}
	return p
}

// fields are those of a value by name, each of which may stand once.
func (r *reader) fields(v value, known []string, of string) map[string]field {
	had := map[string]field{}
	for _, f := range v.fields {
		first, twice := had[f.name]
		switch {
		case !slices.Contains(known, f.name):
			why := "it has " + strings.Join(known, ", ")
			if of == "the plan" {
				why = forms
			}
			r.wrong(f.line, "%s has no field %q: %s", of, sdk.Excerpt(f.name), why)
		case twice:
			r.wrong(f.line, "the field %s of %s stands in line %d already", f.name, of, first.line)
		}
		had[f.name] = f
	}
	return had
}

// at is the line of a field, or of what should have it.
func (f field) at(line int) int {
	if f.line > 0 {
		return f.line
	}
	return line
}

// text is that of a field; empty where it has none.
func (r *reader) text(had map[string]field, name string) string {
	f := had[name]
	if f.kind == list || f.kind == fields {
		r.wrong(f.line, "%s is a text, and this is %s", name, f.kind)
	}
	return f.text
}

// list are the items of a field, which no field has as well.
func (r *reader) list(f field, name string) []value {
	if f.kind == text || f.kind == fields {
		r.wrong(f.line, "%s is a list, and this is %s", name, f.kind)
	}
	return f.items
}

func (r *reader) instruction(v value, number int) string {
	action := strings.TrimSpace(v.text)
	switch {
	case v.kind == list || v.kind == fields:
		r.wrong(v.line, "instruction %d is a text, and this is %s; in YAML a text with a colon needs quotes", number, v.kind)
	case action == "":
		r.wrong(v.line, "instruction %d is empty: say what is to be done", number)
	}
	return action
}

func (r *reader) step(v value, number int) (s Step) {
	of := fmt.Sprintf("step %d", number)
	if v.kind != fields {
		r.wrong(v.line, "%s is %s: a step has a name, an action and, if it needs one, a context", of, v.kind)
		return s
	}
	had := r.fields(v, ofStep, of)
	s.Name = r.text(had, "name")
	s.Name = r.title("the name of "+of, s.Name, had["name"].at(v.line))
	s.Action = strings.TrimSpace(r.text(had, "action"))
	s.Context = r.context(had["context"])
	r.action(s, had["action"].at(v.line))
	return s
}

// action refuses a step that has none.
func (r *reader) action(s Step, line int) {
	if s.Name != "" && s.Action == "" {
		r.wrong(line, "the step %q has no action: say what is to be done", s.Name)
	}
}

// context is a text as it stands, and of fields a line for each, as "- Directory: src/api/".
func (r *reader) context(f field) string {
	var lines []string
	switch f.kind {
	case fields:
		for _, x := range f.fields {
			lines = append(lines, "- "+capital(x.name)+": "+r.fact(x.value))
		}
	case list:
		for _, x := range f.items {
			lines = append(lines, "- "+r.fact(x))
		}
	default:
		return strings.Trim(f.text, "\n")
	}
	return strings.Join(lines, "\n")
}

// fact is one line of a context.
func (r *reader) fact(v value) string {
	switch v.kind {
	case list:
		var words []string
		for _, x := range v.items {
			if x.kind == list {
				r.wrong(x.line, "a list in a list cannot be read in a context")
				return ""
			}
			words = append(words, r.fact(x))
		}
		return strings.Join(words, ", ")
	case fields:
		r.wrong(v.line, "a context is a text, a list or names with their values, and no deeper")
	}
	return strings.TrimSpace(v.text)
}

func capital(name string) string {
	c, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(c)) + name[n:]
}
