package main

import (
	"strings"

	"github.com/bothyd/bothy/sdk/rpc"
)

// writing is what the editor was told of a reply. What it was told it shows, and nothing takes
// it back: of a reply that begins anew, since the model was asked again, what the editor has
// already is left out.
type writing struct {
	turn          int
	text, thought piece
	gap           bool // a piece is missing: the rest comes with one that is whole, or with the row
}

// take takes in a piece, and returns what is new of it.
func (w *writing) take(p rpc.Preview) (thought, text string) {
	if p.Turn != w.turn {
		*w = writing{turn: p.Turn}
	}
	if p.Restart || p.First || p.Whole {
		w.text.now, w.thought.now, w.gap = "", "", false
	}
	if w.gap = w.gap || p.Dropped; w.gap {
		return "", ""
	}
	return w.thought.add(p.Reasoning), w.text.add(p.Text)
}

// end is the reply of a turn as it is recorded; what is new of it is returned.
func (w *writing) end(turn int, reasoning, text string) (newThought, newText string) {
	if turn != w.turn {
		*w = writing{turn: turn}
	}
	return w.thought.end(reasoning), w.text.end(text)
}

// piece is a text that grows.
type piece struct {
	now  string // as the model has it
	told string // as the editor has it
}

// anew stands before a text that is another than the one that was told before.
const anew = "\n\n(The model was asked again.)\n\n"

func (p *piece) add(more string) string {
	if more == "" {
		return ""
	}
	p.now += more
	if strings.HasPrefix(p.told, p.now) {
		return "" // it stands there
	}
	return p.tell()
}

// end is the text as it is recorded; nothing where that is not known.
func (p *piece) end(text string) string {
	if p.now = text; text == "" || strings.TrimSpace(text) == strings.TrimSpace(p.told) {
		return ""
	}
	return p.tell()
}

func (p *piece) tell() string {
	more, follows := strings.CutPrefix(p.now, p.told)
	p.told = p.now
	if !follows {
		return anew + more
	}
	return more
}
