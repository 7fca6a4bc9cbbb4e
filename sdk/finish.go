package sdk

import "encoding/json"

// ToolFinish is the tool by which an agent with a FinishSpec hands its result over, and ends the work.
const ToolFinish = "finish_task"

// ToolTests is the tool that runs a project's tests. The structured result of a call has how many passed and failed,
// as numbers: {"passed": 3, "failed": 0}.
const ToolTests = "run_tests"

// FinishSpec is what an agent must hand back, and how that is judged. Its result is the arguments of an accepted
// call of ToolFinish.
type FinishSpec struct {
	// Schema is the JSON Schema of an object that the arguments must satisfy.
	Schema json.RawMessage `json:"schema"`
	// Prove are the proofs that are asked of what it claims: ProofTests, ProofCitations.
	Prove []string `json:"prove,omitempty"`
	// Validator is the label of the plugin of the kind agent that judges the result; empty is none. One that
	// fails, hangs or is missing refuses.
	Validator string `json:"validator,omitempty"`
}

// The proofs that a finish may ask for.
const (
	// ProofTests refuses tests_verified unless the tests passed after the last change.
	ProofTests = "tests"
	// ProofCitations refuses an address that nothing in the work has fetched.
	ProofCitations = "citations"
)

// Proofs are all that there are.
func Proofs() []string { return []string{ProofTests, ProofCitations} }
