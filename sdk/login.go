package sdk

import (
	"encoding/json"
	"slices"
	"time"
)

// Login is what a person's login at a server of MCP came to (OAuth 2.1), as it is kept as one
// text among the keys: JSON, by Text and ParseLogin. Its tokens are sent to the server that
// it was made for, and what renews them to TokenURL.
type Login struct {
	ID           string    `json:"id"`            // of this login; what renews its tokens leaves it
	Server       string    `json:"server"`        // the URL that it was made for
	Near         bool      `json:"near,omitzero"` // the server was met on this machine or in a private network, where TokenURL may be too then
	Resource     string    `json:"resource"`      // that the tokens are for (RFC 8707)
	TokenURL     string    `json:"token_url"`     // where they are renewed
	ClientID     string    `json:"client_id"`     // what Bothy is called there
	ClientSecret string    `json:"client_secret,omitzero"`
	ClientAuth   int       `json:"client_auth,omitzero"` // how the secret is sent: 1 within the form, 2 as a header (RFC 6749, section 2.3.1); 0 is found out
	Scopes       []string  `json:"scopes,omitzero"`      // that were granted
	Access       string    `json:"access_token"`
	Refresh      string    `json:"refresh_token,omitzero"`
	Expiry       time.Time `json:"expiry,omitzero"` // of the access token; zero is unknown
}

// MCPLogin is the name of the key that a login at a server of MCP is kept under. No variable
// of an environment is called so.
func MCPLogin(server string) string { return "mcp." + server }

// ParseLogin reads what Text wrote. The error repeats nothing of the text.
func ParseLogin(text string) (Login, error) {
	var l Login
	if json.Unmarshal([]byte(text), &l) != nil || l.ID == "" || l.Server == "" || l.Access == "" {
		return Login{}, Errorf(Validation, "it is no login at a server of MCP")
	}
	return l, nil
}

// Text is the login as it is kept.
func (l Login) Text() string {
	text, _ := json.Marshal(l) // of no type that cannot be encoded
	return string(text)
}

// Secrets are the values that nobody may see. What anybody can guess is none of them: a server that gives a word for a
// token would have that hidden in every text.
func (l Login) Secrets() []string {
	return slices.DeleteFunc([]string{l.Access, l.Refresh, l.ClientSecret}, guessable)
}

// Check refuses a login whose tokens anybody can guess, which a server has to rule out (RFC 6749, section 10.10).
func (l Login) Check() error {
	if guessable(l.Access) || l.Refresh != "" && guessable(l.Refresh) {
		return Errorf(Validation, "the authorization server gave a token that anybody can guess: it has %d characters at least, and %d where it has no digit and is all small or all capital letters", leastToken, leastWord)
	}
	return nil
}

// The least lengths of a token: of one that looks random, and of one that may be a word.
const (
	leastToken = 16
	leastWord  = 24
)

func guessable(token string) bool {
	digits, small, capital := false, 0, 0
	for _, r := range token {
		switch {
		case '0' <= r && r <= '9':
			digits = true
		case 'a' <= r && r <= 'z':
			small++
		case 'A' <= r && r <= 'Z':
			capital++
		}
	}
	if digits && small+capital > 0 || min(small, capital) > 1 {
		return len(token) < leastToken
	}
	return len(token) < leastWord
}
