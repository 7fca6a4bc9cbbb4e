package daemon

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/bothyd/bothy"

// row says what the packages that match pkg may import of ours. Patterns are
// path.Match patterns on the path below the module; "/..." takes the whole tree.
type row struct {
	pkg string
	may []string
	why string
}

// barred keeps a module from all packages but some.
type barred struct {
	prefix string
	only   []string
	why    string
}

// architecture reads the two tables of docs/architecture.md: a line has the
// package or module, a list of what stands in backquotes, and the reason. The
// first row that matches a package holds for it.
func architecture(t *testing.T) (rows []row, modules []barred) {
	t.Helper()
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	head := ""
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || strings.HasPrefix(cells[0], "---") {
			continue
		}
		if name := strings.TrimSpace(cells[0]); !strings.HasPrefix(name, "`") {
			head = name
			continue
		}
		name, list, why := quoted(cells[0])[0], quoted(cells[1]), strings.TrimSpace(cells[2])
		switch head {
		case "package":
			rows = append(rows, row{name, list, why})
		case "module":
			modules = append(modules, barred{name, list, why})
		}
	}
	return rows, modules
}

// quoted are the texts in backquotes of a cell.
func quoted(cell string) (all []string) {
	for i, text := range strings.Split(cell, "`") {
		if i%2 == 1 {
			all = append(all, text)
		}
	}
	return all
}

// TestArchitecturePage holds that the page has both tables, a reason in each row,
// and names no file and no package that is not there.
func TestArchitecturePage(t *testing.T) {
	table, thirdParty := architecture(t)
	if len(table) < 40 || len(thirdParty) < 4 {
		t.Fatalf("%d packages and %d modules are read from docs/architecture.md", len(table), len(thirdParty))
	}
	root := repositoryRoot(t)
	packages := packageImports(t, root)
	for _, r := range table {
		if r.why == "" {
			t.Errorf("the row of %s says no reason", r.pkg)
		}
		for _, p := range append([]string{r.pkg}, r.may...) {
			found := false
			for pkg := range packages {
				found = found || matches(p, pkg)
			}
			if !found {
				t.Errorf("the row of %s names %s, and there is no such package", r.pkg, p)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := ""
	for line := range strings.Lines(string(page)) {
		for _, name := range quoted(line) {
			if !strings.HasSuffix(name, ".go") {
				continue
			}
			if strings.Contains(name, "/") {
				dir = path.Dir(name)
			}
			if _, err := os.Stat(filepath.Join(root, dir, path.Base(name))); err != nil {
				t.Errorf("docs/architecture.md names %s in %s: %v", name, dir, err)
			}
		}
	}
}

func TestImportTable(t *testing.T) {
	root := repositoryRoot(t)
	table, thirdParty := architecture(t)
	for pkg, imports := range packageImports(t, root) {
		r, ok := findRow(table, pkg)
		if !ok {
			t.Errorf("package %s has no row in the import table", pkg)
			continue
		}
		for _, imp := range imports {
			checkThirdParty(t, thirdParty, pkg, imp)
			own, ours := strings.CutPrefix(imp, module)
			if !ours {
				checkNouns(t, pkg, imp)
				continue
			}
			own = strings.TrimPrefix(own, "/")
			if own == "" {
				own = "."
			}
			if !slices.ContainsFunc(r.may, func(p string) bool { return matches(p, own) }) {
				t.Errorf("%s imports %s, which its row does not allow (%v)", pkg, own, r.may)
			}
		}
	}
}

// checkNouns holds package sdk and the root package to the standard library.
func checkNouns(t *testing.T, pkg, imp string) {
	if (pkg == "sdk" || pkg == ".") && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
		t.Errorf("package %s imports %s: it may use the standard library only", pkg, imp)
	}
}

func checkThirdParty(t *testing.T, thirdParty []barred, pkg, imp string) {
	for _, rule := range thirdParty {
		if strings.HasPrefix(imp, rule.prefix) && !slices.ContainsFunc(rule.only, func(p string) bool { return matches(p, pkg) }) {
			t.Errorf("%s imports %s: %s", pkg, imp, rule.why)
		}
	}
}

func findRow(table []row, pkg string) (row, bool) {
	for _, r := range table {
		if matches(r.pkg, pkg) {
			return r, true
		}
	}
	return row{}, false
}

func matches(pattern, pkg string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == tree || strings.HasPrefix(pkg, tree+"/")
	}
	ok, _ := path.Match(pattern, pkg)
	return ok
}

// packageImports reads the imports of all non-test files of the module, for
// every platform, without running the go command.
func packageImports(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		if d.IsDir() {
			return skipFolder(root, rel, d.Name())
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		found[pkg] = append(found[pkg], []string{}...)
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(found[pkg], imp) {
				found[pkg] = append(found[pkg], imp)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 5 {
		t.Fatalf("only %d packages found below %s", len(found), root)
	}
	return found
}

// skipFolder leaves out what is not the module's own source.
func skipFolder(root, rel, name string) error {
	if rel == "." {
		return nil
	}
	if name == "testdata" || name == "build" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(root, rel, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("no go.mod in %s: %v", dir, err)
	}
	return dir
}

// TestTableCatchesWrongEdges keeps the checker itself honest.
func TestTableCatchesWrongEdges(t *testing.T) {
	table, _ := architecture(t)
	for _, c := range []struct {
		pkg, imp string
		ok       bool
	}{
		{"daemon/internal/engine", "daemon/internal/store", false},
		{"daemon/internal/engine", "sdk", true},
		{"daemon/cmd/bothy", "daemon/internal/server", false},
		{"plugins/files", "sandbox", false},
		{"plugins/bash", "sandbox", true},
		{"sdk", "sdk/rpc", false},
		{"sdk/sdktest", "sdk/internal/pb", true},
	} {
		r, found := findRow(table, c.pkg)
		if !found {
			t.Fatalf("no row for %s", c.pkg)
		}
		if got := slices.ContainsFunc(r.may, func(p string) bool { return matches(p, c.imp) }); got != c.ok {
			t.Errorf("%s may import %s: %v, want %v", c.pkg, c.imp, got, c.ok)
		}
	}
}

// TestEveryPackageHasComment holds the rule that each package says what it is.
func TestEveryPackageHasComment(t *testing.T) {
	root := repositoryRoot(t)
	for pkg := range packageImports(t, root) {
		if pkg == "sdk/internal/pb" {
			continue // generated
		}
		if !documented(t, filepath.Join(root, filepath.FromSlash(pkg))) {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

// documented reports whether any file of the package says what it is.
func documented(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			return true
		}
	}
	return false
}

// TestNoTestJudgesTheClock holds that what `make test` finds does not follow
// from how busy a machine is: a test neither takes a time nor compares one. A
// benchmark may, a bubble of testing/synctest has a clock of its own, and what is
// only printed judges nothing.
func TestNoTestJudgesTheClock(t *testing.T) {
	root := repositoryRoot(t)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		if d.IsDir() {
			return skipFolder(root, rel, d.Name())
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, name := range judges(f) {
			if mayTakeTimes[path.Base(rel)+" "+name] != "" {
				continue
			}
			t.Errorf("%s: %s takes a time: count steps or bytes, wait for what happens, or make it a benchmark", rel, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mayTakeTimes are functions that take a time by which nothing is judged, with
// what it is for.
var mayTakeTimes = map[string]string{
	"crash_test.go undisturbed": "how long a run takes says at which moments it is worth killing one",
	"owed_test.go tell":         "the clock is that of a bubble of synctest",
	"bench_test.go clock":       "benchmarks of the host take their times with it",
}

// judges are the functions of a file of tests that take a time and do more with
// it than print it.
func judges(f *ast.File) []string {
	var found []string
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || takesB(fn) || calls(fn, "synctest", "Test") {
			continue
		}
		printed := map[ast.Node]bool{}
		ast.Inspect(fn, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && printed[c] {
				return false
			} else if ok && (isCall(c, "", "Logf") || isCall(c, "", "Log")) {
				for _, a := range c.Args {
					ast.Inspect(a, func(n ast.Node) bool { printed[n] = true; return true })
				}
			} else if ok && (isCall(c, "time", "Since") || isCall(c, "syscall", "Getrusage")) {
				found = append(found, fn.Name.Name)
			}
			return true
		})
	}
	return found
}

// takesB reports whether a function has a *testing.B.
func takesB(fn *ast.FuncDecl) bool {
	for _, p := range fn.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "B" {
				return true
			}
		}
	}
	return false
}

// calls reports whether a function calls pkg.name.
func calls(fn *ast.FuncDecl, pkg, name string) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		found = found || ok && isCall(c, pkg, name)
		return !found
	})
	return found
}

// isCall reports whether a call is one of X.name, where X is pkg unless pkg is
// empty.
func isCall(c *ast.CallExpr, pkg, name string) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return pkg == "" || ok && x.Name == pkg
}

// doors are the files in which a tool is invoked: by the engine, which every call
// passes, and behind it. A plugin's own call of its client is none of the host's.
var doors = map[string]int{
	"daemon/internal/engine/invocation.go": 2, // the host's tools, and the model's own
	"daemon/internal/host/invoke.go":       1, // the plugin's process
	"daemon/internal/callback/process.go":  1, // what a plugin asks for goes to the engine

	"daemon/internal/host/faultplugin/main.go":  1, // a plugin that the host's tests build: calls of its own client
	"daemon/internal/host/faultplugin/tools.go": 1,
}

// TestOneDoor holds that the engine alone invokes a tool, and that it alone
// commits changes of entries, queues prompts and makes children: what goes past it is seen by no hook, no guard and
// no limit of cost.
func TestOneDoor(t *testing.T) {
	invokes, commits, queued, begotten := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for file, tree := range sources(t, "daemon") {
		ast.Inspect(tree, func(n ast.Node) bool {
			if f, ok := n.(*ast.SelectorExpr); ok && strings.HasSuffix(types.ExprString(f.X), ".Store") && (f.Sel.Name == "Enqueue" || f.Sel.Name == "Begin") {
				queued[file]++ // called, or taken as a function
			}
			if l, ok := n.(*ast.CompositeLit); ok && len(l.Elts) > 0 && l.Type != nil && types.ExprString(l.Type) == "sdk.Child" {
				begotten[file]++
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			switch {
			case !ok:
			case f.Sel.Name == "Invoke" && len(call.Args) > 2:
				invokes[file]++
			case f.Sel.Name == "Commit" && strings.HasSuffix(strings.ToLower(types.ExprString(f.X)), "store"):
				commits[file]++
			}
			return true
		})
	}
	if !maps.Equal(invokes, doors) {
		t.Errorf("tools are invoked in %v, and should be in %v", invokes, doors)
	}
	if want := map[string]int{"daemon/internal/engine/commit.go": 1}; !maps.Equal(commits, want) {
		t.Errorf("the store's Commit is called in %v, and should be in %v", commits, want)
	}
	if want := map[string]int{"daemon/internal/engine/enqueue.go": 2}; !maps.Equal(queued, want) {
		t.Errorf("the store's Enqueue and Begin are used in %v, and should be in %v", queued, want)
	}
	if want := map[string]int{"daemon/internal/engine/delegate.go": 1}; !maps.Equal(begotten, want) {
		t.Errorf("children are made in %v, and should be in %v", begotten, want)
	}
}

// sources are the parsed files of a folder and of all folders in it, without tests.
func sources(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	root := repositoryRoot(t)
	all := map[string]*ast.File{}
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		all[filepath.ToSlash(name)] = tree
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestArchDaemonHasNoWeb: what reads pages and PDFs, and what searches, is in the plugin and in none of its libraries here.
func TestArchDaemonHasNoWeb(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./daemon/cmd/bothyd", "./daemon/cmd/bothy", "./daemon/cmd/bothy-shim")
	cmd.Dir = repositoryRoot(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, thirdParty := architecture(t)
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimSpace(pkg)
		if strings.HasPrefix(pkg, module+"/plugins/web") || slices.ContainsFunc(thirdParty, func(b barred) bool {
			return strings.HasPrefix(pkg, b.prefix) && strings.HasPrefix(b.only[0], "plugins/web")
		}) {
			t.Errorf("a binary of the daemon has %s", pkg)
		}
	}
	if !strings.Contains(string(out), module+"/sdk/webguard\n") {
		t.Error("none has sdk/webguard: what is looked for would not be found")
	}
}

// TestArchDaemonIsWiring: package daemon makes the rooms and hands them to each
// other (ADR 0044). A job that grows in it belongs into a room.
func TestArchDaemonIsWiring(t *testing.T) {
	const mostLines, mostFiles = 2200, 28
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines, count := 0, 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines, count = lines+bytes.Count(text, []byte("\n")), count+1
		if file != "daemon.go" && file != "run.go" && file != "load.go" {
			checkHoldsNoDaemon(t, file, text)
		}
	}
	if lines > mostLines || count > mostFiles {
		t.Errorf("package daemon has %d lines in %d files, and may have %d in %d", lines, count, mostLines, mostFiles)
	}
}

// checkHoldsNoDaemon: what holds a *Daemon looks small and sees everything.
func checkHoldsNoDaemon(t *testing.T, file string, text []byte) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "Daemon" {
				t.Errorf("%s: the type %s holds a Daemon: give it the values that it needs", file, spec.Name.Name)
			}
			return true
		})
		return true
	})
}
