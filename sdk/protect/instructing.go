package protect

import "slices"

// instructing are patterns of what tells agents what to do: what a model may keep up as it likes, and what is refused
// where the configuration does not free it. Other agents' files are among them, since somebody opens the project with those.
var instructing = []string{
	"AGENTS.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CONVENTIONS.md", "SKILL.md", "bothy-plugin.hcl",
	".bothy", ".agents", "bothy.lock", ".claude", ".codex", ".cursor", ".gemini",
	".cursorrules", ".windsurfrules", ".windsurf", ".clinerules", ".roo", ".roorules", ".goosehints", ".aider.conf.yml", ".continue", ".opencode", ".kiro", ".junie", ".rules",
	".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".github/skills",
}

// Instructing are patterns for [Rules.Ask] of what tells agents what to do: what a run that has read somebody else's
// text changes only with a person's yes.
func Instructing() []string { return slices.Clone(instructing) }
