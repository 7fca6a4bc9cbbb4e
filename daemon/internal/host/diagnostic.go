package host

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Diagnostic is one thing that is wrong with a plugin. It is an HCL diagnostic,
// so that it is shown like the mistakes in the file itself: its Subject is the
// attribute at fault, or the block.
type Diagnostic struct {
	Instance string
	*hcl.Diagnostic
}

// Warning reports whether the plugin runs in spite of it.
func (d Diagnostic) Warning() bool { return d.Severity == hcl.DiagWarning }

func diagnose(spec Spec, summary, detail string) Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "plugin " + spec.Instance + ": " + summary, Detail: detail}
	if spec.Source.Filename != "" {
		source := spec.Source
		d.Subject = &source
	}
	return Diagnostic{Instance: spec.Instance, Diagnostic: d}
}

func warn(spec Spec, summary, detail string) Diagnostic {
	d := diagnose(spec, summary, detail)
	d.Severity = hcl.DiagWarning
	return d
}

// startError is why a plugin did not start. One that is permanent is not tried
// again: a person has to change something first.
type startError struct {
	summary   string
	detail    string
	permanent bool
	missing   bool            // there is no file
	outdated  bool            // what was kept of it misled: it is to be asked
	config    hcl.Diagnostics // instead of the text, where the block is at fault
}

func (e *startError) Error() string {
	if len(e.config) > 0 {
		return e.config.Error()
	}
	return strings.TrimRight(e.summary+": "+e.detail, ": ")
}

// Unstartable is in the chain of an error of a call to a plugin that could not
// be started or configured, and is not tried again before a person has changed
// something. The call never reached it.
type Unstartable struct {
	Diagnostics []Diagnostic // what Start or Config.Diagnose was told
	why         *startError
}

func (u *Unstartable) Error() string { return u.why.Error() }

func (e *startError) diagnostics(spec Spec) []Diagnostic {
	if len(e.config) == 0 {
		return []Diagnostic{diagnose(spec, e.summary, e.detail)}
	}
	var out []Diagnostic
	for _, d := range e.config {
		out = append(out, Diagnostic{Instance: spec.Instance, Diagnostic: d})
	}
	return out
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// list writes names for a person.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
