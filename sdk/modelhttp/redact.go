package modelhttp

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// maxMessage bounds what a server's own words may add to an error, in bytes.
const maxMessage = 2000

// redactor takes secrets out of text that a server or the network wrote.
type redactor struct{ secrets []string }

// keyShapes finds keys by how they look: a server may quote one that is not
// ours, or ours in part ("Incorrect API key provided: sk-ab***yz").
var keyShapes = regexp.MustCompile(`\b(?:sk|pk|rk|gsk|xai|csk|hf)[-_][A-Za-z0-9*_\-]{8,}|\b(?:gh[a-z]|github_pat)_[A-Za-z0-9_]{16,}|\bAIza[A-Za-z0-9_\-]{20,}|(?i:\bbearer\s+[A-Za-z0-9._~+/=*\-]{16,})`)

func newRedactor(o Options, base *url.URL) redactor {
	values := []string{o.Key}
	for _, v := range o.Headers {
		_, token, _ := strings.Cut(v, " ") // "Basic abc", "Bearer abc"
		values = append(values, v, token)
	}
	if base.User != nil {
		password, _ := base.User.Password()
		values = append(values, base.User.Username(), password)
	}
	for _, list := range base.Query() {
		values = append(values, list...)
	}
	var r redactor
	for _, v := range values {
		if len(v) < 6 { // too short to be a key, and it would blank ordinary words
			continue
		}
		r.secrets = append(r.secrets, v, url.QueryEscape(v), base64.StdEncoding.EncodeToString([]byte(v)))
	}
	return r
}

// clean makes foreign text fit for an error: no secrets, no control
// characters, bounded.
func (r redactor) clean(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	s = keyShapes.ReplaceAllString(s, "[redacted]")
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return ' '
		case unicode.IsControl(c) || unicode.In(c, unicode.Cf):
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}
