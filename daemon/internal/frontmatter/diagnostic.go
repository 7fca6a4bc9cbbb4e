package frontmatter

import "github.com/bothyd/bothy/sdk"

// Diagnostic is what is to be known about a file.
type Diagnostic = sdk.FileDiagnostic

// The severities of a diagnostic. An error keeps the file from being used.
const (
	severityError   = "error"
	severityWarning = "warning"
)

// Wrong is an error at a place of a file; the file as a whole is its first place.
func Wrong(code string, line, column int, message, help string) *Diagnostic {
	return &Diagnostic{Severity: severityError, Code: code, Line: max(1, line), Column: max(1, column), Message: message, Help: help}
}

// Warning is what is odd, and does not keep a file from being used.
func Warning(code string, line, column int, message, help string) *Diagnostic {
	return &Diagnostic{Severity: severityWarning, Code: code, Line: max(1, line), Column: max(1, column), Message: message, Help: help}
}

// IsError reports whether a diagnostic keeps its file from being used.
func IsError(d Diagnostic) bool { return d.Severity == severityError }
