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

// Trust knows which skills of workspaces people said yes to. The entries are the
// truth; what is read of them is kept until an answer changes it.
type Trust struct {
	entries Entries
	log     hclog.Logger

	mu    sync.Mutex
	turn  int                          // of answers
	known map[string]map[string]string // the hashes by project as it is called, by name
}

// Entries are the entries of projects, by the root of the project and a scheme.
type Entries interface {
	Kept(ctx context.Context, root, scheme string) ([]sdk.Entry, error)
}

// NewTrust makes a Trust over entries.
func NewTrust(e Entries, log hclog.Logger) *Trust {
	return &Trust{entries: e, log: log, known: map[string]map[string]string{}}
}

// Trusts reports whether a person said yes to a skill of this name whose folder
// has this hash. What cannot be read is not trusted.
func (t *Trust) Trusts(project, name, hash string) bool {
	return project != "" && hash != "" && t.hashes(project)[name] == hash
}

// Answered tells which names a person said yes to in a project, whatever their
// folders hold now.
func (t *Trust) Answered(project string) func(name string) bool {
	hashes := t.hashes(project)
	return func(name string) bool { return hashes[name] != "" }
}

// hashes are what people said yes to, by name; empty where they took it back.
func (t *Trust) hashes(project string) map[string]string {
	t.mu.Lock()
	hashes, ok := t.known[project]
	turn := t.turn
	t.mu.Unlock()
	if ok {
		return hashes
	}
	answers, err := t.answers(context.Background(), project)
	if err != nil {
		t.log.Warn("nothing of a project is trusted, because what is cannot be read", "project", project, "error", err)
		return nil
	}
	hashes = map[string]string{}
	for name, a := range answers {
		hashes[name] = a.Hash
	}
	t.mu.Lock()
	if t.turn == turn {
		t.known[project] = hashes
	}
	t.mu.Unlock()
	return hashes
}

// keptAnswer is an answer and what it was about.
type keptAnswer struct {
	trustAnswer
	skill trustedSkill
}

// answers are those that a project has, by name.
func (t *Trust) answers(ctx context.Context, project string) (map[string]keptAnswer, error) {
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return nil, sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	entries, err := t.entries.Kept(ctx, root, trustScheme)
	if err != nil {
		return nil, err
	}
	out := map[string]keptAnswer{}
	for _, e := range entries {
		var a keptAnswer
		if err := json.Unmarshal(e.Attributes, &a.trustAnswer); err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Path, err)
		}
		if err := json.Unmarshal([]byte(e.Body), &a.skill); err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Path, err)
		}
		out[a.Name] = a
	}
	return out, nil
}

// forget has the answers read again. They were changed.
func (t *Trust) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn++
	clear(t.known)
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
