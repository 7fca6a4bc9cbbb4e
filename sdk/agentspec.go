package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// AgentSpec is an agent that a plugin brings, as its manifest declares it. It becomes one that can be chosen where
// the plugin's block names it, with no more than a person's own agents have: what is not said here, such as
// the mode and the guards, is the agent default's.
type AgentSpec struct {
	Name        string `json:"name"`
	Description string `json:"description"`       // what it is for, in a sentence, for people and for whoever delegates
	Persona     string `json:"persona,omitempty"` // text that joins the system prompt
	// Tools are globs over the names of the tools that it works with; none are the plugin's own.
	Tools []string `json:"tools,omitempty"`
	// Schema is the JSON Schema of the object that it hands back, which its plugin then judges. Without it a plain
	// answer ends the work.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Check finds what keeps the agent from being used, but for its schema, of which package schema knows.
func (a AgentSpec) Check() error {
	switch {
	case !validAgentName(a.Name):
		return fmt.Errorf("%q is no name of an agent: it is made of a-z, 0-9, dot, dash and underscore, at most 64 of them, a letter or digit first", a.Name)
	case a.Name == DefaultAgent:
		return fmt.Errorf("%q is the agent of whoever names none, and is nobody's but the person's", a.Name)
	case strings.TrimSpace(a.Description) == "":
		return errors.New("it has no description: nobody can tell what it is for")
	case len(a.Description) > MaxAgentDescription:
		return fmt.Errorf("its description has %d bytes, at most %d are taken: what it is to do stands in its persona", len(a.Description), MaxAgentDescription)
	case len(a.Persona) > MaxPersona:
		return fmt.Errorf("its persona has %d bytes, at most %d are taken", len(a.Persona), MaxPersona)
	}
	for _, glob := range a.Tools {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			return fmt.Errorf("its tools hold %q, which is no pattern: write a name, or one with stars such as \"read_*\"", glob)
		}
	}
	return nil
}

// validAgentName reports whether a name could be the label of an agent block.
func validAgentName(name string) bool {
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && len(name) <= 64 && strings.Trim(name, first+"._-") == "" && strings.ContainsRune(first, rune(name[0]))
}
