package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// Asked is a plan that a person gave in the place of a prompt, with the steps that they ask for. Nil is a prompt without
// one.
type Asked struct {
	plan  Plan
	steps Range
}

// Ask reads the file of a plan that stands in the place of a prompt.
func Ask(file, text string, steps Range) (*Asked, error) {
	read, err := Read(file, []byte(text))
	if err != nil {
		return nil, err
	}
	return &Asked{read, steps}, steps.Check(read)
}

// Title is the prompt that names it to people.
func (a *Asked) Title(file string) string {
	return fmt.Sprintf("Follow the plan %s: %s", filepath.Base(file), a.plan.Goal)
}

// Digest tells one plan from another, with what is asked for of it.
func (a *Asked) Digest() string {
	if a == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(a.plan.Prompt(a.steps)))
	return hex.EncodeToString(sum[:])
}

// Meaning is what the model reads: the plan, where there is one.
func (a *Asked) Meaning(m *sdk.Meaning) *sdk.Meaning {
	if a == nil {
		return m
	}
	return &sdk.Meaning{Text: a.plan.Prompt(a.steps)}
}

// Steps are those that it puts into a run.
func (a *Asked) Steps() []sdk.PlanStep { return a.plan.InRun(a.steps) }
