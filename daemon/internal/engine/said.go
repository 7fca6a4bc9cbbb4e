package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// saidIn is what of a prompt a person said to a client: nothing where a plugin gave it or an agent delegated it, where it was made of
// a file of steps or of how the prompt before it ended, and no text that was given along.
func saidIn(l sdk.Loop) string {
	o := optionsOf(l)
	if o.Plugin != "" || o.Caller != 0 || o.Plan != "" || o.Resumes != 0 || o.Compacts {
		return ""
	}
	return l.Prompt[:max(0, len(l.Prompt)-o.Quoted)]
}

// allSaid is what a person said in all prompts of a run; nothing where that cannot be read.
func (e *Engine) allSaid(run int64) string {
	loops, err := e.cfg.Store.Loops(e.base, run)
	if err != nil {
		e.log.Warn("what a person said in a run cannot be read, so that nothing counts as said there", "run", run, "error", err)
	}
	var all strings.Builder
	for _, l := range loops {
		all.WriteString(saidIn(l) + "\n\n")
	}
	return all.String()
}

// saidHere reports whether a person said a text in a run, but for how it is broken into lines.
func (e *Engine) saidHere(run int64, text string) bool { return sdk.StandsIn(e.allSaid(run), text) }

// withSaid adds to prompts of a run, for a plugin, how much of each a person said and which agent it was for: the attribute said
// counts the bytes at its beginning, none in a prompt that was given in another run.
func (e *Engine) withSaid(run int64, prompts []sdk.Entry) error {
	loops, err := e.cfg.Store.Loops(e.base, run)
	if err != nil {
		return err
	}
	of := map[string]sdk.Loop{}
	for _, l := range loops {
		of[fmt.Sprintf("prompt://%d", l.Sequence)] = l
	}
	for i := range prompts {
		if prompts[i].Scheme() != "prompt" {
			continue
		}
		attributes := map[string]json.RawMessage{}
		if err := json.Unmarshal(prompts[i].Attributes, &attributes); err != nil && len(prompts[i].Attributes) > 0 {
			return err
		}
		l := of[prompts[i].Path]
		attributes[sdk.AttributeSaid], attributes[sdk.AttributeAgent] = encode(min(len(saidIn(l)), len(prompts[i].Body))), encode(l.Agent)
		prompts[i].Attributes = encode(attributes)
	}
	return nil
}
