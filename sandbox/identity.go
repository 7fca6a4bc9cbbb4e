package sandbox

import "strings"

// config is the identity as git's own configuration has it: gitglossary(7), git-config(1).
// A repository's own goes before it. A name that git could not have read is left out.
func (i Identity) config() string {
	var lines string
	for _, v := range []struct{ name, value string }{{"name", i.Name}, {"email", i.Email}} {
		if v.value != "" && !strings.ContainsFunc(v.value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			lines += "\t" + v.name + ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v.value) + "\"\n"
		}
	}
	if lines == "" {
		return ""
	}
	return "[user]\n" + lines
}
