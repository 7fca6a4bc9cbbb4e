package failpoint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestNamesAreComplete holds the list beside the constants.
func TestNamesAreComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "failpoint.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Name" {
				constants++
			}
		}
		return true
	})
	if len(Names()) != constants {
		t.Errorf("%d names are listed, and there are %d constants", len(Names()), constants)
	}
	seen := map[Name]bool{}
	for _, n := range Names() {
		if seen[n] {
			t.Errorf("%s is listed twice", n)
		}
		seen[n] = true
	}
}
