package markdown

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// models are those that the file names: one, or several of which the first one counts that is there.
func (r *reader) models() {
	name, is := r.has("model", "models")
	if !is {
		return
	}
	list := []string{r.textOf(name)}
	if r.Value(name).Kind == yaml.SequenceNode {
		list = r.List(name, nil)
	}
	r.file.Models = slices.DeleteFunc(list, func(m string) bool { return m == "" })
	r.file.modelLine, _ = r.Place(r.Value(name))
}

// textOf is a field that is a text or a list.
func (r *reader) textOf(name string) string {
	if n := r.Value(name); n.Kind == yaml.SequenceNode {
		return ""
	}
	return frontmatter.Visible(r.Text(name))
}

// promptsOwn are the words by which a file leaves the model to who asks.
var promptsOwn = []string{"inherit", "default", "auto", "same", "fast", "best"}

// family matches the names of models elsewhere, whatever stands before and behind.
var family = regexp.MustCompile(`(?i)(^|[/:\s])(claude|sonnet|opus|haiku|fable|gpt|chatgpt|codex|o[1-9](-|$)|gemini|gemma|grok|llama|mistral|mixtral|devstral|codestral|ministral|deepseek|qwen|qwq|kimi|glm|minimax|phi-?[0-9]|command-|nova-|raptor|composer|big-pickle)`)

// foreign reports whether a model of another agent is meant: then the prompt's answers.
func foreign(model string) bool {
	return slices.Contains(promptsOwn, strings.ToLower(model)) || family.MatchString(model)
}
