package sdk

import "time"

// SkillTier is where a skill comes from. A name in a higher tier hides the same
// name in a lower one, whole.
type SkillTier string

// The tiers, from low to high (ADR 0018).
const (
	TierBundled   SkillTier = "bundled"   // came with Bothy
	TierUser      SkillTier = "user"      // the person's own, for all projects
	TierWorkspace SkillTier = "workspace" // came with the project; inert until trusted
)

// SkillStatus says whether a skill can be used, and if not what stands in the
// way.
type SkillStatus string

// The states of a skill. Only an enabled one reaches a prompt.
const (
	SkillEnabled   SkillStatus = "enabled"
	SkillDisabled  SkillStatus = "disabled"  // by a skill block, or by enabled in its own frontmatter
	SkillUntrusted SkillStatus = "untrusted" // of the workspace, and nobody has said yes to what it is now; it hides nothing
	SkillShadowed  SkillStatus = "shadowed"  // one of a higher tier, or earlier folder, has its name
	SkillBroken    SkillStatus = "broken"    // cannot be read, and never could while this daemon lives
)

// Skill is a SKILL.md folder as people see it. Fields that its frontmatter does
// not have are empty, but Name and Description, which are derived then (a
// diagnostic says so).
type Skill struct {
	Name          string           `json:"name"`
	Description   string           `json:"description"`
	Tier          SkillTier        `json:"tier"`
	Root          string           `json:"root"`   // the folder of the tier that it was found in
	Folder        string           `json:"folder"` // its own, as found: a link is not followed here
	Path          string           `json:"path"`   // of its SKILL.md
	Hash          string           `json:"hash"`   // hex SHA-256 of SKILL.md, as it is in force
	Status        SkillStatus      `json:"status"`
	Reason        string           `json:"reason,omitempty"` // one sentence, when the status is not enabled
	Version       string           `json:"version,omitempty"`
	License       string           `json:"license,omitempty"`
	Compatibility string           `json:"compatibility,omitempty"`
	Tags          []string         `json:"tags,omitempty"`
	ToolsRequired []string         `json:"tools_required,omitempty"` // names of tools, which must be there
	AllowedTools  []string         `json:"allowed_tools,omitempty"`  // what it asks to have pre-approved, as written; empty when it was repaired
	Plugin        string           `json:"plugin,omitempty"`         // a code skill: the plugin block that executes it
	ArgumentHint  string           `json:"argument_hint,omitempty"`
	PeopleOnly    bool             `json:"people_only,omitempty"` // disable-model-invocation: not in the prompt, only by /name
	Metadata      map[string]any   `json:"metadata,omitempty"`
	Extensions    map[string]any   `json:"extensions,omitempty"` // fields of other agents, read and not heeded
	Repaired      bool             `json:"repaired,omitempty"`   // its frontmatter was no YAML until values were quoted
	Stale         bool             `json:"stale,omitempty"`      // the file is broken now; this is the last good version
	Modified      time.Time        `json:"modified,omitzero"`
	Diagnostics   []FileDiagnostic `json:"diagnostics,omitempty"`
}

// SkillDocument is a skill with its text.
type SkillDocument struct {
	Skill
	Body string `json:"body"` // the Markdown behind the frontmatter, line ends as they are
}

// FileDiagnostic is something to know about a SKILL.md or another file of its kind, where it stands.
type FileDiagnostic struct {
	Severity string `json:"severity"` // "error": the file cannot be loaded, or not from this version; "warning": it can
	Code     string `json:"code"`     // stable, such as "name-missing"
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"` // what is wrong
	Help     string `json:"help"`    // what to do
}

// SkillCall is one execution of a code skill, with the context that the host
// supplies. None of it but Input was written by a model or typed with it.
type SkillCall struct {
	Skill    string    `json:"skill"`   // its name
	Input    string    `json:"input"`   // what the model or the person wants of it, as text
	Body     string    `json:"body"`    // the Markdown of its SKILL.md, as the run has it
	Folder   string    `json:"folder"`  // absolute path of the run's pinned copy of its folder
	Model    string    `json:"model"`   // of the run; a completion without a model asks this one
	CallID   string    `json:"call_id"` // as in Invocation
	Run      string    `json:"run"`
	Project  string    `json:"project"` // empty where the block grants neither project nor sandbox
	RunDir   string    `json:"run_dir"`
	Deadline time.Time `json:"deadline,omitzero"`
}
