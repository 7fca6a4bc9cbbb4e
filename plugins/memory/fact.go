package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// scheme is that of facts: fact://KEY/HASH, where HASH is of the value, so that a value is known once under its key.
const (
	scheme    = "fact"
	everyFact = scheme + "://**"
)

// The bounds of a fact, in characters.
const (
	longestKey   = 64
	longestValue = 300
)

// Where a fact comes from.
const (
	explicit = "explicit" // somebody said that it is to be remembered
	auto     = "auto"     // it was learned
)

// fact is something that is known of an owner.
type fact struct {
	Key   string
	Value string
	about
	path   string
	folded string // key and value, as they are searched
}

// about is what the attributes of a fact's entry say beside its key.
type about struct {
	Source string    `json:"source"`
	Seen   time.Time `json:"seen"`            // when it was said last
	Run    string    `json:"run,omitempty"`   // in which it was said, by its key
	Loop   int       `json:"loop,omitempty"`  // the prompt there, by its number
	Quote  string    `json:"quote,omitempty"` // the words, as the person wrote them
}

// newFact makes a fact of a key and a value as somebody wrote them.
func newFact(key, value string, a about) (fact, error) {
	f := fact{Key: plain(key), Value: plain(value), about: a}
	switch {
	case f.Key == "" || f.Value == "":
		return f, sdk.Errorf(sdk.Validation, "a fact has a key, as town, and a value, as lives in Utrecht: neither may be empty")
	case utf8.RuneCountInString(f.Key) > longestKey:
		return f, sdk.Errorf(sdk.Validation, "the key has %d characters and may have %d: name what the fact is about in a word or two", utf8.RuneCountInString(f.Key), longestKey)
	case utf8.RuneCountInString(f.Value) > longestValue:
		return f, sdk.Errorf(sdk.Validation, "the value has %d characters and may have %d: say it shorter, or as two facts", utf8.RuneCountInString(f.Value), longestValue)
	}
	f.Quote = sdk.Head(plain(f.Quote), 2*longestValue)
	sum := sha256.Sum256([]byte(f.Value))
	f.path = scheme + "://" + segment(f.Key) + "/" + hex.EncodeToString(sum[:8])
	f.folded = fold(f.Key + " " + f.Value)
	return f, nil
}

// factOf reads the fact of an entry; false is that it is none, as where a person wrote it by hand.
func factOf(e sdk.Entry) (fact, bool) {
	var at struct {
		Key string `json:"key"`
		about
	}
	if e.Body == "" || json.Unmarshal(e.Attributes, &at) != nil {
		return fact{}, false
	}
	f := fact{Key: at.Key, Value: e.Body, about: at.about, path: e.Path}
	f.folded = fold(f.Key + " " + f.Value)
	return f, f.Key != ""
}

// write is the fact as its entry has it.
func (f fact) write() (sdk.Write, error) {
	attributes, err := json.Marshal(struct {
		Key string `json:"key"`
		about
	}{f.Key, f.about})
	return sdk.Write{Path: f.path, Body: &f.Value, Attributes: attributes, Visibility: sdk.Archived, State: sdk.StateResolved}, err
}

func (f fact) String() string { return fmt.Sprintf("%s: %s", f.Key, f.Value) }

// plain is a text as one line, composed, without what nobody sees.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case sdk.Hidden(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(norm.NFC.String(text)), " ")
}

// fold is a text as it is compared: capitals and forms of letters make no difference.
func fold(text string) string { return norm.NFC.String(cases.Fold().String(norm.NFKC.String(text))) }

// longestSegment is how long a key may be in a path, in bytes; a longer one stands there by its hash.
const longestSegment = 200

// segment is a key as its part of a path: folded, and nothing in it that a pattern reads.
func segment(key string) string {
	var b strings.Builder
	for _, c := range []byte(fold(plain(key))) {
		if c >= utf8.RuneSelf || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > longestSegment {
		sum := sha256.Sum256([]byte(b.String()))
		return "%" + hex.EncodeToString(sum[:16])
	}
	return b.String()
}
