package daemon

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a struct that reads the attributes of an action has: one of the members
// that nothing else has, or two of those that other things may have one of.
var (
	actionsAlone = []string{"call_id", "refers", "untold"}
	actionsToo   = []string{"arguments", "changed", "decision", "proposal", "answer", "metadata", "structured", "truncated", "duration_ms"}
)

// notDecoders have members of actions, and are not read from their attributes.
var notDecoders = map[string]string{
	"daemon/cmd/bothy.callResult":   "what `tools call --json` prints",
	"daemon/cmd/bothy.result":       "what `run --format json` prints",
	"daemon/cmd/bothy.resultAction": "what `run --format json` prints of an action",

	"daemon/internal/engine.endAttributes": "what the end of an action writes",
}

// TestOneDecoderOfAnAction: what an action's entry holds is read by sdk.Action and
// by nothing else, so that a member is added in one place.
func TestOneDecoderOfAnAction(t *testing.T) {
	root := repositoryRoot(t)
	seen := map[string]bool{}
	for _, top := range []string{"daemon", "plugins", "sandbox"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, file)
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return skipFolder(root, rel, d.Name())
			case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			for _, name := range actionDecoders(f) {
				name = filepath.ToSlash(filepath.Dir(rel)) + "." + name
				if seen[name] = true; notDecoders[name] == "" {
					t.Errorf("%s: %s has members of an action's attributes; use sdk.Action", rel, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range notDecoders {
		if !seen[name] {
			t.Errorf("%s is not there any more: take it off the list", name)
		}
	}
}

// actionDecoders names the structs of a file that have members of an action. One
// without a name counts by its fields, which JSON finds without tags too.
func actionDecoders(f *ast.File) (found []string) {
	named := map[*ast.StructType]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				named[s] = n.Name.Name
			}
		case *ast.StructType:
			name, has := named[n]
			alone, too := 0, 0
			for _, member := range members(n, !has) {
				if slices.Contains(actionsAlone, member) {
					alone++
				}
				if slices.Contains(actionsToo, member) {
					too++
				}
			}
			if alone > 0 || too > 1 {
				found = append(found, name)
			}
		}
		return true
	})
	return found
}

// members are the names by which JSON knows the fields of a struct.
func members(s *ast.StructType, untagged bool) (names []string) {
	for _, field := range s.Fields.List {
		tag := ""
		if field.Tag != nil {
			text, _ := strconv.Unquote(field.Tag.Value)
			tag, _, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
		}
		switch {
		case tag != "":
			names = append(names, tag)
		case untagged:
			for _, name := range field.Names {
				names = append(names, strings.ToLower(name.Name))
			}
		}
	}
	return names
}

// TestDecodersAreFound keeps the checker itself honest.
func TestDecodersAreFound(t *testing.T) {
	for source, want := range map[string]string{
		"type a struct { CallID string `json:\"call_id\"` }":                                                              "[a]",
		"type a struct { A any `json:\"arguments,omitempty\"`; D any `json:\"decision\"` }":                               "[a]",
		"type a struct { Arguments, Decision any }":                                                                       "[]",
		"type a struct { D any `json:\"decision\"` }":                                                                     "[]",
		"func f() { var at struct { Decision, Answer any } ; _ = at }":                                                    "[]",
		"type a struct { N struct { U bool `json:\"untold\"` } `json:\"n\"` }; type b struct { R any `json:\"refers\"` }": "[ b]",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(source, "func") {
			want = fmt.Sprint([]string{""})
		}
		if got := fmt.Sprint(actionDecoders(f)); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}
