package tags

import "strings"

// elements reads a body that has a tag for each argument and nothing else, as Cline writes calls: <get><path>a.go</path></get>. It is one
// only where it says what the tool cannot do without and no attribute does, so that a text which looks like that stays a text.
func (m *making) elements(text string) bool {
	if m.said || len(m.call.Arguments) > 0 {
		return false
	}
	var all []Argument
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		name, behind, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if _, known := m.t.types[m.t.argument(name)]; !ok || !known || rest[0] != '<' {
			return false
		}
		value, after, ok := strings.Cut(behind, "</"+name+">")
		if !ok {
			return false
		}
		at := trimmed(value, Range{0, len(value)})
		all, rest = append(all, Argument{name, value[at.Start:at.End]}), after
	}
	for _, name := range m.t.required {
		if !has(all, m.t, name) {
			return false
		}
	}
	if len(m.t.required) == 0 {
		return false
	}
	for _, a := range all {
		m.argument(a.Name, a.Value)
	}
	return true
}

// has reports whether arguments have one of a name, by whichever of its names.
func has(all []Argument, t *tool, name string) bool {
	for _, a := range all {
		if t.argument(a.Name) == name {
			return true
		}
	}
	return false
}
