package finish

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Kept is a prompt's schema as its loop keeps it.
func Kept(text json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(text) == 0, string(text) == "null":
		return nil, nil
	case !json.Valid(text):
		return nil, sdk.Errorf(sdk.Validation, "the schema of the result is no JSON")
	}
	return json.Marshal(text)
}

// Of is what an agent has to hand over for a prompt: by the prompt's own schema where it has one, which the
// agent's proofs and its validator judge all the same.
func Of(a sdk.Agent, schema json.RawMessage) (*sdk.FinishSpec, error) {
	if len(schema) == 0 {
		return a.Finish, nil
	}
	spec := sdk.FinishSpec{Schema: schema}
	if a.Finish != nil {
		spec.Prove, spec.Validator = a.Finish.Prove, a.Finish.Validator
	}
	if err := Check(spec); err != nil {
		return nil, sdk.Errorf(sdk.Validation, "a result of the agent %q cannot have the schema of the prompt: %w", a.Name, err)
	}
	return &spec, nil
}
