package verbs

// SkillsValidate reads SKILL.md files strictly.
type SkillsValidate struct {
	Paths []string `arg:"" optional:"" name:"path" complete:"dir" help:"Folders to look through, or files; the working directory when there is none."`
}

// Help adds to the help of the verb.
func (SkillsValidate) Help() string {
	return `Looks through folders for files called SKILL.md and says of each what is wrong or odd, in which line, and what to do. The exit code is 1 when one cannot be loaded. No link is followed and nothing is executed.

Examples:

    bothy skills validate ~/.agents/skills
    bothy skills validate --json . | jq -r '.skills[] | select(.loaded | not) | .path'
`
}
