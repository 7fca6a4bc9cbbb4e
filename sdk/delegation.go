package sdk

// ToolDelegate is the tool by which an agent gives a task to another one, whose run is a child of its own.
const ToolDelegate = "delegate"

// ToolPlan is the tool by which a model marks, adds and rewords the steps of its plan, the entries plan://N.
const ToolPlan = "plan"

// PlanScheme is the scheme of the steps of a plan: plan://N is the Nth step of the run.
const PlanScheme = "plan"

// ActionChild is the run and the loop that a call of ToolDelegate began.
type ActionChild struct {
	Run   int64  `json:"run"`
	Alias string `json:"alias"`
	Loop  int64  `json:"loop"`
	Agent string `json:"agent"`
}

// Child is a run that a change makes, with its first prompt: the work of a call of ToolDelegate. Run.Delegator
// and Run.DelegatedBy name the call.
type Child struct {
	Run  Run
	Loop Loop
}
