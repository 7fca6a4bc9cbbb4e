package config

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Diagnostic is one mistake, or a warning, at its place in a file.
type Diagnostic struct {
	Severity string `json:"severity"` // "error" or "warning"
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Width    int    `json:"width,omitempty"` // characters that the caret underlines
	Source   string `json:"source,omitempty"`
}

// Diagnostics are in the order of the files.
type Diagnostics []Diagnostic

// HasErrors reports whether any is more than a warning.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == "error" })
}

// Error joins the errors into one text, for who returns Diagnostics as an error.
func (ds Diagnostics) Error() string {
	var b strings.Builder
	ds.Write(&b)
	return strings.TrimRight(b.String(), "\n")
}

// Write renders each as file:line:column, the source line and a caret under the place, then what to do.
func (ds Diagnostics) Write(w io.Writer) {
	for _, d := range ds {
		if d.File != "" {
			fmt.Fprintf(w, "%s:%d:%d: ", d.File, d.Line, d.Column)
		}
		fmt.Fprintf(w, "%s: %s\n", d.Severity, d.Summary)
		if d.Source != "" {
			margin := fmt.Sprintf("%5d | ", d.Line)
			fmt.Fprintf(w, "%s%s\n", margin, d.Source)
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", len(margin)), caret(d))
		}
		if d.Detail != "" {
			fmt.Fprintf(w, "      %s\n", d.Detail)
		}
	}
}

// caret underlines the place; tabs before it stay tabs, so that it lines up.
func caret(d Diagnostic) string {
	before := []rune(d.Source)
	before = before[:min(max(d.Column-1, 0), len(before))]
	for i, r := range before {
		if r != '\t' {
			before[i] = ' '
		}
	}
	return string(before) + strings.Repeat("^", max(1, d.Width))
}

// FromHCL translates HCL's own diagnostics, of files, or of a plugin's block that was
// decoded after these were read; files gives the source lines.
func FromHCL(files map[string]*hcl.File, in ...*hcl.Diagnostic) (out Diagnostics) {
	for _, h := range in {
		d := Diagnostic{Severity: "error", Summary: h.Summary, Detail: h.Detail}
		if h.Severity == hcl.DiagWarning {
			d.Severity = "warning"
		}
		if h.Subject != nil {
			place(&d, *h.Subject, files)
		}
		out = append(out, d)
	}
	return out
}

func place(d *Diagnostic, r hcl.Range, files map[string]*hcl.File) {
	d.File, d.Line, d.Column, d.Width = r.Filename, r.Start.Line, r.Start.Column, max(1, r.End.Column-r.Start.Column)
	if f := files[r.Filename]; f != nil {
		d.Source = sourceLine(f.Bytes, r.Start.Line)
	}
	if r.End.Line != r.Start.Line {
		d.Width = max(1, len([]rune(d.Source))-r.Start.Column+1)
	}
}

// sourceLine returns line n without its end, clipped to what fits a screen.
func sourceLine(src []byte, n int) string {
	lines := strings.SplitN(string(src), "\n", n+1)
	if n < 1 || n > len(lines) {
		return ""
	}
	line := []rune(strings.TrimRight(lines[n-1], "\r"))
	return string(line[:min(len(line), 200)])
}
