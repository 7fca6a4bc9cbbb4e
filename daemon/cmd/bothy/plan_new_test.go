package main

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// TestPlanIsWritten: what an agent handed over is in the file, whatever its texts are.
func TestPlanIsWritten(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ \n\t:#'"|>\-\[\]{}a-c&*!%@\\]{1,30}`),
		rapid.Just("make check\nmake bench: all\n\n  # indented"),
	)
	rapid.Check(t, func(t *rapid.T) {
		var p writtenPlan
		p.Name, p.Description = text.Draw(t, "name"), text.Draw(t, "description")
		p.Steps = append(p.Steps, struct {
			Name    string `json:"name"`
			Action  string `json:"action"`
			Context string `json:"context"`
		}{text.Draw(t, "step"), text.Draw(t, "action"), text.Draw(t, "context")})
		var got writtenPlan
		if err := yaml.Unmarshal([]byte(p.yaml()), &got); err != nil {
			t.Fatalf("%v\n%s", err, p.yaml())
		}
		for _, x := range [][2]string{{p.Name, got.Name}, {p.Description, got.Description}, {p.Steps[0].Name, got.Steps[0].Name}, {p.Steps[0].Action, got.Steps[0].Action}, {p.Steps[0].Context, got.Steps[0].Context}} {
			if strings.TrimRight(x[0], "\n") != x[1] {
				t.Fatalf("%q is read as %q\n%s", x[0], x[1], p.yaml())
			}
		}
	})
}
