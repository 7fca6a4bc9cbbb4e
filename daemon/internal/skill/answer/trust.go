package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// trustScheme is where what a person trusts is kept: one entry of the project's
// scope for each name of a skill or an agent, written by the system alone (decision 20).
const trustScheme = "trust://"

// trustedTexts is how much text is kept of one trusted skill, so that the
// difference can be shown when it changed.
const trustedTexts = 512 << 10

// trustAnswer is the attributes of such an entry; its body is what the person was shown.
type trustAnswer struct {
	Name     string    `json:"name"`
	Hash     string    `json:"hash"` // of the skill's folder; empty when the trust was taken back
	Answered time.Time `json:"answered"`
}

// Trust knows which skills of workspaces people said yes to, and whose instructions
// agents follow. The entries are the truth, and are read whenever somebody asks.
type Trust struct {
	entries Entries
	log     hclog.Logger
}

// Entries are the entries of projects, by the root of the project and a scheme.
type Entries interface {
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// NewTrust makes a Trust over entries.
func NewTrust(e Entries, log hclog.Logger) *Trust { return &Trust{entries: e, log: log} }

// Trusted are the hashes of the folders that a person said yes to in a project, by the
// names of the skills; empty where they took it back. What cannot be read is not
// trusted.
func (t *Trust) Trusted(project string) map[string]string {
	return hashes(t.known(project).skills)
}

func hashes(answers map[string]keptAnswer) map[string]string {
	out := make(map[string]string, len(answers))
	for name, a := range answers {
		out[name] = a.Hash
	}
	return out
}

// known is what people said of a project, without what it was about; nothing when it
// cannot be read.
func (t *Trust) known(project string) keptAnswers {
	if project == "" {
		return keptAnswers{}
	}
	answers, err := t.answers(context.Background(), project, true)
	if err != nil {
		t.log.Warn("nothing of a project is trusted, because what is cannot be read", "project", project, "error", err)
	}
	return answers
}

// keptAnswers are what people said of a project, as it is stored.
type keptAnswers struct {
	skills       map[string]keptAnswer // by name
	agents       map[string]keptAnswer // the same
	instructions instructionsAnswer
}

// keptAnswer is an answer and what it was about.
type keptAnswer struct {
	trustAnswer
	skill skill.Contents // or the file of an agent
}

// answers are those that a project has; brief ones are without their skill.
func (t *Trust) answers(ctx context.Context, project string, brief bool) (out keptAnswers, err error) {
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return out, sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	entries, err := t.entries.Entries(ctx, sdk.EntryQuery{Project: root, Pattern: trustScheme + "**", Brief: brief})
	if err != nil {
		return out, err
	}
	out.skills, out.agents = map[string]keptAnswer{}, map[string]keptAnswer{}
	for _, e := range entries {
		var a keptAnswer
		if e.Path == instructionsPath {
			err = json.Unmarshal(e.Attributes, &out.instructions)
		} else if err = json.Unmarshal(e.Attributes, &a.trustAnswer); err == nil {
			if !brief {
				err = json.Unmarshal([]byte(e.Body), &a.skill)
			}
			if strings.HasPrefix(e.Path, agentScheme) {
				out.agents[a.Name] = a
			} else {
				out.skills[a.Name] = a
			}
		}
		if err != nil {
			return keptAnswers{}, fmt.Errorf("read %s: %w", e.Path, err)
		}
	}
	return out, nil
}

// trustPath is the entry of a name, whatever characters that has: a skill's name is
// never as long as a path may be.
func trustPath(name string) string { return trustScheme + url.PathEscape(name) }

// trustWrite is the write that trusts a skill as it is, or with nil takes the trust
// in a name back. What was trusted stays known then, for the difference to be shown.
func trustWrite(name string, c *skill.Contents, now time.Time) (w sdk.Write, err error) {
	w = sdk.Write{Path: trustPath(name), Writer: sdk.WriterSystem, Visibility: sdk.Archived}
	a := trustAnswer{Name: name, Answered: now}
	if c != nil {
		a.Hash = c.Hash
		text, err := json.Marshal(c)
		if err != nil {
			return w, err
		}
		w.Body = new(string(text))
	}
	w.Attributes, err = json.Marshal(a)
	return w, err
}
