package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// teamPrompt is what a person said by the prompt of a team's loop, and what it means to somebody who knows nothing of
// the run: all of the plan that they gave, and the prompt that it goes on with.
func (e *Engine) teamPrompt(ctx context.Context, a *activeLoop, entries []sdk.Entry) (says, means string, err error) {
	for l := a.loop; ; {
		o, text := optionsOf(l), readAs(l, entries)
		says = l.Prompt
		if o.Plan != "" {
			says = text
		}
		if means != "" {
			text += "\n\n" + means
		}
		if means = text; o.Resumes == 0 {
			break
		}
		if l, err = e.loop(ctx, sdk.ActionChild{Run: a.run.ID, Alias: a.run.Alias, Loop: o.Resumes}); err != nil {
			return "", "", err
		}
	}
	if (delegate.Task{Task: means}).Check() != nil { // too long for a task, with the files that are attached
		means = says
	}
	return says, means, nil
}

// readAs is a prompt with what the model reads in its place.
func readAs(l sdk.Loop, entries []sdk.Entry) string {
	for _, entry := range entries {
		if entry.Loop != l.ID || entry.Scheme() != "prompt" {
			continue
		}
		var at struct {
			Meaning sdk.Meaning `json:"meaning"`
		}
		text := ""
		if json.Unmarshal(entry.Attributes, &at) == nil {
			text = at.Meaning.Text
		}
		switch {
		case strings.HasPrefix(text, l.Prompt):
			return text
		case text != "":
			return l.Prompt + "\n\n" + text
		}
	}
	return l.Prompt
}
