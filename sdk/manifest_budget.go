package sdk

import (
	"encoding/json"
	"fmt"
)

// What a manifest should need: all of its tools go to a model with each request.
const (
	ManifestBudget = 256 << 10 // bytes of its JSON
	ToolsBudget    = 200
	AgentsBudget   = 20
	SchemaBudget   = 64 << 10 // bytes of a tool's JSON Schema
)

// What a daemon takes: a larger manifest is refused, and of one with a larger schema, or words,
// that tool or agent.
const (
	MaxManifest = 8 * ManifestBudget
	MaxTools    = 8 * ToolsBudget
	MaxAgents   = 8 * AgentsBudget
	MaxSchema   = 8 * SchemaBudget

	MaxAgentDescription = 1 << 10 // bytes
)

// ReadManifest reads the JSON that a plugin answers Describe with. The error is of
// outcome validation, also for what is larger than a daemon takes.
func ReadManifest(text []byte) (Manifest, error) {
	var m Manifest
	if len(text) > MaxManifest {
		return m, Errorf(Validation, "the manifest has %d bytes, at most %d are taken", len(text), MaxManifest)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, Errorf(Validation, "the manifest cannot be read: %w", err)
	}
	if len(m.Tools) > MaxTools {
		return m, Errorf(Validation, "the manifest declares %d tools, at most %d are taken", len(m.Tools), MaxTools)
	}
	if len(m.Agents) > MaxAgents {
		return m, Errorf(Validation, "the manifest declares %d agents, at most %d are taken", len(m.Agents), MaxAgents)
	}
	return m, nil
}

// AboveBudget says in what a manifest is larger than it should be, a sentence each.
func (m Manifest) AboveBudget() (found []string) {
	if b, err := json.Marshal(m); err == nil && len(b) > ManifestBudget {
		found = append(found, fmt.Sprintf("the manifest has %d bytes, and should have at most %d", len(b), ManifestBudget))
	}
	if len(m.Tools) > ToolsBudget {
		found = append(found, fmt.Sprintf("it declares %d tools, and should declare at most %d: all of them go to the model with each request", len(m.Tools), ToolsBudget))
	}
	for _, t := range m.Tools {
		if len(t.Parameters) > SchemaBudget {
			found = append(found, fmt.Sprintf("tool %s: its JSON Schema has %d bytes, and should have at most %d", t.Name, len(t.Parameters), SchemaBudget))
		}
	}
	if len(m.Agents) > AgentsBudget {
		found = append(found, fmt.Sprintf("it declares %d agents, and should declare at most %d", len(m.Agents), AgentsBudget))
	}
	for _, a := range m.Agents {
		if len(a.Schema) > SchemaBudget {
			found = append(found, fmt.Sprintf("agent %s: its JSON Schema has %d bytes, and should have at most %d", a.Name, len(a.Schema), SchemaBudget))
		}
	}
	return found
}
