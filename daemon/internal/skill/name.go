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
	var b strings.Builder
	hyphen, count := false, 0
	for _, r := range norm.NFC.String(text) {
		r = unicode.ToLower(r)
		if !inName(r) {
			hyphen = hyphen || !sdk.Hidden(r) // a character that nobody sees separates nothing
			continue
		}
		more := 1
		if hyphen && count > 0 {
			more = 2
		}
		if count+more > MaxName || b.Len()+more-1+utf8.RuneLen(r) > maxNameBytes {
			break
		}
		if more == 2 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
		hyphen, count = false, count+more
	}
	if name := norm.NFC.String(b.String()); name != "" {
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
	if sdk.Hidden(r) || r == utf8.RuneError {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
