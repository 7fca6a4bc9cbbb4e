package main

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk/modelhttp"
)

// block is one block of an answer that is being put together.
type block struct {
	index int
	kind  string
	raw   json.RawMessage // as it began
	ended bool
	join  modelhttp.Joiner

	said      int    // bytes of text that were sent
	thinking  []byte // so far
	signature []byte
	call      int             // its number
	input     json.RawMessage // of a call that came whole
	arguments bool            // some were sent
}

// blocks puts the blocks of an answer together and sends what they say. Blocks
// begin in order; servers that only resemble Anthropic's leave out the beginning or
// the end of one, or give all of them one index.
type blocks struct {
	out     *modelhttp.Sender
	list    []*block
	thought bool // something was
}

// begin takes the beginning of a block.
func (b *blocks) begin(index int, raw json.RawMessage) error {
	var s blockStart
	if json.Unmarshal(raw, &s) != nil {
		return nil // no block; its deltas make one
	}
	next := &block{index: index, kind: s.Type, raw: raw, signature: s.Signature, input: s.Input}
	b.list = append(b.list, next)
	switch s.Type {
	case "text":
		return b.say(next, s.Text)
	case "thinking":
		return b.think(next, s.Thinking)
	case "tool_use":
		call, err := b.out.Begin(s.ID, cmp.Or(s.Name, modelhttp.Unnamed))
		next.call = call.Index
		return err
	}
	return nil // redacted_thinking comes whole; what the server does by itself is not shown
}

// kinds are the blocks that each delta goes on with.
var kinds = map[string]string{
	"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking", "input_json_delta": "tool_use",
}

// add takes more of a block.
func (b *blocks) add(index int, d delta) error {
	kind, ok := kinds[d.Type]
	if !ok {
		return nil
	}
	at := b.open(index, kind)
	if at == nil && b.foreign(index) {
		return nil
	}
	if at == nil {
		raw, err := json.Marshal(map[string]string{"type": kind})
		if err != nil {
			return err
		}
		if err := b.begin(index, raw); err != nil {
			return err
		}
		at = b.list[len(b.list)-1]
	}
	switch d.Type {
	case "text_delta":
		return b.say(at, d.Text)
	case "thinking_delta":
		return b.think(at, d.Thinking)
	case "signature_delta":
		at.signature = append(at.signature, d.Signature...)
		return nil
	default:
		return b.argue(at, d.Arguments)
	}
}

// open finds the block of a kind that a delta goes on with: the one of its index,
// else the last one.
func (b *blocks) open(index int, kind string) *block {
	for _, exact := range []bool{true, false} {
		for i := len(b.list) - 1; i >= 0; i-- {
			if at := b.list[i]; !at.ended && at.kind == kind && (at.index == index || !exact && (index < 0 || at.index < 0)) {
				return at
			}
		}
	}
	return nil
}

// foreign reports whether the open block of an index is of a kind that is passed
// over, whose deltas are those of a kind that is not.
func (b *blocks) foreign(index int) bool {
	for i := len(b.list) - 1; i >= 0; i-- {
		if at := b.list[i]; !at.ended && at.index == index {
			return at.kind != "text" && at.kind != "thinking" && at.kind != "tool_use"
		}
	}
	return false
}

// stop takes the end of a block.
func (b *blocks) stop(index int) error {
	for i := len(b.list) - 1; i >= 0; i-- {
		if at := b.list[i]; !at.ended && at.index == index {
			return b.end(at)
		}
	}
	return nil
}

func (b *blocks) end(at *block) error {
	if at.ended {
		return nil
	}
	at.ended = true
	rest := at.join.Rest()
	switch at.kind {
	case "text":
		at.said += len(rest)
		return b.out.Say(rest, "")
	case "thinking":
		return b.thinks(at, rest)
	case "tool_use":
		return b.out.Arguments(at.call, rest)
	}
	return nil
}

func (b *blocks) say(at *block, text []byte) error {
	said := at.join.Add(text)
	at.said += len(said)
	return b.out.Say(said, "")
}

func (b *blocks) think(at *block, text []byte) error {
	return b.thinks(at, at.join.Add(text))
}

// thinks sends more of a thought, and an empty line before one that follows another.
func (b *blocks) thinks(at *block, thought string) error {
	first := len(at.thinking) == 0 && thought != ""
	at.thinking = append(at.thinking, thought...)
	if first && b.thought {
		thought = "\n\n" + thought
	}
	b.thought = b.thought || first
	return b.out.Say("", thought)
}

func (b *blocks) argue(at *block, arguments []byte) error {
	at.arguments = at.arguments || len(arguments) > 0
	return b.out.Arguments(at.call, at.join.Add(arguments))
}

// finish ends every block, and gives each call its arguments of which none came in
// pieces: those of its beginning, {} as a rule. Cut says that the answer was cut
// off, which may have been before the arguments of its last block.
func (b *blocks) finish(cut bool) error {
	for i, at := range b.list {
		if err := b.end(at); err != nil {
			return err
		}
		if at.kind != "tool_use" || at.arguments || cut && i == len(b.list)-1 {
			continue
		}
		input := strings.TrimSpace(strings.ToValidUTF8(string(at.input), "\uFFFD"))
		if input == "" || input == "null" {
			input = "{}"
		}
		if err := b.out.Arguments(at.call, input); err != nil {
			return err
		}
	}
	return nil
}

// kept is what the next request needs of the blocks.
func (b *blocks) kept(from string) kept {
	k := kept{From: from}
	for _, at := range b.list {
		switch {
		case at.kind == "text" && at.said > 0:
			k.Blocks = append(k.Blocks, keptBlock{Text: at.said})
		case at.kind == "tool_use":
			k.Blocks = append(k.Blocks, keptBlock{Call: true})
		case at.kind == "redacted_thinking", at.kind == "thinking" && len(at.thinking)+len(at.signature) > 0:
			k.Blocks = append(k.Blocks, keptBlock{Thinking: at.whole()})
		}
	}
	return k
}

// whole is the block as the server would have sent it in one piece.
func (at *block) whole() string {
	var members map[string]json.RawMessage
	if at.kind != "thinking" || json.Unmarshal(at.raw, &members) != nil {
		return string(at.raw)
	}
	members["thinking"] = encode(string(at.thinking))
	if len(at.signature) > 0 {
		members["signature"] = encode(string(at.signature))
	}
	return string(encode(members))
}
