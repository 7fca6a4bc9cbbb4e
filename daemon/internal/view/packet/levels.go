package packet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// summaryCharacters is how much of a text its summary has.
const summaryCharacters = 500

// sections are the names of the packet's own tags, which no element of an entry has.
var sections = map[string]bool{"summary": true, "visible": true, "unknowns": true, "instructions": true, "budget": true}

// elements are an entry at both levels. Texts are what the plugin of its scheme says of it, nil where none does.
func elements(key string, e *sdk.Entry, scheme *sdk.Scheme, limit int, texts *projected) (visible, summary element) {
	base := element{tag: e.Scheme(), path: e.Path}
	if sections[base.tag] || base.tag == "prompt" && scheme.Category != sdk.CategoryPrompt {
		base.tag = "entry"
	}
	base.attributes = attributesOf(e)
	var full, short string
	weighs := 0
	switch {
	case texts != nil:
		full, short = texts.visible, texts.summary
	case base.tag == "log":
		if a := actionOf(e); a != nil {
			return ofAction(key, base, e, a, limit)
		}
		full, short = e.Body, head(e)
	case e.Scheme() == sdk.SummaryScheme:
		full, short = view.Summary(e), head(e)
	case base.tag == "prompt":
		full = meant(e)
		of := *e
		of.Body = full
		short = head(&of)
	case base.tag == "file":
		f := factsOf(e) // the text is there while the file is visible, and nothing but that level may hang on it
		full, short, weighs = e.Body, summaryOf(f), f.Tokens*4
	case base.tag == "sh" || base.tag == "env":
		full, short = e.Body, tail(e)
	case base.tag == sdk.PlanScheme:
		full, short = e.Body, e.Body
		if step, is := sdk.PlanStepOf(*e); is {
			short = step.Line()
		}
	default:
		full, short = e.Body, head(e)
	}
	visible, summary = base, base
	visible.text, summary.text, visible.weighs = full, short, weighs
	if e.IsForeign() {
		visible.fence(key, e)
		summary.fence(key, e)
	}
	return visible, summary
}

// actionOf is the action that an entry is; nil is one that is none. Only the engine writes a phase, so that nobody else says what
// was called, or by whom.
func actionOf(e *sdk.Entry) *sdk.Action {
	if e.Phase == sdk.PhaseNone || e.Scheme() != "log" {
		return nil
	}
	a, _ := sdk.ActionOf(*e) // what can be read of it is enough
	return &a
}

// fence puts the text in the fence of what came from outside.
func (e *element) fence(key string, of *sdk.Entry) {
	if e.text != "" {
		e.text, e.fenced = sdk.Fence(sdk.FenceMark(key, of.Path), sdk.Head(quoted.Replace(view.Unhide(of.Path)), 300), of.Created, view.Unhide(e.text)), true
	}
}

// attributesOf are what a model is told of every entry.
func attributesOf(e *sdk.Entry) []attribute {
	all := []attribute{{"path", e.Path}}
	if status := e.Status(); status != sdk.StatusOK {
		all = append(all, attribute{"status", strconv.Itoa(status)}, attribute{"outcome", string(e.Outcome)})
	}
	if len(e.Attributes) > 0 && e.Scheme() != "log" {
		var at struct {
			Summary string `json:"summary"`
			Status  any    `json:"status"`
		}
		if json.Unmarshal(e.Attributes, &at) == nil {
			all = append(all, attribute{"summary", at.Summary})
			if e.Scheme() == sdk.PlanScheme || e.Scheme() == "update" {
				all = append(all, attribute{"status", said(at.Status)})
			}
		}
	}
	return all
}

func said(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// meant is what a model reads in the place of a prompt: what was typed, or what that stands for.
func meant(e *sdk.Entry) string {
	return cmp.Or(meaning(e).Text, e.Body)
}

func meaning(e *sdk.Entry) (m sdk.Meaning) {
	var at struct {
		Meaning sdk.Meaning `json:"meaning"`
	}
	if json.Unmarshal(e.Attributes, &at) == nil {
		m = at.Meaning
	}
	return m
}

// head is the beginning of an entry's text, and says how much there is.
func head(e *sdk.Entry) string {
	all := view.Characters(e.Body)
	if all <= summaryCharacters {
		return e.Body
	}
	return firstCharacters(e.Body, summaryCharacters) + fmt.Sprintf("\n[the first %d of %d characters]", summaryCharacters, all)
}

// factsOf is what is known of a file, in sight or not.
func factsOf(e *sdk.Entry) (f sdk.FileFacts) {
	if len(e.Attributes) > 0 {
		_ = json.Unmarshal(e.Attributes, &f) // what cannot be read is not known
	}
	return f
}

func summaryOf(f sdk.FileFacts) string { return fmt.Sprintf("[%d bytes]", f.Size) }

// tail is the end of an entry's text, and says how much there is.
func tail(e *sdk.Entry) string {
	all := view.Characters(e.Body)
	if all <= summaryCharacters {
		return e.Body
	}
	rest := e.Body[len(firstCharacters(e.Body, all-summaryCharacters)):]
	return fmt.Sprintf("[the last %d of %d characters]\n", summaryCharacters, all) + rest
}

func firstCharacters(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}

// longestArguments is how much of a call's arguments is shown, in bytes.
const longestArguments = 300

// ofAction are a call and what came of it.
func ofAction(key string, base element, e *sdk.Entry, a *sdk.Action, limit int) (visible, summary element) {
	base.attributes = append(base.attributes, attribute{"tool", a.Tool})
	if a.Person {
		base.attributes = append(base.attributes, attribute{"by", "person"})
	}
	visible, summary = base, base
	if a.Follows {
		visible.text, summary.text = a.Remark(), a.Remark()
		return visible, summary
	}
	call := calledWith(a)
	if !e.State.Ended() {
		visible.text = call + "\n\n" + view.UnknownOutcome
		summary.text = visible.text
		return visible, summary
	}
	if read := readInSight(a); read != "" {
		visible.text = call + "\n\n" + read
		summary.text = visible.text
		return visible, summary
	}
	visible.text = call + "\n\n" + view.Result(key, e, a, limit)
	if summary.text = call; a.IsForeign() {
		return visible, summary // its beginning would need a fence longer than itself
	}
	if short := head(e); short != "" {
		summary.text += "\n\n" + short
	}
	return visible, summary
}

// readInSight is what a packet has in the place of a result whose text it has with entries, at the level that they are at: the same
// line, whatever became of them since, so that what demoting one frees is not taken up here. Empty is any other result.
func readInSight(a *sdk.Action) string {
	if is, _ := a.Metadata[sdk.MetadataInSight].(bool); !is || a.Plugin != sdk.OwnPlugin || a.State != sdk.StateResolved {
		return ""
	}
	tokens := tokensOf(view.Characters(a.Body))
	text := fmt.Sprintf("[Read, %d tokens. The text stands with the entry while that is visible, and not here; get makes it visible again.", tokens)
	if n, _ := a.Metadata["entries"].(float64); n != 1 {
		text = fmt.Sprintf("[Read, %v entries of %d tokens. Their texts stand with them while they are visible, and not here; get makes them visible again.", n, tokens)
	}
	if left, _ := a.Metadata["left"].(float64); left > 0 {
		text += fmt.Sprintf(" %v more fit and cannot be read: ask for one by its path to know why.", left)
	}
	return text + "]"
}

// calledWith is a call in a line.
func calledWith(a *sdk.Action) string {
	arguments := strings.Join(strings.Fields(string(a.ExactArguments())), " ")
	if len(arguments) > longestArguments {
		arguments = sdk.Head(arguments, longestArguments) + "..."
	}
	return strings.TrimSpace(a.Tool + " " + arguments)
}
