package main

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk/schema"
)

// TestPlanSchema: what could not be followed is not handed over.
func TestPlanSchema(t *testing.T) {
	s, err := schema.Compile([]byte(planSchema))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plan, step, action string
		taken              bool
	}{
		"a plan":              {"Release 1.2", "Test", "Run the tests\nand look", true},
		"no name":             {" ", "Test", "Run the tests", false},
		"a name of two lines": {"Release\nit", "Test", "Run the tests", false},
		"no name of a step":   {"Release", "\t", "Run the tests", false},
		"no action":           {"Release", "Test", " \n ", false},
	} {
		text, err := json.Marshal(map[string]any{"name": c.plan, "steps": []map[string]string{{"name": c.step, "action": c.action}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Validate(text); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
