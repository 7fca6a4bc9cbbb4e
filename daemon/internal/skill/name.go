package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// MaxName is how many characters a name has at most.
const MaxName = 64

// maxNameBytes keeps a name usable as the name of a folder in any script.
const maxNameBytes = 200

// SafeName makes of any text a name that can stand in /skills/NAME, in a skill
// block and among the choices of a tool: lower-case letters, digits and single
// hyphens. Letters of every script stay. A good name stays as it is, and two
// texts that differ in nothing else give one name. It is never empty.
func SafeName(text string) string {
	seen := strings.Map(func(r rune) rune {
		if sdk.Hidden(r) {
			return -1 // a character that nobody sees separates nothing
		}
		return unicode.ToLower(r)
	}, norm.NFC.String(text))
	name := norm.NFC.String(strings.Join(strings.FieldsFunc(seen, func(r rune) bool { return !inName(r) }), "-"))
	if utf8.RuneCountInString(name) > MaxName {
		name = string([]rune(name)[:MaxName])
	}
	if name = strings.TrimRight(start(name, maxNameBytes), "-"); name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(text))
	return "skill-" + hex.EncodeToString(sum[:4])
}

// inName reports whether a lower-case character can stand in a name.
func inName(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
