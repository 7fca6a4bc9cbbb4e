package webguard

import (
	"fmt"
	"strings"
	"unicode"
)

// Verdict is what is said of an address.
type Verdict string

// The verdicts. What is denied must not be asked for; an error says that there is
// nothing there that could be, or that asking came to nothing.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
	Error Verdict = "error"
)

// Kind is why an address, or the asking for it, was refused.
type Kind string

// The kinds of what is denied.
const (
	Scheme    Kind = "scheme"    // neither http nor https
	Userinfo  Kind = "userinfo"  // a user or a password before the host
	Port      Kind = "port"      // a port that is not open
	Number    Kind = "number"    // a host that programs read as an address, each in its way
	Name      Kind = "name"      // a name of this machine or of a local network
	Address   Kind = "address"   // an address that is none of the public ones
	Elsewhere Kind = "elsewhere" // a client that goes to some origins alone
	Redirect  Kind = "redirect"  // a redirect that is not followed; also an error: too many
)

// The kinds of errors.
const (
	Malformed Kind = "malformed" // no address of the web
	Unknown   Kind = "unknown"   // the host's name has no address
	Unreached Kind = "unreached" // nothing took the connection
	TLS       Kind = "tls"       // the server does not prove to be the host
	Timeout   Kind = "timeout"   // the header, or all of it, took too long
	TooSlow   Kind = "slow"      // a body that trickles
	TooLarge  Kind = "large"     // more of a body than may be read
	Encoding  Kind = "encoding"  // a body that is encoded otherwise than was asked for
	Answer    Kind = "answer"    // no answer of HTTP, or none that ends
)

// Refusal is why there is no answer. It names schemes, hosts and addresses, and neither
// path, query nor userinfo, so that it can be shown where those may not; of what a server
// sent it quotes nothing else, so that a model can be shown it. The client's errors
// have it within a *url.Error, which does name the query: take it out by errors.As.
type Refusal struct {
	Verdict Verdict // Deny or Error
	Kind    Kind
	Reason  string // one sentence
	Err     error  // what is behind it, if anything
}

// Error is the sentence.
func (r *Refusal) Error() string { return r.Reason }

// Unwrap is what is behind it.
func (r *Refusal) Unwrap() error { return r.Err }

func denied(kind Kind, format string, args ...any) *Refusal {
	return &Refusal{Verdict: Deny, Kind: kind, Reason: fmt.Sprintf(format, args...)}
}

func failed(kind Kind, format string, args ...any) *Refusal {
	return &Refusal{Verdict: Error, Kind: kind, Reason: fmt.Sprintf(format, args...)}
}

func (r *Refusal) because(err error) *Refusal {
	r.Err = err
	return r
}

// short is a text of somebody else's within a sentence.
func short(text string) string {
	const most = 64
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func list(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}
