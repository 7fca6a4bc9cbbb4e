package tags

import "strings"

// mostMisses is how many here documents without an end are looked for to the end of the answer; no more are, so that all of
// them together cost no more than a multiple of the text.
const mostMisses = 64

// document is the end of the here document that begins at i; -1 when none does.
func (b *bodyScan) document(i int) int {
	if b.misses >= mostMisses {
		return -1
	}
	word, behind := b.hereMarker(i)
	if word == "" || b.missing[word] {
		return -1
	}
	end := b.documentEnd(word, behind)
	if end < 0 && !b.text.short {
		b.misses++
	}
	return end
}

// hereMarker is the word of <<WORD, <<-WORD and both with quotes, with the place behind it.
func (r *Reader) hereMarker(i int) (word string, behind int) {
	if i > 0 && r.text.s[i-1] == '<' {
		return "", 0 // as in <<<WORD
	}
	i += 2
	if r.text.at(i) == '-' {
		i++
	}
	for r.text.at(i) == ' ' {
		i++
	}
	quote := r.text.at(i)
	if quote == '"' || quote == '\'' || quote == '\\' {
		i++
	}
	end := r.text.name(i)
	word = r.text.s[min(i, end):end]
	if word == "" || word[0] >= '0' && word[0] <= '9' || r.text.at(end) == ')' {
		return "", 0 // as in $((1<<N))
	}
	return word, end
}

// documentEnd is the end of the here document of a word that begins at from. Where a tag closes the tool within it, it has
// to be certain that it goes on behind that: no other one of the word begins first, and the tool is closed again.
func (b *bodyScan) documentEnd(word string, from int) int {
	for i := from; ; i += len(word) {
		i = b.text.findWord(word, i)
		if i < 0 {
			if b.text.whole {
				b.missing[word] = true
			}
			return -1
		}
		end := i + len(word)
		again := strings.HasSuffix(strings.TrimRight(b.text.s[max(i-4, 0):i], "-\"'\\ "), "<<")
		if !again && !b.endsDocument(i, end) {
			continue
		}
		closed := b.shutIn(from, i) >= 0
		switch {
		case again && closed:
			return -1
		case again:
			continue
		case closed && b.text.findWord(b.shut(), end) < 0:
			return -1
		case b.tool.Markers == EditMarkers && strings.Contains(b.text.s[from:i], "<<"):
			return -1 // a region of the edit may begin in it
		}
		return end
	}
}

// endsDocument reports whether a word ends its here document: alone on its line.
func (b *bodyScan) endsDocument(from, end int) bool {
	for from > 0 && (b.text.s[from-1] == '\t' || b.text.s[from-1] == ' ') {
		b.text.steps++
		from--
	}
	if from == 0 || b.text.s[from-1] != '\n' {
		return false
	}
	c := b.text.at(end)
	return c == '\n' || c == '\r' || b.text.ends(end) || b.text.has(end, b.shut())
}
