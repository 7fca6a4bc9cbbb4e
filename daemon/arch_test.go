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
	pkg   string
	may   []string
	since string // why, where the design's table needs a word
}

// table is the import table of the design, section 3. The first row that
// matches a package holds for it.
var table = []row{
	{pkg: ".", since: "the root package embeds config.hcl"},
	{pkg: "sdk"},
	{pkg: "sdk/internal/pb"},
	{pkg: "sdk/internal/wire", may: []string{"sdk", "sdk/internal/pb"}, since: "ADR 0005: nouns to messages and back, once for all kinds"},
	{pkg: "sandbox/frame", since: "ADR 0003: the words between the runner and its owner"},
	{pkg: "sandbox/runner", may: []string{"sandbox/frame"}, since: "ADR 0003"},
	{pkg: "sandbox", may: []string{"sandbox/frame"}, since: "ADR 0003"},
	{pkg: "sdk/rpc", may: []string{"sdk"}},
	{pkg: "sdk/match", may: []string{"sdk"}},
	{pkg: "sdk/timeline", may: []string{"sdk"}, since: "ADR 0039: the fold from a run's journal to loops, turns and actions"},
	{pkg: "sdk/client", may: []string{"sdk", "sdk/rpc"}},
	{pkg: "sdk/tool", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire"}},
	{pkg: "sdk/provider", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire"}},
	{pkg: "sdk/skill", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire"}},
	{pkg: "sdk/hook", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire"}},
	{pkg: "sdk/channel", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire"}},
	{pkg: "sdk/host", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire"}},
	{pkg: "sdk/modelhttp", may: []string{"sdk"}, since: "ADR 0006: what the providers over HTTP share"},
	{pkg: "sdk/conformance", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire", "sdk/tool", "sdk/provider", "sdk/skill", "sdk/hook", "sdk/channel", "sdk/host"}, since: "ADR 0035: what every plugin promises, for the sub-command test, the daemon's binary and sdktest"},
	{pkg: "sdk/plugin", may: []string{"sdk", "sdk/internal/pb", "sdk/internal/wire", "sdk/conformance", "sdk/rpc", "sdk/tool", "sdk/provider", "sdk/skill", "sdk/hook", "sdk/channel", "sdk/host"}},
	{pkg: "sdk/sdktest", may: []string{"sdk/..."}},
	{pkg: "daemon/cmd/bothy", may: []string{"sdk", "sdk/rpc", "sdk/client", "sdk/timeline", "daemon/cmd/internal/verbs"}},
	{pkg: "daemon/cmd/internal/verbs", may: []string{"sdk"}, since: "flags and help texts that bothy and bothyd share, and nothing else"},
	{pkg: "daemon/cmd/bothyd", may: []string{"daemon/...", "sdk/...", "."}},
	{pkg: "daemon/cmd/bothy-shim", may: []string{"daemon/internal/confine", "daemon/internal/group"}, since: "ADR 0033: between fork and exec of a plugin"},
	{pkg: "daemon/internal/group", since: "ADR 0029: what the daemon and its shim say to each other of what plugins started"},
	{pkg: "daemon/internal/confine", since: "ADR 0033: what the daemon and its shim say to each other"},
	{pkg: "daemon", may: []string{"daemon/internal/...", "sdk/...", "."}},
	{pkg: "daemon/bench", may: []string{"daemon/...", "sdk/...", "sandbox/...", "."}, since: "the benchmarks stand outside the daemon"},
	{pkg: "daemon/internal/scaffold", may: []string{"sdk", "."}, since: "ADR 0035: the beginning of a plugin, written by bothyd"},
	{pkg: "daemon/internal/failpoint", since: "ADR 0008: where a crash must lose nothing"},
	{pkg: "daemon/internal/logfile", may: []string{"sdk", "sdk/rpc"}, since: "ADR 0044: the daemon's own log, written and read"},
	{pkg: "daemon/internal/model", may: []string{"sdk", "sdk/rpc", "daemon/internal/config"}, since: "ADR 0044: which model answers, by the configuration's blocks"},
	{pkg: "daemon/internal/watch", since: "ADR 0042: one watcher of files for skills, the configuration and plugins' programs"},
	{pkg: "daemon/internal/hook", may: []string{"sdk"}},
	{pkg: "daemon/internal/store", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "daemon/internal/skill", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint", "daemon/internal/watch"}},
	{pkg: "daemon/internal/skill/answer", may: []string{"sdk", "sdk/rpc", "sdk/match", "daemon/internal/skill", "daemon/internal/config"}, since: "ADR 0042: what clients ask about skills, and whom they trust"},
	{pkg: "daemon/internal/builtin", may: []string{"sdk", "daemon/internal/skill"}, since: "ADR 0042: use_skill hands out the skills of that room"},
	{pkg: "daemon/internal/audit", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "daemon/internal/policy", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint", "daemon/internal/policy/shell"}},
	{pkg: "daemon/internal/policy/shell", since: "ADR 0023: the reading of command lines, apart from the rules about them"},
	{pkg: "daemon/internal/dialect", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "daemon/internal/config", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint", "daemon/internal/watch"}},
	{pkg: "daemon/internal/project", may: []string{"sdk", "sdk/rpc", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "daemon/internal/view", may: []string{"sdk", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "daemon/internal/host", may: []string{"sdk/...", "daemon/internal/hook", "daemon/internal/config", "daemon/internal/confine", "daemon/internal/group", "daemon/internal/watch", "daemon/internal/inspect", "daemon/internal/schema"}},
	{pkg: "daemon/internal/inspect", may: []string{"sdk", "sdk/plugin", "daemon/internal/config", "daemon/internal/confine", "daemon/internal/schema"}, since: "ADR 0041: binaries of plugins, which the offline verbs look at without a supervisor"},
	{pkg: "daemon/internal/schema", may: []string{"sdk"}, since: "ADR 0041: what plugins declare of values, which an agent's finish schema needs without a supervisor"},
	{pkg: "daemon/internal/host/benchplugin", may: []string{"sdk/..."}, since: "a plugin, built by the host's benchmarks"},
	{pkg: "daemon/internal/host/plainserver", since: "what the host's benchmarks compare with"},
	{pkg: "daemon/internal/host/faultplugin", may: []string{"sdk/..."}, since: "a plugin, built by the host's tests"},
	{pkg: "daemon/internal/engine", may: []string{"sdk", "sdk/rpc", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "daemon/internal/server", may: []string{"sdk", "sdk/rpc", "sdk/match", "daemon/internal/hook", "daemon/internal/failpoint"}},
	{pkg: "plugins/bash", may: []string{"sdk/...", "sandbox"}},
	{pkg: "plugins/*", may: []string{"sdk/..."}},
}

// thirdParty bars a module from all packages but some.
var thirdParty = []struct {
	prefix string
	only   []string
	why    string
}{
	{"modernc.org/sqlite", []string{"daemon/internal/store"}, "one package opens the database"},
	{"github.com/hashicorp/hcl", []string{"daemon/internal/config", "daemon/internal/inspect", "daemon/internal/host", "daemon/internal/schema"}, "HCL is for configuration and schema decoding"},
	{"github.com/hashicorp/go-plugin", []string{"daemon/internal/host/..."}, "only the daemon hosts plugins with it"},
	{"google.golang.org/grpc", []string{"daemon/internal/host/...", "sdk/...", "daemon/bench"}, "the plugin wire stays at the edge"},
	{"github.com/containers/podman", []string{"sandbox", "plugins/bash"}, "the daemon stays small"},
	{"go.podman.io", []string{"sandbox", "plugins/bash"}, "the daemon stays small"},
}

func TestImportTable(t *testing.T) {
	root := repositoryRoot(t)
	for pkg, imports := range packageImports(t, root) {
		r, ok := findRow(pkg)
		if !ok {
			t.Errorf("package %s has no row in the import table", pkg)
			continue
		}
		for _, imp := range imports {
			checkThirdParty(t, pkg, imp)
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

func checkThirdParty(t *testing.T, pkg, imp string) {
	for _, rule := range thirdParty {
		if strings.HasPrefix(imp, rule.prefix) && !slices.ContainsFunc(rule.only, func(p string) bool { return matches(p, pkg) }) {
			t.Errorf("%s imports %s: %s", pkg, imp, rule.why)
		}
	}
}

func findRow(pkg string) (row, bool) {
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
		r, found := findRow(c.pkg)
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
	"daemon/internal/engine/dispatch.go": 2, // the host's tools, and the model's own
	"daemon/internal/host/invoke.go":     1, // the plugin's process
	"daemon/internal/host/services.go":   1, // what a plugin asks for goes to the engine
}

// TestOneDoor holds that the engine alone invokes a tool, and that it alone
// commits changes of entries: what goes past it is seen by no hook, no guard and
// no limit of cost.
func TestOneDoor(t *testing.T) {
	invokes, commits := map[string]int{}, map[string]int{}
	for file, tree := range sources(t, "daemon/*.go", "daemon/internal/*/*.go") {
		ast.Inspect(tree, func(n ast.Node) bool {
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
}

// sources are the parsed files of some folders, without tests.
func sources(t *testing.T, patterns ...string) map[string]*ast.File {
	t.Helper()
	root := repositoryRoot(t)
	all := map[string]*ast.File{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(name)] = tree
		}
	}
	return all
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
