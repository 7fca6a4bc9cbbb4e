package main

import (
	"encoding/json"
	"strings"
)

// fieldReasoningContent is the field of DeepSeek, llama.cpp, LM Studio and
// older vLLM; the other name in use is "reasoning".
const fieldReasoningContent = "reasoning_content"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinking splits text that begins with <think>…</think>, as servers send it
// that do not know the model's way to reason. Only a tag at the very beginning
// counts: elsewhere it is what the model wrote about.
type thinking struct {
	state thinkState
	held  string
}

type thinkState int

const (
	thinkUndecided thinkState = iota
	thinkInside
	thinkAfter   // closed; blank space before the text is not part of it
	thinkOutside // text from here on
)

// off makes the rest plain text: the server has a field for reasoning.
func (t *thinking) off() {
	if t.state == thinkUndecided && t.held == "" {
		t.state = thinkOutside
	}
}

// add returns what can be told apart so far.
func (t *thinking) add(s string) (said, thought string) {
	s = t.held + s
	t.held = ""
	for {
		switch t.state {
		case thinkUndecided:
			trimmed := strings.TrimLeft(s, " \t\r\n")
			if rest, ok := strings.CutPrefix(trimmed, thinkOpen); ok {
				t.state, s = thinkInside, rest
				continue
			}
			if strings.HasPrefix(thinkOpen, trimmed) { // nothing, or the tag's beginning
				t.held = s
				return said, thought
			}
			t.state = thinkOutside
		case thinkInside:
			inner, rest, closed := strings.Cut(s, thinkClose)
			if !closed {
				keep := overlap(s, thinkClose)
				t.held = s[len(s)-keep:]
				return said, thought + s[:len(s)-keep]
			}
			thought += inner
			t.state, s = thinkAfter, rest
		case thinkAfter:
			s = strings.TrimLeft(s, " \t\r\n")
			if s == "" {
				return said, thought
			}
			t.state = thinkOutside
		case thinkOutside:
			return said + s, thought
		}
	}
}

// rest returns what was held back at the end: the beginning of a tag that did
// not become one.
func (t *thinking) rest() (said, thought string) {
	held := t.held
	t.held = ""
	if t.state == thinkInside {
		return "", held
	}
	return held, ""
}

// overlap is the length of the longest end of s that begins tag.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// details collects OpenRouter's reasoning_details, which must be sent back as
// they were. Streamed text comes in pieces: neighbours of one type and index
// are one detail.
type details struct{ list []map[string]json.RawMessage }

func (d *details) add(raw json.RawMessage) (thought string) {
	var pieces []map[string]json.RawMessage
	if !present(raw) || json.Unmarshal(raw, &pieces) != nil {
		return ""
	}
	for _, p := range pieces {
		for _, name := range []string{"text", "summary"} {
			thought += word(p[name])
		}
		if len(d.list) == 0 || !d.join(d.list[len(d.list)-1], p) {
			d.list = append(d.list, p)
		}
	}
	return thought
}

func (d *details) join(last, p map[string]json.RawMessage) bool {
	kind := word(p["type"])
	if kind != word(last["type"]) || word(p["index"]) != word(last["index"]) || (kind != "reasoning.text" && kind != "reasoning.summary") {
		return false
	}
	for name, value := range p {
		if name == "text" || name == "summary" {
			joined, err := json.Marshal(word(last[name]) + word(value))
			if err != nil {
				return false // a string always marshals
			}
			value = joined
		}
		if present(value) {
			last[name] = value
		}
	}
	return true
}

func (d *details) raw() []json.RawMessage {
	out := make([]json.RawMessage, 0, len(d.list))
	for _, detail := range d.list {
		if b, err := json.Marshal(detail); err == nil { // it was decoded from JSON
			out = append(out, b)
		}
	}
	return out
}
