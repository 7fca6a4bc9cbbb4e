package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// teamPrompt is what a person said by the prompt of a team's loop, and the task that it is for somebody who knows nothing
// of the run: it begins with the prompts that it goes on with. What goes with the prompt itself is brought along.
func (e *Engine) teamPrompt(ctx context.Context, a *activeLoop, entries []sdk.Entry) (says, task string, err error) {
	says, task = said(a.loop, entries), a.loop.Prompt
	for l := a.loop; optionsOf(l).Resumes != 0; {
		if l, err = delegate.Prompt(ctx, e.cfg.Store, sdk.ActionChild{Run: a.run.ID, Alias: a.run.Alias, Loop: optionsOf(l).Resumes}); err != nil {
			return "", "", err
		}
		says, task = said(l, entries), readAs(l, entries)+"\n\n"+task
	}
	if (delegate.Task{Task: task}).Check() != nil { // too long for a task, with the files that are attached
		task = says
	}
	return says, task, nil
}

// said is what a person said by a prompt: the plan, where they gave one.
func said(l sdk.Loop, entries []sdk.Entry) string {
	if optionsOf(l).Plan != "" {
		return readAs(l, entries)
	}
	return l.Prompt
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
