package view

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// piece is one entry as a message, with what its place depends on.
type piece struct {
	message sdk.Message
	warning string // instead of a message: what the dialect had to say about the turn's calls
	loop    int64
	turn    int          // 0 for a prompt
	model   string       // that wrote it
	path    string       // of an action
	status  int          // likewise
	mark    string       // likewise: what ends it where several stand in one message
	tagged  bool         // of an answer: its calls stand in its text
	person  bool         // what a person did between prompts
	media   []sdk.Medium // of a prompt, without their data
	data    string       // of an image, instead of a message
	call    *sdk.Action  // instead of a message: one that a plugin made, or a result asked for
	covers  bool         // a summary of what was said before
	hidden  bool         // it was archived: not shown where a summary stands for it
}

// cache keeps the pieces of one run by path.
type cache struct {
	key    string // of the run
	mu     sync.Mutex
	pieces map[string]rendered
	tagged map[int]tagged // by turn
}

// rendered is a piece, nil when its entry is no part of a conversation, with what
// it depends on.
type rendered struct {
	mark  mark
	piece *piece
}

// mark is what a rendered piece depends on. Version counts an entry's writes
// in this run, so it stands for attributes as well.
type mark struct {
	hash       string
	version    int
	visibility sdk.Visibility
	limit      int
}

// render returns the entry's piece at a level.
func (c *cache) render(e *sdk.Entry, limit int, level sdk.Visibility) *piece {
	now := mark{e.Hash, e.Version, level, limit}
	if was, ok := c.pieces[e.Path]; ok && was.mark == now {
		return was.piece
	}
	if level != e.Visibility {
		at := *e
		at.Visibility = level
		e = &at
	}
	p := renderEntry(e, limit, c.key)
	c.pieces[e.Path] = rendered{now, p}
	return p
}

func renderEntry(e *sdk.Entry, limit int, key string) *piece {
	p := renderScheme(e, limit, key)
	if p != nil {
		p.hidden = e.Visibility == sdk.Archived
	}
	return p
}

func renderScheme(e *sdk.Entry, limit int, key string) *piece {
	switch e.Scheme() {
	case sdk.SummaryScheme:
		return renderSummary(e)
	case "prompt":
		return renderPrompt(e)
	case "assistant":
		return renderAnswer(e)
	case "log":
		return renderResult(e, limit, key)
	case sdk.MediumImage:
		if e.Body == "" { // it was deleted
			return nil
		}
		return &piece{path: e.Path, data: e.Body}
	default:
		return nil
	}
}

// renderPrompt shows what the person typed, or what that stands for.
func renderPrompt(e *sdk.Entry) *piece {
	if e.State == sdk.StateCancelled { // it was taken back
		return nil
	}
	m := sdk.Message{Role: sdk.RoleUser, Text: e.Body}
	var at struct {
		Meaning sdk.Meaning `json:"meaning"`
	}
	if json.Unmarshal(e.Attributes, &at) == nil && at.Meaning.Text != "" {
		m.Text, m.Skill = at.Meaning.Text, at.Meaning.Skill
	}
	return &piece{message: m, loop: e.Loop, media: at.Meaning.Media}
}

// renderAnswer leaves out an answer that was cut off or is still being written:
// it is kept for people, and the model is asked again.
func renderAnswer(e *sdk.Entry) *piece {
	turn, ok := sdk.ParseReplyPath(e.Path)
	if !ok || e.State == sdk.StateStreaming || e.State == sdk.StateFailed || e.State == sdk.StateCancelled {
		return nil
	}
	a, err := sdk.ReplyOf(e.Attributes)
	if err != nil {
		return nil
	}
	m := sdk.Message{Role: sdk.RoleAssistant, Text: e.Body, Reasoning: a.Reasoning}
	if a.Extra != "" {
		m.Extra = json.RawMessage(a.Extra)
	}
	for _, call := range a.Calls {
		m.Calls = append(m.Calls, sdk.Call{ID: call.ID, Tool: toolName(call.Tool), Arguments: arguments(call.Arguments)})
	}
	if m.Text == "" && (len(a.Found) > 0 || a.Narration != nil) {
		m.Text = "[The text of this answer was deleted.]"
	}
	if m.Text == "" && len(m.Calls) == 0 {
		return nil // servers refuse an answer that says nothing
	}
	return &piece{message: m, loop: e.Loop, turn: turn, model: a.Model, tagged: len(a.Found) > 0 || a.Narration != nil}
}

// arguments gives back what a server accepts in a conversation: a JSON object.
// The result of a call that had none tells the model what it wrote.
func arguments(text string) string {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, "{") || !json.Valid([]byte(t)) {
		return "{}"
	}
	return text
}

// toolName makes a name that servers accept of one that a model invented.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}
