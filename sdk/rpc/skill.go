package rpc

import "github.com/bothyd/bothy/sdk"

// SkillQuery asks for the skills of a project; an empty Project is all that is
// there without one.
type SkillQuery struct {
	Project string          `json:"project,omitempty" access:"project"` // absolute path of a directory
	Name    string          `json:"name,omitempty" access:"free"`       // only this one
	Status  sdk.SkillStatus `json:"status,omitempty" access:"free"`     // only these; skills/list alone heeds it
	Again   bool            `json:"again,omitempty" access:"free"`      // look at the folders again first, whether or not anything is known to have changed; skills/list alone heeds it
}

// Skills answers skills/list: every skill, whatever its status, by name and
// then in the order of precedence.
type Skills struct {
	Skills  []sdk.Skill   `json:"skills"`
	Folders []SkillFolder `json:"folders"`
}

// SkillFolder is one folder in which skills are looked for, in the order of
// precedence.
type SkillFolder struct {
	Tier     sdk.SkillTier `json:"tier"`
	Path     string        `json:"path"`
	Exists   bool          `json:"exists"`
	Skills   int           `json:"skills"`            // found in it, whatever their status
	Watching string        `json:"watching"`          // "inotify", "kqueue" or "polling"
	Problem  string        `json:"problem,omitempty"` // what keeps it from being read or watched whole
}

// SkillState says how the skills are that need no workspace.
type SkillState struct {
	Usable  int           `json:"usable"`
	Folders []SkillFolder `json:"folders"`
}

// SkillInfo answers skills/info.
type SkillInfo struct {
	Skill  sdk.Skill   `json:"skill"`
	Others []sdk.Skill `json:"others,omitempty"` // of the same name, in the order of precedence
	Files  []string    `json:"files,omitempty"`  // of its folder, relative; capped
	More   int         `json:"more,omitempty"`   // files beyond the cap
	Body   string      `json:"body"`
}

// SkillExplain answers skills/explain: whether a skill is in the prompt of an
// agent, and why.
type SkillExplain struct {
	Name     string   `json:"name"`
	Found    bool     `json:"found"`
	InPrompt bool     `json:"in_prompt"`
	Reasons  []string `json:"reasons"` // sentences, the decisive one first
	Shown    string   `json:"shown,omitempty"`
}

// SkillExplainQuery asks why a skill is in a prompt or is not.
type SkillExplainQuery struct {
	Project string `json:"project,omitempty" access:"project"`
	Name    string `json:"name" access:"free"`
	Agent   string `json:"agent,omitempty" access:"free"` // empty: "default"
	Model   string `json:"model,omitempty" access:"free"` // empty: the agent's; its context decides the budget
	Prompt  string `json:"prompt,omitempty" access:"free"`
}

// SkillMatchQuery asks which skills fit a text.
type SkillMatchQuery struct {
	Project string `json:"project,omitempty" access:"project"`
	Query   string `json:"query" access:"free"`
	Limit   int    `json:"limit,omitempty" access:"free"` // 0 is 10
}

// SkillMatches answers skills/match, best first.
type SkillMatches struct {
	Matches []SkillMatch `json:"matches"`
}

// SkillMatch is one skill that fits.
type SkillMatch struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Tier        sdk.SkillTier `json:"tier"`
	Score       float64       `json:"score"` // BM25; comparable within one answer only
	Terms       []string      `json:"terms"` // of the query, that were found
}

// SkillSwitch is skills/enable: it edits one skill block of the user's file.
type SkillSwitch struct {
	Name    string `json:"name" access:"free"`
	Enabled bool   `json:"enabled" access:"free"`
	Project string `json:"project,omitempty" access:"project"` // where the name must be known
}

// SkillSwitched says what became of it.
type SkillSwitched struct {
	File    string `json:"file"`    // that holds the block
	Changed bool   `json:"changed"` // false: it was so already
	Note    string `json:"note,omitempty"`
}

// SkillCreate is skills/create: a new skill in the user's folder.
type SkillCreate struct {
	Name        string `json:"name" access:"free"`
	Description string `json:"description,omitempty" access:"free"`
	Code        bool   `json:"code,omitempty" access:"free"` // bound to a plugin of the same name
}

// SkillCreated says where it lies.
type SkillCreated struct {
	Folder string   `json:"folder"`
	Files  []string `json:"files"` // made, absolute
}

// SkillsChanged is the notification skills/changed: names by what became of
// them, in the catalogue of a project; an empty Project is what all share.
type SkillsChanged struct {
	Project string   `json:"project,omitempty"`
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// TrustQuery is skills/trust: what the skills and the agents of a workspace are and what its files
// tell agents, and with Accept, Follow or Revoke the answer to it.
type TrustQuery struct {
	Project string            `json:"project" access:"project"`
	Names   []string          `json:"names,omitempty" access:"free"`     // empty: all
	Accept  map[string]string `json:"accept,omitempty" access:"approve"` // name to the hash that was shown: only what is still that is trusted
	Revoke  bool              `json:"revoke,omitempty" access:"approve"` // take back the trust in Names, or with Instructions in those
	Agents  bool              `json:"agents,omitempty" access:"free"`    // Names and Accept are those of agents' files, and of no skill
	// Instructions is about the instructions of the folder alone (AGENTS.md), and no skill.
	Instructions bool `json:"instructions,omitempty" access:"free"`
	Follow       bool `json:"follow,omitempty" access:"approve"` // agents follow them from now on, whatever they come to say
}

// Trust answers it.
type Trust struct {
	Project      string            `json:"project"`
	Skills       []TrustSkill      `json:"skills"`
	Agents       []TrustAgent      `json:"agents"`
	Instructions TrustInstructions `json:"instructions"`
}

// TrustInstructions are the instructions of a folder as they would be followed. That of
// its root is shown; what is said of it holds for those below as well.
type TrustInstructions struct {
	File     string `json:"file,omitempty"` // AGENTS.md or CLAUDE.md; empty when the root has none
	Size     int64  `json:"size,omitempty"`
	Trusted  bool   `json:"trusted"`
	Answered bool   `json:"answered"`          // a person has said yes or no
	Text     string `json:"text,omitempty"`    // as models get it; only where TrustQuery.Instructions asks
	Problem  string `json:"problem,omitempty"` // why it cannot be read
}

// TrustSkill is one skill of a workspace as it would be trusted.
type TrustSkill struct {
	Skill   sdk.Skill   `json:"skill"`
	Hash    string      `json:"hash"` // of its whole folder: names, modes and contents
	Trusted bool        `json:"trusted"`
	Before  string      `json:"before,omitempty"` // the hash that was trusted last, when it is another
	Files   []TrustFile `json:"files"`
	Diff    string      `json:"diff,omitempty"`    // of texts, against what was trusted last, or nothing
	Hides   []string    `json:"hides,omitempty"`   // the tiers whose skill of this name it would hide
	Problem string      `json:"problem,omitempty"` // why it cannot be trusted at all
	// Warnings name characters in its texts that a person does not see.
	Warnings []string `json:"warnings,omitempty"`
}

// TrustAgent is an agent's file of a workspace as it would be trusted.
type TrustAgent struct {
	Agent   sdk.Agent `json:"agent"`            // as the file asks for it; its persona is in Diff alone
	Models  []string  `json:"models,omitempty"` // that it names
	Path    string    `json:"path"`
	Hash    string    `json:"hash"` // hex SHA-256 of its bytes
	Trusted bool      `json:"trusted"`
	Before  string    `json:"before,omitempty"`  // the hash that was trusted last, when it is another
	Diff    string    `json:"diff,omitempty"`    // against what was trusted last, or nothing
	Problem string    `json:"problem,omitempty"` // why it cannot be trusted at all
	// Warnings are what of it does not hold, and characters that a person does not see.
	Warnings []string `json:"warnings,omitempty"`
}

// TrustFile is one file of a skill.
type TrustFile struct {
	Path   string `json:"path"` // relative to the skill's folder
	Size   int64  `json:"size"`
	Script bool   `json:"script,omitempty"` // can be executed, or begins with #!
	Hash   string `json:"hash"`
	Change string `json:"change,omitempty"` // "added", "changed" or "removed" since it was trusted last
}
