package skill

import (
	"github.com/bothyd/bothy/sdk"
)

// The severities of a diagnostic. An error keeps the file from being used.
const (
	severityError   = "error"
	severityWarning = "warning"
)

// wrong is an error at a place of a file; the file as a whole is its first place.
func wrong(code string, line, column int, message, help string) *sdk.SkillDiagnostic {
	return &sdk.SkillDiagnostic{Severity: severityError, Code: code, Line: line, Column: column, Message: message, Help: help}
}

// warning is what is odd, and does not keep a file from being used.
func warning(code string, line, column int, message, help string) *sdk.SkillDiagnostic {
	return &sdk.SkillDiagnostic{Severity: severityWarning, Code: code, Line: line, Column: column, Message: message, Help: help}
}

// note adds diagnostics, nil ones not; an error means that the document cannot be used.
func (d *Document) note(list ...*sdk.SkillDiagnostic) {
	for _, x := range list {
		if x == nil {
			continue
		}
		at := *x
		at.Line, at.Column = max(1, at.Line), max(1, at.Column)
		d.Diagnostics = append(d.Diagnostics, at)
		d.Loaded = d.Loaded && !isError(at)
	}
}

func isError(x sdk.SkillDiagnostic) bool { return x.Severity == severityError }
