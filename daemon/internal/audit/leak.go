package audit

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// unnamed is what a secret is called that nobody gave a name.
const unnamed = "that has no name"

// shortestBare is the length from which a secret is found without the signs that stand between its letters and digits.
const shortestBare = 12

// Name has a value hidden, as Add does, and says what it is called: the name is what people are told when the value
// would leave this machine (Leaks).
func (r *Redactor) Name(name, value string) {
	r.Add(value)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names = map[string]string{}
	}
	if counts(value) {
		r.names[value] = name
	}
}

// Leaks is the name of a secret that stands in one of the texts of a JSON value; empty is none. Beside the forms in which
// Redact finds a secret it is looked for decoded up to three times, and split: over the parts of an address, and by signs that
// are no part of it. What a model encrypts nobody finds.
func (r *Redactor) Leaks(value json.RawMessage) string {
	var decoded any
	if json.Unmarshal(value, &decoded) != nil {
		return ""
	}
	for _, text := range textsOf(decoded, nil) {
		for _, variant := range variantsOf(text) {
			if name := r.standsIn(variant); name != "" {
				return name
			}
		}
	}
	return ""
}

// textsOf are all texts of a decoded JSON value.
func textsOf(value any, texts []string) []string {
	switch v := value.(type) {
	case string:
		texts = append(texts, v)
	case []any:
		for _, item := range v {
			texts = textsOf(item, texts)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			texts = textsOf(v[key], append(texts, key))
		}
	}
	return texts
}

// variantsOf are the ways in which a text may hold a secret: as it is, decoded, and its parts put together.
func variantsOf(text string) (all []string) {
	for range 4 {
		all = append(append(all, text), joined(text)...)
		undone, err := url.QueryUnescape(text)
		if err != nil || undone == text {
			break
		}
		text = undone
	}
	return all
}

// joined are parts of an address, put together without what stands between them.
func joined(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	var keys, values, both strings.Builder
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		keys.WriteString(key)
		values.WriteString(value)
		both.WriteString(key + value)
	}
	labels, path := strings.ReplaceAll(u.Hostname(), ".", ""), strings.ReplaceAll(u.Path, "/", "")
	return []string{labels, path, keys.String(), values.String(), both.String(), path + values.String(), path + both.String(), labels + path + values.String()}
}

// standsIn is the name of a secret that stands in a text; empty is none.
func (r *Redactor) standsIn(text string) string {
	found := len(r.spans(text)) > 0
	names, letters := r.called(), bare(text)
	for _, value := range slices.Sorted(maps.Keys(names)) {
		if secret := bare(value); len(secret) >= shortestBare && strings.Contains(letters, secret) {
			return names[value]
		}
		if found {
			var one Redactor
			if one.Add(value); len(newSpans(&one, text)) > 0 {
				return names[value]
			}
		}
	}
	if found {
		return unnamed
	}
	return ""
}

// called are the values that have a name, with it.
func (r *Redactor) called() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]string{}
	maps.Copy(names, r.names)
	for name, list := range r.passes {
		for _, p := range list {
			for _, value := range p.values {
				names[value] = name
			}
		}
	}
	return names
}

// newSpans are where the one secret of a redactor stands, whatever looks like some key beside it.
func newSpans(r *Redactor, text string) []span {
	s := newScan(newAutomaton(r.all(), nil))
	s.read(text, 0)
	s.end(len(text))
	return s.spans
}

// bare is a text's letters and digits.
func bare(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, text)
}
