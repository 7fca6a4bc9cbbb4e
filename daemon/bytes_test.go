package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// TestBytesInJSON: JSON has bytes as base64, in the middle of which no mark may be
// put. The redactor knows the members by which it is told that they are bytes
// (audit.Redactor.JSON), and so each new one has to be taught to it.
func TestBytesInJSON(t *testing.T) {
	var found []string
	root := repositoryRoot(t)
	for _, dir := range []string{"sdk", "sdk/rpc", "sdk/timeline"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				f, is := n.(*ast.Field)
				if is && f.Tag != nil && isBytes(f.Type) {
					tag, _ := strconv.Unquote(f.Tag.Value)
					found = append(found, dir+" "+reflect.StructTag(tag).Get("json"))
				}
				return true
			})
		}
	}
	if want := []string{"sdk removed,omitempty", "sdk/rpc data", "sdk/rpc data"}; !slices.Equal(found, want) {
		t.Errorf("members of bytes are %q and not %q", found, want)
	}
}

// isBytes reports whether a type is made of bytes.
func isBytes(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.StarExpr:
		return isBytes(x.X)
	case *ast.MapType:
		return isBytes(x.Value)
	case *ast.ArrayType:
		elem, is := x.Elt.(*ast.Ident)
		return is && (elem.Name == "byte" || elem.Name == "uint8") || isBytes(x.Elt)
	}
	return false
}
