package inspect

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Diagnostic is one thing that is wrong with a plugin. It is an HCL diagnostic,
// so that it is shown like the mistakes in the file itself: its Subject is the
// attribute at fault, or the block.
type Diagnostic struct {
	Instance string
	Block    bool // what its block says is at fault, not what came of it
	*hcl.Diagnostic
}

// Warning reports whether the plugin runs in spite of it.
func (d Diagnostic) Warning() bool { return d.Severity == hcl.DiagWarning }

// Fail is something that keeps a plugin from running.
func (spec Spec) Fail(summary, detail string) Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "plugin " + spec.Instance + ": " + summary, Detail: detail}
	if spec.Source.Filename != "" {
		d.Subject = &spec.Source // of a copy
	}
	return Diagnostic{Instance: spec.Instance, Diagnostic: d}
}

// Warn is something that is wrong with a plugin, which runs all the same.
func (spec Spec) Warn(summary, detail string) Diagnostic {
	d := spec.Fail(summary, detail)
	d.Severity = hcl.DiagWarning
	return d
}

// Fault is why a plugin did not start. One that is permanent is not tried
// again: a person has to change something first.
type Fault struct {
	Summary   string
	Detail    string
	Permanent bool
	Missing   bool            // there is no file
	Config    hcl.Diagnostics // instead of the text, where the block is at fault
}

func (e *Fault) Error() string {
	if len(e.Config) > 0 {
		return e.Config.Error()
	}
	return strings.TrimRight(e.Summary+": "+e.Detail, ": ")
}

// Diagnostics are what a person is told of it.
func (e *Fault) Diagnostics(spec Spec) []Diagnostic {
	if len(e.Config) == 0 {
		return []Diagnostic{spec.Fail(e.Summary, e.Detail)}
	}
	return spec.inBlock(e.Config)
}

// inBlock are mistakes of a plugin's block.
func (spec Spec) inBlock(diags hcl.Diagnostics) (out []Diagnostic) {
	for _, d := range diags {
		out = append(out, Diagnostic{Instance: spec.Instance, Block: true, Diagnostic: d})
	}
	return out
}
