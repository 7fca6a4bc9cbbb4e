package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/hook"
)

// TestArchNoGRPCBehindTheRooms: what runs agents links nothing of the plugin
// wire, not even by way of another package of ours.
func TestArchNoGRPCBehindTheRooms(t *testing.T) {
	imports := packageImports(t, repositoryRoot(t))
	for _, pkg := range []string{"daemon/internal/engine", "daemon/internal/hook", "daemon/internal/store", "daemon/cmd/bothy"} {
		if way := wayTo(imports, pkg, "google.golang.org/grpc"); way != nil {
			t.Errorf("%s imports gRPC: %s", pkg, strings.Join(way, " -> "))
		}
	}
	if wayTo(imports, "daemon/internal/host", "google.golang.org/grpc") == nil {
		t.Error("the search does not find that the host imports gRPC")
	}
}

// wayTo is a chain of imports from a package of ours to one below prefix; nil
// when there is none.
func wayTo(imports map[string][]string, from, prefix string) []string {
	ways := [][]string{{from}}
	seen := map[string]bool{from: true}
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		for _, imp := range imports[way[len(way)-1]] {
			next := append(slices.Clone(way), imp)
			if strings.HasPrefix(imp, prefix) {
				return next
			}
			if own, ours := strings.CutPrefix(imp, module+"/"); ours && !seen[own] {
				seen[own] = true
				next[len(next)-1] = own
				ways = append(ways, next)
			}
		}
	}
	return nil
}

// TestArchEveryHookIsEmitted: each chain, and so each name of the catalogue, is
// emitted or applied somewhere.
func TestArchEveryHookIsEmitted(t *testing.T) {
	used := emittedChains(t, filepath.Join(repositoryRoot(t), "daemon"))
	chains := reflect.TypeFor[hook.Chains]()
	for i := range chains.NumField() {
		f := chains.Field(i)
		if name, ok := f.Tag.Lookup("hook"); ok && !used[f.Name] {
			t.Errorf("hook %s: nothing emits the chain %s: emit it", name, f.Name)
		}
	}
}

// emittedChains are the names of struct fields that the daemon's own source emits,
// applies or assigns to a variable that is.
func emittedChains(t *testing.T, root string) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	take := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok {
			used[s.Sel.Name] = true
		}
	}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if slices.Contains([]string{"Emit", "Tell", "TellOne", "Apply"}, n.Sel.Name) {
					take(n.X)
				}
			case *ast.AssignStmt:
				for _, e := range n.Rhs {
					take(e)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}
