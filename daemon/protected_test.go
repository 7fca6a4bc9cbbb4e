package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestProtectedPathsAgree compares the lists of what is protected in a project:
// the import rules keep the sandbox, the files plugin and the policy apart, so
// each has its own (decision 7).
func TestProtectedPathsAgree(t *testing.T) {
	for _, list := range []struct{ sandbox, files, policy string }{
		{"DefaultProtected", "protectedPaths", "protected"},
		{"gitNames", "protectedGit", "protectedGit"},
	} {
		want := stringsOf(t, "sandbox", list.sandbox)
		if len(want) < 5 {
			t.Fatalf("the sandbox's %s holds %q", list.sandbox, want)
		}
		for dir, name := range map[string]string{"plugins/files": list.files, "daemon/internal/policy": list.policy} {
			if got := stringsOf(t, dir, name); !slices.Equal(got, want) {
				t.Errorf("%s of %s is %q, and %s of sandbox is %q", name, dir, got, list.sandbox, want)
			}
		}
	}
}

// TestOwnPathsAgree compares what two plugins take for Bothy itself.
func TestOwnPathsAgree(t *testing.T) {
	bash, files := stringsOf(t, "plugins/bash", "bothyPaths"), stringsOf(t, "plugins/files", "bothyPaths")
	if len(bash) < 5 || !slices.Equal(bash, files) {
		t.Errorf("plugins/bash has %q, plugins/files %q", bash, files)
	}
}

// TestGitConfigurationIsReadAlike holds the two copies of one file together.
func TestGitConfigurationIsReadAlike(t *testing.T) {
	var text []string
	for _, dir := range []string{"sandbox", "plugins/files"} {
		data, err := os.ReadFile(filepath.Join(repositoryRoot(t), filepath.FromSlash(dir), "gitconfig.go"))
		if err != nil {
			t.Fatal(err)
		}
		clause, rest, _ := strings.Cut(string(data), "\n")
		if !strings.HasPrefix(clause, "package ") {
			t.Fatalf("%s/gitconfig.go begins with %q", dir, clause)
		}
		text = append(text, rest)
	}
	if text[0] != text[1] {
		t.Error("sandbox/gitconfig.go and plugins/files/gitconfig.go differ: change both")
	}
}

// stringsOf are the string literals in the variable or function of that name, in
// order.
func stringsOf(t *testing.T, dir, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repositoryRoot(t), filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			found = append(found, literalsOf(t, decl, name)...)
		}
	}
	slices.Sort(found)
	return found
}

func literalsOf(t *testing.T, decl ast.Decl, name string) []string {
	t.Helper()
	var found []string
	inside := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, text)
			}
			return true
		})
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.Name == name && d.Recv == nil {
			inside(d.Body)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && v.Names[0].Name == name {
				inside(v)
			}
		}
	}
	return found
}
