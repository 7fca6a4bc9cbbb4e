// Package fact is what is known of an owner: a key and a value, and the entry that holds them (docs/memory.md). The plugin
// memory writes facts for models and `bothy memory` for people, so both make the same entry of the same fact.
package fact

import (
	"cmp"
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

// Scheme is that of facts: fact://KEY/HASH, where HASH is of the value, so that a value is known once under its key.
const (
	Scheme = "fact"
	Every  = Scheme + "://**" // the pattern of all
)

// The bounds of a fact, in characters.
const (
	longestKey   = 64
	longestValue = 300
)

// Where a fact comes from.
const (
	Explicit = "explicit" // somebody said that it is to be remembered
	Auto     = "auto"     // it was learned
)

// Fact is something that is known of an owner.
type Fact struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	About
	Path   string `json:"path"` // of its entry
	folded string
}

// About is what the attributes of a fact's entry say beside its key.
type About struct {
	Source string    `json:"source"`
	Seen   time.Time `json:"seen"`            // when it was said last
	Run    int64     `json:"run,omitempty"`   // in which it was said, by its id
	Loop   int       `json:"loop,omitempty"`  // the prompt there, by its number
	Quote  string    `json:"quote,omitempty"` // the words, as the person wrote them
}

// New makes a fact of a key and a value as somebody wrote them. The error, with validation, says what no fact has.
func New(key, value string, a About) (Fact, error) {
	f := Fact{Key: Plain(key), Value: Plain(value), About: a}
	switch {
	case f.Key == "" || f.Value == "":
		return f, sdk.Errorf(sdk.Validation, "a fact has a key, as town, and a value, as lives in Utrecht: neither may be empty")
	case utf8.RuneCountInString(f.Key) > longestKey:
		return f, sdk.Errorf(sdk.Validation, "the key has %d characters and may have %d: name what the fact is about in a word or two", utf8.RuneCountInString(f.Key), longestKey)
	case utf8.RuneCountInString(f.Value) > longestValue:
		return f, sdk.Errorf(sdk.Validation, "the value has %d characters and may have %d: say it shorter, or as two facts", utf8.RuneCountInString(f.Value), longestValue)
	}
	f.Quote = sdk.Head(Plain(f.Quote), 2*longestValue)
	sum := sha256.Sum256([]byte(f.Value))
	f.Path = Scheme + "://" + segment(f.Key) + "/" + hex.EncodeToString(sum[:8])
	f.folded = Fold(f.Key + " " + f.Value)
	return f, nil
}

// Of reads the fact of an entry; false is that it is none, as where somebody wrote one by hand.
func Of(e sdk.Entry) (Fact, bool) {
	var at struct {
		Key string `json:"key"`
		About
	}
	if e.Scheme() != Scheme || e.Body == "" || json.Unmarshal(e.Attributes, &at) != nil {
		return Fact{}, false
	}
	f := Fact{Key: at.Key, Value: e.Body, About: at.About, Path: e.Path}
	f.folded = Fold(f.Key + " " + f.Value)
	return f, f.Key != ""
}

// Attributes are those of its entry, whose body is the value.
func (f Fact) Attributes() json.RawMessage {
	text, _ := json.Marshal(struct { // of texts, numbers and a time, which JSON has
		Key string `json:"key"`
		About
	}{f.Key, f.About})
	return text
}

// Write is the fact as its entry has it.
func (f Fact) Write() sdk.Write {
	return sdk.Write{Path: f.Path, Body: &f.Value, Attributes: f.Attributes(), Visibility: sdk.Archived, State: sdk.StateResolved}
}

// Has reports how many of some words, folded, stand in the key or the value.
func (f *Fact) Has(words []string) (n int) {
	for _, w := range words {
		if strings.Contains(f.folded, w) {
			n++
		}
	}
	return n
}

// Words are those of what somebody looks for, as Has takes them.
func Words(query string) []string { return strings.Fields(Fold(Plain(query))) }

// Under reports whether the fact is under a key, whatever its capitals.
func (f Fact) Under(key string) bool { return Fold(f.Key) == Fold(Plain(key)) }

// Before orders facts as they are told and found: those that somebody said are to be remembered, then what was said last.
func Before(a, b Fact) int {
	if (a.Source == Explicit) != (b.Source == Explicit) {
		if a.Source == Explicit {
			return -1
		}
		return 1
	}
	return cmp.Or(b.Seen.Compare(a.Seen), strings.Compare(a.Path, b.Path))
}

func (f Fact) String() string { return fmt.Sprintf("%s: %s", f.Key, f.Value) }

// Plain is a text as one line, composed, without what nobody sees.
func Plain(text string) string {
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

// Fold is a text as it is compared: capitals and forms of letters make no difference.
func Fold(text string) string { return norm.NFC.String(cases.Fold().String(norm.NFKC.String(text))) }

// longestSegment is how long a key may be in a path, in bytes; a longer one stands there by its hash.
const longestSegment = 200

// segment is a key as its part of a path: folded, and nothing in it that a pattern reads.
func segment(key string) string {
	var b strings.Builder
	for _, c := range []byte(Fold(Plain(key))) {
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
