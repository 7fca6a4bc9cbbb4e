package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// kept is what an answer with thinking leaves for the next request, in
// Finish.Extra: the order of its blocks, and the thinking as the server wrote it,
// which it takes back to the byte or not at all. From is the server's host:
// another one could not read it.
type kept struct {
	From   string      `json:"from"`
	Blocks []keptBlock `json:"blocks"`
	Sum    string      `json:"sum"` // of the thinking: a secret that was taken out of it breaks the signature
}

// keptBlock is one block; exactly one field is set.
type keptBlock struct {
	Thinking string `json:"thinking,omitempty"` // the whole block, as JSON
	Text     int    `json:"text,omitempty"`     // so many bytes of the answer's text
	Call     bool   `json:"call,omitempty"`     // its next call
}

func readKept(extra json.RawMessage, from string) kept {
	var k kept
	if json.Unmarshal(extra, &k) != nil || k.From != from || k.Sum != k.sum() {
		return kept{}
	}
	return k
}

// raw is the Extra of an answer; nil when there was no thinking.
func (k kept) raw() json.RawMessage {
	for _, b := range k.Blocks {
		if b.Thinking != "" {
			k.Sum = k.sum()
			return encode(k)
		}
	}
	return nil
}

func (k kept) sum() string {
	h := sha256.New()
	for _, b := range k.Blocks {
		h.Write([]byte(b.Thinking))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// order puts an answer's blocks in the order in which they came. Where that does
// not fit the answer any more, its thinking goes first, as it nearly always came.
func (k kept) order(text string, calls []*wireBlock) []*wireBlock {
	fits := k.fits(text, calls)
	var content []*wireBlock
	say := func(s string) {
		if strings.TrimSpace(s) != "" { // the server refuses a text without a word
			content = append(content, textBlock(s))
		}
	}
	for _, b := range k.Blocks {
		switch {
		case b.Thinking != "":
			content = append(content, &wireBlock{Kept: json.RawMessage(b.Thinking)})
		case !fits:
		case b.Call:
			content, calls = append(content, calls[0]), calls[1:]
		default:
			say(text[:b.Text])
			text = text[b.Text:]
		}
	}
	say(text)
	return append(content, calls...)
}

func (k kept) fits(text string, calls []*wireBlock) bool {
	size, called := 0, 0
	for _, b := range k.Blocks {
		if b.Text < 0 || b.Text > len(text)-size {
			return false
		}
		size += b.Text
		if b.Call {
			called++
		}
	}
	return len(k.Blocks) > 0 && size == len(text) && called == len(calls)
}

// encode writes JSON as servers do, with <, > and & as they are.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil // what is given here always encodes
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
