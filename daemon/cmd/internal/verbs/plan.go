package verbs

// PlanCheck reads a plan.
type PlanCheck struct {
	File string `arg:"" complete:"file" help:"The plan: .yaml, .yml, .json or .md."`
}

// Help adds to the help of the verb.
func (PlanCheck) Help() string {
	return `Reads a plan as 'bothy run --plan' does, and shows every mistake with its line. With --json it prints the steps, and the prompt that an agent gets. The exit code is 2 when the plan cannot be used. Nothing is run.

Examples:

    bothy plan check release.yaml
    bothy plan check --json release.yaml | jq -r .prompt
`
}
