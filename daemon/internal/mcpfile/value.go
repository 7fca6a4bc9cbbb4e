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

// keyName are names of what is a key by itself; keyText are keys by their look.
var (
	keyName = regexp.MustCompile(`(?i)(^|[_-])(api_?key|key|token|secret|password|passwd|pat|credentials?|auth|authorization)$`)
	keyText = regexp.MustCompile(`^(sk-|ghp_|gho_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ)[A-Za-z0-9_.-]{8,}$`)
)

// value reads a text of a server. name is that of the variable or header it is for; empty
// for an argument.
func (s *Server) value(name, text string) Value {
	if s.isKey(name, text) {
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
			label := secretName(s.Label, what)
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
// is a header with one, holds it.
func (s *Server) arguments(args []string) {
	option := ""
	for _, a := range args {
		name, text := option, a
		option = ""
		head := ""
		switch flag, rest, joined := strings.Cut(a, "="); {
		case strings.HasPrefix(a, "-") && joined:
			name, text, head = strings.TrimLeft(flag, "-"), rest, flag+"="
		case strings.HasPrefix(a, "-"):
			option, name = strings.TrimLeft(a, "-"), ""
		}
		if header, rest, is := strings.Cut(text, ":"); is && (name == "H" || strings.EqualFold(name, "header")) {
			name, text, head = strings.TrimSpace(header), strings.TrimLeft(rest, " "), head+header+": "
		}
		v := s.value(name, text)
		if head != "" {
			v = append(Value{{Text: head}}, v...)
		}
		if _, plain := v.Plain(); plain {
			v = s.value("", a) // as it stands
		}
		s.Args = append(s.Args, v)
	}
}

// isKey reports whether the text is a key that no file should hold.
func (s *Server) isKey(name, text string) bool {
	if variable.MatchString(text) || strings.TrimSpace(text) == "" {
		return false
	}
	return keyText.MatchString(text) || name != "" && keyName.MatchString(name)
}

// key puts the name of a secret in the place of a key. What a header says before it stays.
func (s *Server) key(name, text string) Value {
	var v Value
	if scheme, _, is := strings.Cut(text, " "); is && strings.EqualFold(name, "authorization") {
		v = append(v, Part{Text: scheme + " "})
	}
	if name == "" {
		name = "key"
	}
	secret := secretName(s.Label, name)
	s.note("Its %s is a key, which is not copied: keep it with bothy auth login %s, and take it out of the other file.", name, secret)
	return append(v, Part{Secret: secret})
}

func (s *Server) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// secretName is the name a key of a server is kept under.
func secretName(label, name string) string {
	return label + "_" + plain(name)
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
