package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Finding is one thing that `bothyd doctor` looked at.
type Finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // "ok", "warn" or "fail"
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do, when there is something
}

// askTime bounds what a plugin may take to look at the machine.
const askTime = 60 * time.Second

// Ask lets a plugin that comes with Bothy look at the machine and at its own settings: its program, with the argument
// check, says a JSON list of findings. What is secret of the settings is not in what it is started with; where the block
// cannot be read they have no Config.
func (s *Inspector) Ask(ctx context.Context, spec Spec, program, name string, settings sdk.Settings, project string) []Finding {
	failed := func(format string, args ...any) []Finding {
		return []Finding{{Name: name, Level: "fail", Detail: fmt.Sprintf(format, args...)}}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	settings.Config = s.Open(ctx, spec)
	text, err := json.Marshal(settings)
	if err != nil {
		return failed("%v", err)
	}
	args := []string{"check", string(text)}
	if project != "" {
		args = append(args, project)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var found []Finding
	if json.Unmarshal(out.Bytes(), &found) != nil {
		return failed("it did not answer (%v): %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return found
}

// Open is the object of a block with another text for each that is secret; nil where the block cannot be read, or its
// program does not say what belongs there.
func (s *Inspector) Open(ctx context.Context, spec Spec) json.RawMessage {
	m, err := s.Manifest(ctx, spec)
	if err != nil || m.Config == nil {
		return nil
	}
	return spec.open(m.Config)
}

// open is the object of the block without what is secret: a text that is set is another text, and anything else is
// left out. It is nil where the block cannot be read.
func (spec Spec) open(declared *sdk.ConfigSchema) json.RawMessage {
	config, _, diags := spec.Decode(declared)
	values := map[string]json.RawMessage{}
	if diags.HasErrors() || json.Unmarshal(config, &values) != nil {
		return nil
	}
	for _, a := range declared.Attributes {
		var text string
		switch {
		case !a.Secret || values[a.Name] == nil:
		case json.Unmarshal(values[a.Name], &text) != nil:
			delete(values, a.Name)
		case text != "":
			values[a.Name] = json.RawMessage(`"[secret]"`)
		}
	}
	config, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return config
}
