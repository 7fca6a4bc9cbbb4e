// Package sent keeps of each turn what its model was sent, as hashes and sums, and renders that again from the journal.
package sent

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/compact"
	"github.com/bothyd/bothy/sdk"
)

// Calibrated is a view whose estimate is by what a server counted. One that is not is taken to count as at first.
type Calibrated interface {
	// Ratio is what the server of a prompt's model counted for each token of an estimate.
	Ratio(p sdk.Prompt) float64
	// Calibrate has the estimates of a model be by a ratio.
	Calibrate(model string, ratio float64)
}

// Request is what a model is sent in a turn, while that comes about. A nil one is of a turn in which nobody was asked.
type Request struct {
	mu    sync.Mutex
	sent  sdk.Sent
	texts map[string]text // by the path of their entry
	ready bool            // it went out, and no commit has it yet

	offered bool // the model has tools
}

// text is what a request holds that no entry of the run has.
type text struct {
	body   string
	system bool // it is the system text
}

// Begin is the request of a turn for which entries were read up to seq.
func Begin(seq int64, in *sdk.Assembly) *Request {
	r := &Request{sent: sdk.Sent{
		Seq: seq, View: cmp.Or(in.Agent.View, sdk.ViewTranscript), Model: in.Model, Context: in.Context, Inputs: in.Inputs, Last: in.Agent.Messages, Use: in.Use,
	}, texts: map[string]text{}}
	r.sent.Skills, r.offered = in.Skills, len(in.Tools) > 0
	if in.Agent.Dialect != sdk.DialectTools {
		r.sent.Dialect = in.Agent.Dialect
	}
	return r
}

// Demoted takes note that a commit took out of sight what the prompt would not have fitted with, up to seq: a text that nobody has in
// sight may be kept nowhere, and what went out is what is made of the entries since.
func (r *Request) Demoted(seq int64) {
	if r != nil {
		r.sent.Seq = seq
	}
}

// Fitted takes note that the prompt was made to fit so many tokens.
func (r *Request) Fitted(ceiling int) {
	if r != nil {
		r.sent.Ceilings = append(r.sent.Ceilings, ceiling)
	}
}

// Told are messages as they are told: flat ones have calls and results as text, which it takes note of.
func (r *Request) Told(messages []sdk.Message, flat bool) []sdk.Message {
	if r.sent.Flat = flat; flat {
		return compact.Flat(messages)
	}
	return messages
}

// Out takes the prompt as it goes out. clean takes secrets out of a text, for what is kept is named by what is left of it.
func (r *Request) Out(p *sdk.Prompt, tokens int, view any, clean func(string) string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.sent
	clear(r.texts)
	s.Hash, s.Messages, s.Tokens, s.Sums = Hash(p.System, p.Messages), len(p.Messages), tokens, sums(p)
	if p.System != "" {
		s.Messages++
	}
	s.System = r.keep(p.System, true, clean)
	if s.Tools = ""; len(p.Tools) > 0 {
		body := toolsText(p.Tools)
		s.Tools = digest(body)
		r.texts[sdk.ToolsTextPath(s.Tools)] = text{body: body}
	}
	s.Told = r.offered && len(p.Tools) == 0
	if skills := s.Skills; skills != "" {
		if s.Skills = ""; !strings.Contains(p.System, strings.TrimSpace(skills)) {
			s.Skills = r.keep(skills, false, clean)
		}
	}
	if by, is := view.(Calibrated); is {
		s.Ratio = by.Ratio(*p)
	}
	r.ready = true
}

// keep has a text kept, and returns its digest; none is "".
func (r *Request) keep(body string, system bool, clean func(string) string) string {
	if body == "" {
		return ""
	}
	body = clean(strings.ToValidUTF8(body, "\uFFFD"))
	d := digest(body)
	r.texts[sdk.SystemTextPath(d)] = text{body: body, system: system}
	return d
}

// Run is the entries of a run.
type Run interface {
	Entries() []sdk.Entry
	Find(path string) (sdk.Entry, bool)
}

// Take returns the note of what went out and is in no commit yet, with the writes that keep texts of it: those that the run has
// not, and its system text when that was not the last one. said goes with that. A request is taken once.
func (r *Request) Take(run Run, said sdk.SystemText, loop int64, turn int) ([]sdk.Note, []sdk.Write) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ready {
		return nil, nil
	}
	r.ready = false
	var writes []sdk.Write
	last, _, _ := sdk.LastSystemText(run.Entries())
	for path, t := range r.texts {
		_, is := run.Find(path)
		if is && (!t.system || path == last.Path) {
			continue
		}
		w := sdk.Write{Path: path, Writer: sdk.WriterSystem, Visibility: sdk.Archived, Loop: loop, Turn: turn}
		if !is {
			w.Body = &t.body
		}
		switch {
		case t.system:
			w.Attributes, _ = json.Marshal(said) // names, which JSON has
		case strings.HasPrefix(path, sdk.SystemTextPath("")):
			w.Attributes, _ = json.Marshal(sdk.SystemText{Of: "skills"})
		}
		writes = append(writes, w)
	}
	slices.SortFunc(writes, func(a, b sdk.Write) int { return strings.Compare(a.Path, b.Path) })
	return []sdk.Note{{Kind: sdk.KindNoteSent, Loop: loop, Turn: turn, Data: r.sent}}, writes
}

// Definitions are tools as a model is told of them.
func Definitions(tools []sdk.Tool) []sdk.ToolDef {
	all := make([]sdk.ToolDef, len(tools))
	for i := range tools {
		all[i] = sdk.ToolDef{Name: tools[i].Name, Description: tools[i].Description, Parameters: tools[i].Parameters}
	}
	return all
}

func toolsText(tools []sdk.Tool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(Definitions(tools)) != nil {
		return "" // a schema that is no JSON, which no plugin's manifest may have
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func sums(p *sdk.Prompt) sdk.SentSums {
	s := sdk.SentSums{System: len(p.System)}
	for i := range p.Messages {
		m := &p.Messages[i]
		n := len(m.Text)
		for j := range m.Calls {
			n += len(m.Calls[j].Tool) + len(m.Calls[j].Arguments)
		}
		for j := range m.Media {
			s.Media += len(m.Media[j].Data)
		}
		switch m.Role {
		case sdk.RoleAssistant:
			s.Assistant += n + len(m.Reasoning) + len(m.Extra)
		case sdk.RoleTool:
			s.Results += n
		default:
			s.User += n
		}
	}
	for i := range p.Tools {
		s.Tools += len(p.Tools[i].Name) + len(p.Tools[i].Description) + len(p.Tools[i].Parameters)
	}
	return s
}
