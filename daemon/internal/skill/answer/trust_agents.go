package answer

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// agentScheme is where the answers about agents' files are (decision 96). No skill's name can
// lead there: in one a slash is escaped.
const agentScheme = trustScheme + "agent/"

// TrustedAgents are the hashes of the agents' files that a person said yes to in a project, by the
// names of the agents; empty where they took it back. What cannot be read is not trusted.
func (t *Trust) TrustedAgents(project string) map[string]string {
	return hashes(t.known(project).agents)
}

// trustAgents is Trust for agents' files alone.
func (a *Answers) trustAgents(ctx context.Context, project string, p rpc.TrustQuery) (rpc.Trust, error) {
	if err := a.cfg.Agents.Check(ctx, project); err != nil {
		return rpc.Trust{}, err
	}
	kept, err := a.cfg.Trust.answers(ctx, project, false)
	if err != nil {
		return rpc.Trust{}, err
	}
	said := map[string]*skill.Contents{}
	switch {
	case p.Follow:
		err = sdk.Errorf(sdk.Validation, "follow is an answer about instructions alone: say that with instructions")
	case p.Revoke && len(p.Accept) > 0:
		err = sdk.Errorf(sdk.Validation, "trust is either given or taken back: name the agents of one of them")
	case p.Revoke && len(p.Names) == 0:
		err = sdk.Errorf(sdk.Validation, "name the agents that are not to be trusted any more")
	case p.Revoke:
		for _, name := range p.Names {
			if kept.agents[name].Hash == "" {
				return rpc.Trust{}, sdk.Errorf(sdk.NotFound, "the agent %s is not trusted in this project", name)
			}
			said[name] = nil
		}
	case len(p.Accept) > 0:
		said, err = a.acceptAgents(ctx, project, p.Accept)
	}
	if err == nil {
		err = a.keepAgents(ctx, project, said)
	}
	if err == nil && len(said) > 0 {
		kept, err = a.cfg.Trust.answers(ctx, project, false)
	}
	if err != nil {
		return rpc.Trust{}, err
	}
	out := rpc.Trust{Project: project, Skills: []rpc.TrustSkill{}, Instructions: a.showInstructions(project, kept.instructions)}
	out.Instructions.Text = ""
	left := allDiffs
	out.Agents, err = a.showAgents(ctx, project, p.Names, kept.agents, &left)
	return out, err
}

// acceptAgents are the files that are still what was shown, all or none.
func (a *Answers) acceptAgents(ctx context.Context, project string, shown map[string]string) (map[string]*skill.Contents, error) {
	files, err := a.agentFiles(ctx, project, nil)
	if err != nil {
		return nil, err
	}
	said := map[string]*skill.Contents{}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		problem := error(noAgentHere(name))
		for _, x := range files {
			switch {
			case x.Agent.Name != name:
			case !x.Loaded:
				problem = sdk.Errorf(sdk.Conflict, "the agent %s cannot be trusted: %s", name, whyNot(x))
			case x.Hash == shown[name]:
				said[name] = fileContents(x)
			default:
				problem = sdk.Errorf(sdk.Conflict, "the agent %s is not what was shown, and nothing is trusted: `bothy trust --agents %s` shows it as it is now", name, name)
			}
		}
		if said[name] == nil {
			return nil, problem
		}
	}
	return said, nil
}

func noAgentHere(name string) *sdk.Error {
	return sdk.Errorf(sdk.NotFound, "no agent's file of this project is called %s; `bothy trust --agents` shows what there is", name)
}

// keepAgents records what a person said of agents, nil where trust is taken back. Who asks for
// agents asks for the answers each time.
func (a *Answers) keepAgents(ctx context.Context, project string, said map[string]*skill.Contents) error {
	var writes []sdk.Write
	for _, name := range slices.Sorted(maps.Keys(said)) {
		w, err := trustWrite(name, said[name], time.Now())
		if err != nil {
			return err
		}
		w.Path = agentScheme + url.PathEscape(name)
		writes = append(writes, w)
	}
	if len(writes) == 0 {
		return nil
	}
	return a.cfg.Keep(ctx, project, writes...)
}

// agentFiles are the agents' files of a project that came with it.
func (a *Answers) agentFiles(ctx context.Context, project string, names []string) ([]*markdown.File, error) {
	files, err := a.cfg.Agents.Files(ctx, project)
	return slices.DeleteFunc(files, func(x *markdown.File) bool {
		return x.Tier != sdk.TierWorkspace || len(names) > 0 && !slices.Contains(names, x.Agent.Name)
	}), err
}

// fileContents is an agent's file as what is kept of a yes.
func fileContents(x *markdown.File) *skill.Contents {
	return &skill.Contents{Hash: x.Hash, Files: []skill.File{{Path: filepath.Base(x.Path), Size: int64(len(x.Text)), Hash: x.Hash, Text: x.Text}}}
}

// whyNot is what keeps a file from being an agent.
func whyNot(x *markdown.File) string {
	i := slices.IndexFunc(x.Diagnostics, frontmatter.IsError)
	return fmt.Sprintf("line %d: %s", x.Diagnostics[i].Line, x.Diagnostics[i].Message)
}

// showAgents shows the agents' files that there are to trust, and which are. left is how many bytes of
// differences the answer may still have.
func (a *Answers) showAgents(ctx context.Context, project string, names []string, kept map[string]keptAnswer, left *int) ([]rpc.TrustAgent, error) {
	files, err := a.agentFiles(ctx, project, names)
	out := make([]rpc.TrustAgent, 0, len(files))
	for _, x := range files {
		s := rpc.TrustAgent{Agent: x.Agent, Models: x.Models, Path: x.Path}
		s.Agent.Persona = ""
		if !x.Loaded {
			s.Problem = whyNot(x)
			out = append(out, s)
			continue
		}
		before := kept[x.Agent.Name]
		s.Hash, s.Trusted = x.Hash, before.Hash == x.Hash
		if before.skill.Hash != x.Hash {
			s.Before = before.skill.Hash
		}
		for _, d := range x.Diagnostics {
			s.Warnings = append(s.Warnings, fmt.Sprintf("line %d: %s", d.Line, d.Message))
		}
		_, diff := compare(before.skill.Files, fileContents(x).Files)
		s.Diff = cutDiff(diff, *left, "--agents "+x.Agent.Name, "this agent")
		*left -= len(s.Diff)
		out = append(out, s)
	}
	for _, name := range names {
		if _, answered := kept[name]; !answered && !slices.ContainsFunc(out, func(s rpc.TrustAgent) bool { return s.Agent.Name == name }) {
			return out, noAgentHere(name)
		}
	}
	return out, err
}
