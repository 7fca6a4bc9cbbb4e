package sdk

import "unicode/utf8"

// Head is the beginning of a text, at most n bytes of it, that ends with a whole character.
func Head(text string, n int) string {
	n = max(n, 0)
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Tail is the end of a text, at most n bytes of it, that begins with a whole character.
func Tail(text string, n int) string {
	at := len(text) - max(n, 0)
	if at <= 0 {
		return text
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}
