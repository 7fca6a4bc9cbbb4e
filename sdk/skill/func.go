package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Call is what a skill's function is given: what is asked of it, and where its
// output streams.
type Call struct {
	sdk.SkillCall
	Stream
}

// Func is one code skill made of a function. Set serves several.
type Func struct {
	name    string
	execute func(ctx context.Context, call Call) (sdk.ToolResult, error)
}

// New makes a code skill of a function. The name is that of its SKILL.md; a
// mistake in it is reported by Set.Err, before the plugin serves.
func New(name string, fn func(ctx context.Context, call Call) (sdk.ToolResult, error)) Func {
	return Func{name: name, execute: fn}
}

// Text is the result of an execution that went well: what the model reads.
func Text(output string) sdk.ToolResult { return sdk.ToolResult{Success: true, Output: output} }

// Set is a Skill made of functions.
type Set []Func

// Err reports the mistakes of the author, all at once.
func (s Set) Err() error {
	var errs []error
	seen := map[string]bool{}
	for _, f := range s {
		if !ValidName(f.name) {
			errs = append(errs, fmt.Errorf("skill name %q: a name is made of a-z, 0-9 and single dashes between them, at most 64 characters", f.name))
		}
		if seen[f.name] {
			errs = append(errs, fmt.Errorf("skill %s is declared twice", f.name))
		}
		seen[f.name] = true
	}
	return errors.Join(errs...)
}

// ValidName reports whether name may be a skill's name, as the Agent Skills
// standard has it.
func ValidName(name string) bool {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return false
	}
	return !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-") && !strings.Contains(name, "--")
}

// Skills implements Skill.
func (s Set) Skills() []string {
	names := make([]string, 0, len(s))
	for _, f := range s {
		names = append(names, f.name)
	}
	return names
}

// Execute implements Skill.
func (s Set) Execute(ctx context.Context, call sdk.SkillCall, out Stream) (sdk.ToolResult, error) {
	i := slices.IndexFunc(s, func(f Func) bool { return f.name == call.Skill })
	if i < 0 {
		return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "the plugin has no skill %s; it has %s", call.Skill, strings.Join(s.Skills(), ", "))
	}
	return s[i].execute(ctx, Call{SkillCall: call, Stream: out})
}

var _ Skill = Set(nil)
