package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// trustScheme is where what a person trusts is kept: one entry of the project's
// scope for each name of a skill, written by the system alone (decision 20).
const trustScheme = "trust://"

// trustedTexts is how much text is kept of one trusted skill, so that the
// difference can be shown when it changed.
const trustedTexts = 512 << 10

// trustAnswer is the attributes of such an entry.
type trustAnswer struct {
	Name     string    `json:"name"`
	Hash     string    `json:"hash"` // of the skill's folder; empty when the trust was taken back
	Answered time.Time `json:"answered"`
}

// trustedSkill is its body: what the person was shown.
type trustedSkill struct {
	Hash  string       `json:"hash"`
	Files []skill.File `json:"files"`
}

// Trust knows which skills of workspaces people said yes to, and whose instructions
// agents follow. The entries are the truth; what is read of them is kept until an
// answer changes it.
type Trust struct {
	entries Entries
	log     hclog.Logger

	mu   sync.Mutex
	turn int                // of answers
	read map[string]trusted // by project as it is called
}

// trusted is what people said of a project.
type trusted struct {
	hashes       map[string]string // of skills, by name; empty where they took it back
	instructions instructionsAnswer
}

// Entries are the entries of projects, by the root of the project and a scheme.
type Entries interface {
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// NewTrust makes a Trust over entries.
func NewTrust(e Entries, log hclog.Logger) *Trust {
	return &Trust{entries: e, log: log, read: map[string]trusted{}}
}

// Trusts reports whether a person said yes to a skill of this name whose folder
// has this hash. What cannot be read is not trusted.
func (t *Trust) Trusts(project, name, hash string) bool {
	return project != "" && hash != "" && t.known(project).hashes[name] == hash
}

// Answered tells which names a person said yes to in a project, whatever their
// folders hold now.
func (t *Trust) Answered(project string) func(name string) bool {
	hashes := t.known(project).hashes
	return func(name string) bool { return hashes[name] != "" }
}

// known is what people said of a project; nothing when it cannot be read.
func (t *Trust) known(project string) trusted {
	t.mu.Lock()
	found, ok := t.read[project]
	turn := t.turn
	t.mu.Unlock()
	if ok {
		return found
	}
	answers, err := t.answers(context.Background(), project)
	if err != nil {
		t.log.Warn("nothing of a project is trusted, because what is cannot be read", "project", project, "error", err)
		return trusted{}
	}
	found = trusted{hashes: map[string]string{}, instructions: answers.instructions}
	for name, a := range answers.skills {
		found.hashes[name] = a.Hash
	}
	t.mu.Lock()
	if t.turn == turn {
		t.read[project] = found
	}
	t.mu.Unlock()
	return found
}

// keptAnswers are what people said of a project, as it is stored.
type keptAnswers struct {
	skills       map[string]keptAnswer // by name
	instructions instructionsAnswer
}

// keptAnswer is an answer and what it was about.
type keptAnswer struct {
	trustAnswer
	skill trustedSkill
}

// answers are those that a project has.
func (t *Trust) answers(ctx context.Context, project string) (keptAnswers, error) {
	out := keptAnswers{skills: map[string]keptAnswer{}}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return out, sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	entries, err := t.entries.Entries(ctx, sdk.EntryQuery{Project: root, Glob: trustScheme + "**"})
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		if e.Path == instructionsPath {
			if err := json.Unmarshal(e.Attributes, &out.instructions); err != nil {
				return out, fmt.Errorf("read %s: %w", e.Path, err)
			}
			continue
		}
		var a keptAnswer
		if err := json.Unmarshal(e.Attributes, &a.trustAnswer); err != nil {
			return out, fmt.Errorf("read %s: %w", e.Path, err)
		}
		if err := json.Unmarshal([]byte(e.Body), &a.skill); err != nil {
			return out, fmt.Errorf("read %s: %w", e.Path, err)
		}
		out.skills[a.Name] = a
	}
	return out, nil
}

// forget has the answers read again. They were changed.
func (t *Trust) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn++
	clear(t.read)
}

// trustPath is the entry of a name, whatever characters that has.
func trustPath(name string) string {
	path := trustScheme + url.PathEscape(name)
	if len(path) > sdk.MaxPath {
		sum := sha256.Sum256([]byte(name))
		path = trustScheme + "sha256-" + hex.EncodeToString(sum[:])
	}
	return path
}

// trustWrite is the write that trusts a skill as it is, or with nil takes the trust
// in a name back. What was trusted stays known then, for the difference to be shown.
func trustWrite(name string, c *skill.Contents, now time.Time) (w sdk.Write, err error) {
	w = sdk.Write{Path: trustPath(name), Writer: sdk.WriterSystem, Visibility: sdk.Archived}
	a := trustAnswer{Name: name, Answered: now}
	if c != nil {
		a.Hash = c.Hash
		text, err := json.Marshal(trustedSkill{c.Hash, c.Files})
		if err != nil {
			return w, err
		}
		w.Body = new(string(text))
	}
	w.Attributes, err = json.Marshal(a)
	return w, err
}
