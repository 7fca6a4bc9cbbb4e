package answer

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// instructionsPath is where it is kept whether agents follow the instructions of a
// folder (decision 58). No skill's name can lead there: in one a slash is escaped.
const instructionsPath = trustScheme + "folder/instructions"

// instructionsAnswer is the attributes of that entry.
type instructionsAnswer struct {
	Follow   bool      `json:"follow"`
	Answered time.Time `json:"answered"`
}

// Follows reports whether a person said that agents follow the instructions of the
// project at root. What cannot be read is not followed.
func (t *Trust) Follows(root string) bool { return t.known(root).instructions.Follow }

// instructionsWrite is the write of such an answer.
func instructionsWrite(follow bool, now time.Time) (w sdk.Write, err error) {
	w = sdk.Write{Path: instructionsPath, Writer: sdk.WriterSystem, Visibility: sdk.Archived, Body: new("{}")}
	w.Attributes, err = json.Marshal(instructionsAnswer{Follow: follow, Answered: now})
	return w, err
}

// trustInstructions is Trust for the instructions of a folder alone.
func (a *Answers) trustInstructions(ctx context.Context, project string, p rpc.TrustQuery) (rpc.Trust, error) {
	switch {
	case len(p.Names)+len(p.Accept) > 0:
		return rpc.Trust{}, sdk.Errorf(sdk.Validation, "a question about instructions names no skill")
	case p.Follow && p.Revoke:
		return rpc.Trust{}, sdk.Errorf(sdk.Validation, "trust is either given or taken back")
	case p.Follow || p.Revoke:
		w, err := instructionsWrite(p.Follow, time.Now())
		if err == nil {
			err = a.cfg.Keep(ctx, project, w)
		}
		if err != nil {
			return rpc.Trust{}, err
		}
	}
	kept, err := a.cfg.Trust.answers(ctx, project, false)
	if err != nil {
		return rpc.Trust{}, err
	}
	return rpc.Trust{Project: project, Skills: []rpc.TrustSkill{}, Agents: []rpc.TrustAgent{}, Instructions: a.showInstructions(project, kept.instructions)}, nil
}

// showInstructions shows what the root of a project has, and what was answered.
func (a *Answers) showInstructions(project string, said instructionsAnswer) rpc.TrustInstructions {
	shown := rpc.TrustInstructions{Trusted: said.Follow, Answered: !said.Answered.IsZero()}
	found, size, err := a.cfg.Instructions(project)
	if err != nil {
		shown.Problem = err.Error()
	}
	shown.File, shown.Text, shown.Size = found.File, found.Text, size
	return shown
}
