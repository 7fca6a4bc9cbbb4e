package tags

import "strings"

// mostMisses is how many markers without an end are looked for to the end of the answer; no more are, so that all of them
// together cost no more than a multiple of the text.
const mostMisses = 64

// region is the end of what the marker at i begins, within which a body is not looked at; -1 when it begins nothing.
func (r *Reader) region(t *tool, i, from int) int {
	if r.misses >= mostMisses {
		return -1
	}
	word, behind := r.editMarker(i, from)
	if t.Markers == HereDocuments {
		word, behind = r.hereMarker(i)
	}
	if word == "" || r.missing[word] {
		return -1
	}
	end := r.regionEnd(t, word, behind)
	if end < 0 && !r.text.short {
		r.misses++
	}
	return end
}

// editMarker is the word of <<WORD, with the place behind it; of <<:::PATH, which entries are shown in, it is :::PATH.
func (r *Reader) editMarker(i, from int) (word string, behind int) {
	if i > from && !space(r.text.s[i-1]) && r.text.s[i-1] != '>' {
		return "", 0
	}
	if r.text.has(i+2, ":::") {
		return r.packetMarker(i + 2)
	}
	if c := r.text.at(i + 2); c < 'A' || c > 'Z' {
		return "", 0
	}
	end := r.text.name(i + 2)
	if end-i-2 > longestName {
		return "", 0
	}
	return r.text.s[i+2 : end], end
}

// longestPath is more than the path of an entry has.
const longestPath = 1024

// packetMarker is the word :::PATH at i.
func (r *Reader) packetMarker(i int) (word string, behind int) {
	for end := i + len(":::"); end-i < longestPath; end++ {
		if c := r.text.at(end); space(c) || c == '<' || c == '>' || r.text.ends(end) {
			if end == i+len(":::") {
				return "", 0
			}
			return r.text.s[i:end], end
		}
	}
	return "", 0
}

// hereMarker is the word of <<WORD, <<-WORD and both with quotes, with the place behind it.
func (r *Reader) hereMarker(i int) (word string, behind int) {
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

// regionEnd is the end of the region of a word that begins at from. Where a tag closes the tool within it, it has to be
// certain that the region goes on behind that: no other one of the word begins first, and what follows is again part of the body.
func (r *Reader) regionEnd(t *tool, word string, from int) int {
	closer := "</" + t.Name
	seen, closed := from, false // up to where closers were looked for, and whether there is one
	for i := from; ; i += len(word) {
		i = r.text.findWord(word, i)
		if i < 0 {
			if r.text.whole {
				r.missing[word] = true
			}
			return -1
		}
		again := strings.HasSuffix(strings.TrimRight(r.text.s[max(i-4, 0):i], "-\"'\\ "), "<<")
		end := i + len(word)
		if !again && !r.endsRegion(t, i, end) {
			continue
		}
		r.text.steps += i - seen
		closed = closed || strings.Contains(r.text.s[max(from, seen-len(closer)):i], closer)
		seen = i
		switch {
		case again && closed:
			return -1
		case again:
			continue
		case closed && !r.goesOn(t, end):
			return -1
		}
		return end
	}
}

// endsRegion reports whether a word ends its region: between white space, and for a command line alone on its line.
func (r *Reader) endsRegion(t *tool, from, end int) bool {
	if t.Markers == HereDocuments {
		for from > 0 && (r.text.s[from-1] == '\t' || r.text.s[from-1] == ' ') {
			r.text.steps++
			from--
		}
		if from == 0 || r.text.s[from-1] != '\n' {
			return false
		}
		c := r.text.at(end)
		return c == '\n' || c == '\r' || r.text.ends(end) || r.text.has(end, "</"+t.Name)
	}
	if !space(r.text.s[from-1]) {
		return false
	}
	c := r.text.at(end)
	return space(c) || r.text.ends(end) || r.text.has(end, "</"+t.Name) || r.text.has(end, "<<")
}

// goesOn reports whether what follows a region can still be part of a body: another region, or the end of it; behind a
// here document any line.
func (r *Reader) goesOn(t *tool, i int) bool {
	if t.Markers == HereDocuments {
		return r.text.findWord("</"+t.Name, i) >= 0
	}
	i = r.text.spaces(i)
	return r.text.ends(i) || r.text.has(i, "</"+t.Name) || r.text.has(i, "<<")
}
