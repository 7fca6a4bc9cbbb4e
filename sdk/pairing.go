package sdk

import "strings"

// pairingLetters are those of a code, as crypto/rand.Text makes them: none of them looks like another one.
const pairingLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// pairingHalf is how many letters of a code stand on each side of its dash.
const pairingHalf = 4

// PairingCode is a text as one of the codes that `bothy channels pair` shows, such as "K7QM-4FZX", and "" where it is
// none. Of a stranger a channel passes nothing on but such a text, and that only while a code is waited for.
func PairingCode(text string) string {
	code := strings.ToUpper(strings.TrimSpace(text))
	first, second, both := strings.Cut(code, "-")
	for _, half := range []string{first, second} {
		if !both || len(half) != pairingHalf || strings.Trim(half, pairingLetters) != "" {
			return ""
		}
	}
	return code
}
