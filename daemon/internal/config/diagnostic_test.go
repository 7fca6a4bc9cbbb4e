package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// TestCarets: the line of the source and the caret below it, wherever a mistake stands.
func TestCarets(t *testing.T) {
	long := "x = \"" + strings.Repeat("y", 500) + "\""
	files := map[string]*hcl.File{"f": {Bytes: []byte("a = 1\r\n\tb = \"é\" # ü\n" + long + "\nlast")}}
	at := func(line, column, endLine, endColumn int) *hcl.Range {
		return &hcl.Range{Filename: "f", Start: hcl.Pos{Line: line, Column: column}, End: hcl.Pos{Line: endLine, Column: endColumn}}
	}
	for name, c := range map[string]struct {
		at    *hcl.Range
		lines string // those of the source and the caret
	}{
		"a word":               {at(1, 5, 1, 6), "    1 | a = 1\n            ^\n"},
		"nothing":              {at(1, 1, 1, 1), "    1 | a = 1\n        ^\n"},
		"behind a tab":         {at(2, 6, 2, 9), "    2 | \tb = \"é\" # ü\n        \t    ^^^\n"},
		"over lines":           {at(2, 2, 4, 2), "    2 | \tb = \"é\" # ü\n        \t^^^^^^^^^^^\n"},
		"the last line":        {at(4, 1, 4, 5), "    4 | last\n        ^^^^\n"},
		"behind the last line": {at(9, 1, 9, 2), ""},
		"in no line":           {at(0, 0, 0, 0), ""},
		"behind what is shown": {at(3, 300, 3, 301), "    3 | " + long[:200] + "\n        " + strings.Repeat(" ", 200) + "^\n"},
		"of another file":      {&hcl.Range{Filename: "g", Start: hcl.Pos{Line: 1, Column: 1}}, ""},
		"nowhere":              {nil, ""},
	} {
		d := FromHCL(files, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "S", Detail: "D", Subject: c.at})
		head := "error: S\n"
		if c.at != nil {
			head = fmt.Sprintf("%s:%d:%d: %s", c.at.Filename, c.at.Start.Line, c.at.Start.Column, head)
		}
		if got := d.Error() + "\n"; got != head+c.lines+"      D\n" {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, head+c.lines+"      D\n")
		}
	}
	warning := FromHCL(nil, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "W"})
	if warning.HasErrors() || warning.Error() != "warning: W" || len(FromHCL(nil)) > 0 {
		t.Errorf("%v", warning)
	}
}
