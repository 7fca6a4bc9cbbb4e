package webguard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPage: docs/web.md names every kind and every local name, with the bounds that hold.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	tree, err := parser.ParseFile(token.NewFileSet(), "refusal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typed, ok := spec.Type.(*ast.Ident); !ok || typed.Name != "Kind" {
			return true
		}
		kinds++
		kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil || !strings.Contains(page, "`"+kind+"`") {
			t.Errorf("docs/web.md does not name the kind %s (%v)", kind, err)
		}
		return true
	})
	if kinds < 15 {
		t.Errorf("%d kinds were read", kinds)
	}
	for _, name := range append(local, kept...) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/web.md does not name %s", name)
		}
	}
	for _, says := range []string{
		"A header has " + strconv.Itoa(int(usual.header.Seconds())) + " seconds", "the body " + strconv.Itoa(int(usual.whole.Seconds())),
		"less than 1,000 bytes for each second that it is waited for ends after " + strconv.Itoa(int(usual.grace.Seconds())),
		"Headers have " + strconv.Itoa(mostHeader>>10) + " KiB, a body " + strconv.Itoa(mostBody>>20) + " MiB",
	} {
		if !strings.Contains(page, says) {
			t.Errorf("docs/web.md does not say %q", says)
		}
	}
}
