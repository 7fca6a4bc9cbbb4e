package mcpfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// variable is what programs put in for a variable: ${X} and ${X:-default} (Claude Code,
// Gemini), ${env:X} and ${input:x} (VS Code, Cursor). A bare $X is text in all of them.
var variable = regexp.MustCompile(`\$\{(env:|input:)?([A-Za-z_][A-Za-z0-9_.-]*)(?::-([^}]*))?\}`)

// value reads a text of a server. name is that of the variable or header it is for; empty
// for an argument.
func (s *reading) value(name, text string) Value {
	if isKey(name, text) {
		return s.key(name, text)
	}
	var v Value
	at := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			v = append(v, Part{Text: text[at:m[0]]})
		}
		at = m[1]
		what := text[m[4]:m[5]]
		kind := ""
		if m[2] >= 0 {
			kind = text[m[2]:m[3]]
		}
		switch {
		case kind == "input:":
			label := s.secret(what, text[m[0]:m[1]])
			v = append(v, Part{Secret: label})
			s.note("It asks for %q when it starts: keep it with bothy auth login %s.", what, label)
		case strings.EqualFold(what, "workspaceFolder") && kind == "":
			v = append(v, Part{Text: text[m[0]:m[1]]})
			s.note("%s is the folder of a project there; here a server has none: write the path.", text[m[0]:m[1]])
		default:
			p := Part{Env: what}
			if m[6] >= 0 {
				standing := text[m[6]:m[7]]
				p.Default = &standing
			}
			v = append(v, p)
		}
	}
	if at < len(text) {
		v = append(v, Part{Text: text[at:]})
	}
	return v
}

// arguments are those of the command. One behind an option that is named as a key is, or that
// is a header or an assignment with one, holds it.
func (s *reading) arguments(args []string) {
	option := ""
	for _, a := range args {
		name, text := option, a
		option = ""
		head := ""
		flag, rest, joined := strings.Cut(a, "=")
		switch {
		case keyName(name) && !strings.HasPrefix(a, "-"): // all of it, also one that ends in =
			s.Args = append(s.Args, s.value(name, a))
			continue
		case joined && assigned.MatchString(flag):
			name, text, head = strings.TrimLeft(flag, "-"), rest, flag+"="
		case strings.HasPrefix(a, "-"):
			option, name = strings.TrimLeft(a, "-"), ""
		}
		// --env=NAME=VALUE
		if inner, rest, is := strings.Cut(text, "="); is && head != "" && !keyName(name) && assigned.MatchString(inner) {
			name, text, head = inner, rest, head+inner+"="
		}
		if header, rest, is := strings.Cut(text, ":"); is && (name == "H" || strings.EqualFold(name, "header") || keyName(header) && assigned.MatchString(header)) {
			name, text, head = strings.TrimSpace(header), strings.TrimLeft(rest, " "), head+header+": "
		}
		if head != "" && isKey(name, text) && !isKey("", head) {
			s.Args = append(s.Args, append(Value{{Text: head}}, s.key(name, text)...))
			continue
		}
		if head != "" {
			name = "" // what is before it counts, too, and is part of the text
		}
		s.Args = append(s.Args, s.value(name, a))
	}
}

// key puts the names of secrets in the place of the keys in a text: of the whole text, where
// what is around a key cannot be told from it.
func (s *reading) key(name, text string) Value {
	if !variable.MatchString(text) && !keyName(name) {
		if v := s.within(text); v != nil {
			return v
		}
	}
	var v Value
	if m := scheme.FindStringSubmatch(text); m != nil && !isKey("", m[1]) && !variable.MatchString(text) {
		v = append(v, Part{Text: m[1]})
		text = m[2]
	}
	return append(v, s.keep(name, text))
}

// mostWithin is how many keys of one URL are kept by themselves.
const mostWithin = 16

// within parts the keys in the password and the query of a URL from what is around them. It
// is nil where they lie elsewhere.
func (s *reading) within(text string) Value {
	m := address.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	v := Value{{Text: m[1]}}
	var around strings.Builder
	around.WriteString(m[1])
	type found struct{ name, text string }
	var keys []found
	add := func(head, name, key, tail string) {
		v = append(v, Part{Text: head}, Part{Secret: name}, Part{Text: tail})
		keys = append(keys, found{name, key})
		around.WriteString(head + blank + tail)
	}
	rest := m[2]
	if password := userinfo.FindStringSubmatch(rest); password != nil {
		add(password[1], "password", password[2], "@")
		rest = rest[len(password[0]):]
	}
	at := 0
	for _, m := range parameter.FindAllStringSubmatchIndex(rest, -1) {
		name, text := rest[m[2]:m[3]], rest[m[4]:m[5]]
		if isKey(name, text) {
			add(rest[at:m[4]], name, text, "")
			at = m[5]
		}
	}
	v = append(v, Part{Text: rest[at:]})
	if len(keys) == 0 || len(keys) > mostWithin || isKey("", around.String()+rest[at:]) {
		return nil
	}
	for i := range v {
		if v[i].Secret != "" {
			v[i] = s.keep(keys[0].name, keys[0].text)
			keys = keys[1:]
		}
	}
	return slices.DeleteFunc(v, func(p Part) bool { return p == Part{} })
}

// keep is the secret that stands for a key.
func (s *reading) keep(name, text string) Part {
	if name == "" {
		name = "key"
	}
	secret := s.secret(name, text)
	s.note("Its %s looks like a key, which is not copied: keep it with bothy auth login %s, and take it out of the other file.", name, secret)
	return Part{Secret: secret}
}

// secret is the name that a key of the server is kept under. No two keys have one, and those
// of two servers never meet: a label has no two underscores.
func (s *reading) secret(name, key string) string {
	if name = plain(name); name == "" {
		name = "key"
	}
	first := s.Label + "__" + name
	for n := 1; ; n++ {
		secret := first
		if n > 1 {
			secret = fmt.Sprintf("%s_%d", first, n)
		}
		switch held, is := s.keys[secret]; {
		case !is:
			s.keys[secret] = key
			return secret
		case held == key:
			return secret
		}
	}
}

func (s *reading) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// plain is a name in the characters of a label.
func plain(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}
