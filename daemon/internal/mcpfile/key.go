package mcpfile

import (
	"regexp"
	"slices"
	"strings"
)

// blank stands for a variable in a text that is searched for keys.
const blank = "\x00"

var (
	// keyText are keys by their look, anywhere in a text.
	keyText = regexp.MustCompile(`(^|[^A-Za-z0-9])((gh[opusr]_|github_pat_|glpat-)[A-Za-z0-9_.-]|(sk-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|eyJ|hf_|npm_|pypi-)[A-Za-z0-9_.-]{8})`)
	// bearer is what is sent as one.
	bearer = regexp.MustCompile(`(?i)(^|[^a-z0-9])bearer[\s:=]+\x00*[^\s\x00]`)
	// scheme is what may stand before a key in a header, and the key.
	scheme = regexp.MustCompile(`(?is)^(\s*(?:bearer|basic|token|api-?key|key|digest|bot)\s+)(\S.*)$`)
	// noKey is what stands beside the variable that is the key.
	noKey = regexp.MustCompile(`(?i)^\s*(bearer|basic|token|api-?key|key|digest|bot)?[\s=:"']*$`)
	// password is that of user:password@ behind the scheme of a URL.
	password = regexp.MustCompile(`://[^/\s:@]*:([^\s]*)@`)
	port     = regexp.MustCompile(`^[0-9]*(/|$)`)
	// assignment is a name with its value, or the first of it: a query's parameter, a variable, a header.
	assignment = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]*)["']?\s*[=:]\s*["']?((?:(?i:bearer|basic|token|api-?key|key|digest|bot)\s+)?\x00*[^\s&#;,"'}\x00][^\s&#;,"'}]{0,64})`)
	assigned   = regexp.MustCompile(`^-{0,2}[A-Za-z_][A-Za-z0-9_.-]*$`)
	// address is a URL, userinfo its user:password@, parameter a name and a value of its query.
	address   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)(\S+)$`)
	userinfo  = regexp.MustCompile(`^([^/?#:@]*:)([^/?#@]+)@`)
	parameter = regexp.MustCompile(`[?&]([^=&#?]+)=([^&#]+)`)
	// hump is where a word begins in camelCase.
	hump = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	word = regexp.MustCompile(`[a-z0-9]+`)
)

// keyWords are the last words of the names of keys, and keyEnds what such a word may end in.
var (
	keyWords = []string{"key", "pass", "passphrase", "pwd", "pat", "credential", "cred", "auth", "authorization", "cookie", "jwt", "bearer"}
	keyEnds  = []string{"apikey", "secretkey", "accesskey", "privatekey", "authkey", "token", "secret", "password", "passwd"}
	// besides are words behind them that change nothing.
	besides = []string{"prod", "dev", "test", "old", "new", "value", "base64", "b64", "header"}
	// words are values that are none.
	words = []string{"none", "null", "true", "false", "unset"}
)

// keyName reports whether a name is that of a key.
func keyName(name string) bool {
	last := lastWord(name)
	one := strings.TrimSuffix(last, "s")
	return slices.Contains(keyWords, last) || slices.Contains(keyWords, one) ||
		slices.ContainsFunc(keyEnds, func(end string) bool { return strings.HasSuffix(one, end) })
}

// lastWord is the last word of a name, without the numbers behind it.
func lastWord(name string) string {
	all := word.FindAllString(strings.ToLower(hump.ReplaceAllString(name, "${1}${3}_${2}${4}")), -1)
	for _, w := range slices.Backward(all) {
		if slices.Contains(besides, w) {
			continue
		}
		if w = strings.TrimRight(w, "0123456789"); w != "" && w != "v" {
			return w
		}
	}
	return ""
}

// isKey reports whether a text is or holds a key that no file should have.
func isKey(name, text string) bool {
	named := keyName(name)
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if standing := m[3]; standing != "" && isKey(m[2], standing) || standing != "" && named && isKey(name, standing) {
			return true
		}
	}
	bare := variable.ReplaceAllString(text, blank)
	if named && !saysNothing(name, bare) {
		return true
	}
	return keyText.MatchString(bare) || bearer.MatchString(bare) || hasPassword(bare) || hasAssignment(bare)
}

// saysNothing reports whether the value of what is named as a key is none by itself.
func saysNothing(name, bare string) bool {
	if slices.Contains(words, strings.ToLower(strings.TrimSpace(bare))) {
		return true
	}
	if strings.HasSuffix(lastWord(name), "tokens") && strings.Trim(bare, "0123456789") == "" {
		return true // a count
	}
	if !strings.Contains(bare, blank) {
		return strings.TrimSpace(bare) == ""
	}
	for _, text := range strings.Split(bare, blank) {
		if !noKey.MatchString(text) {
			return false
		}
	}
	return true
}

func hasPassword(bare string) bool {
	for _, m := range password.FindAllStringSubmatch(bare, -1) {
		if strings.Trim(m[1], blank) != "" && !port.MatchString(m[1]) {
			return true
		}
	}
	return false
}

func hasAssignment(bare string) bool {
	for at := 0; at < len(bare); {
		m := assignment.FindStringSubmatchIndex(bare[at:])
		if m == nil {
			return false
		}
		name, value := bare[at:][m[2]:m[3]], bare[at:][m[4]:m[5]]
		if keyName(name) && !strings.HasPrefix(value, "//") && !noKey.MatchString(value) && !saysNothing(name, value) {
			return true
		}
		at += m[4] // a value may be another: --env=NAME=VALUE
	}
	return false
}
