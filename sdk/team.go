package sdk

// ToolCreatePlan is the tool by which the planning turn of a team says who is to do what.
const ToolCreatePlan = "create_plan"

// TeamOfAll is the name under which a prompt gets all agents as a team, where no agent has that name.
const TeamOfAll = "auto"

// Team makes an agent a team: its prompts are planned, given to those of its Agents that the plan names, and put
// together, in one loop.
type Team struct {
	Mode TeamMode `json:"mode"`
	// Planner is the model of the planning turn, an alias or provider/name; empty is that of the prompt.
	Planner string `json:"planner,omitempty"`
}

// TeamMode is whether the agents of a team work one after the other.
type TeamMode string

// The modes of a team.
const (
	TeamParallel   TeamMode = "parallel"   // at the same time, as far as delegations are
	TeamSequential TeamMode = "sequential" // one after the other, each with what those before came to
)

// TeamModes are all that there are.
func TeamModes() []TeamMode { return []TeamMode{TeamParallel, TeamSequential} }
