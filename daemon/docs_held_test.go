package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/protect"
)

// heldSections are the parts of pages whose sentences are held, each by a test that
// testdata/held.txt names.
var heldSections = []struct {
	page string
	// from and through are headings, with their marks; what is below the last one is
	// held too.
	from, through string
	// rows says that only the rows of tables are held: the text around them tells of
	// programs of others, which no test here can look at.
	rows bool
}{
	{"docs/sandbox.md", "## Commands in the background", "## Network", false},
	{"docs/security.md", "## The sandbox", "### What is left", false},
	{"docs/security.md", "### Beside two others", "### Beside two others", true},
}

// section is the text of a page from one heading through what is below another.
func section(text, from, through string) (string, error) {
	_, text, found := strings.Cut(text, "\n"+from+"\n")
	if !found {
		return "", fmt.Errorf("there is no heading %q", from)
	}
	rest := text
	if through != from {
		var before string
		if before, rest, found = strings.Cut(text, "\n"+through+"\n"); !found {
			return "", fmt.Errorf("there is no heading %q", through)
		}
		text = before + "\n" + through + "\n"
	} else {
		text = ""
	}
	if i := regexp.MustCompile(`(?m)^#+ `).FindStringIndex(rest); i != nil {
		rest = rest[:i[0]]
	}
	return text + rest, nil
}

// sentences splits a text. A sentence ends at a point, a question mark or an
// exclamation mark that stands outside of backquotes, with a bracket, a quotation
// mark or asterisks behind it if any, before a blank or the end; and at the end of a
// paragraph or of an item of a list. An abbreviation with a point would end one, too:
// these pages have none. The title of an item, in bold with a point, and headings are
// no sentences. A row of a table below its line of dashes is one; its text is the
// cells that are not empty, with semicolons between.
func sentences(text string) (all, rows []string) {
	var block []string
	end := func() {
		all = append(all, split(strings.Join(block, " "))...)
		block = nil
	}
	below := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			below = false
		}
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			end()
		case strings.HasPrefix(line, "|--"):
			below = true
		case strings.HasPrefix(line, "|"):
			if end(); below {
				rows = append(rows, strings.Join(slices.DeleteFunc(cells(line), func(c string) bool { return c == "" }), "; "))
			}
		case strings.HasPrefix(line, "- "):
			end()
			block = []string{itemTitle.ReplaceAllString(line[2:], "")}
		default:
			block = append(block, line)
		}
	}
	end()
	return all, rows
}

var itemTitle = regexp.MustCompile(`^\*\*[^*]*\.\*\* `)

// cells are those of a table's row.
func cells(line string) (all []string) {
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

// split splits one paragraph.
func split(text string) (all []string) {
	code, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '`':
			code = !code
		case !code && strings.IndexByte(".?!", text[i]) >= 0:
			end := i + 1 + len(text[i+1:]) - len(strings.TrimLeft(text[i+1:], `)"*`))
			if end == len(text) || text[end] == ' ' {
				all = append(all, strings.TrimSpace(text[begin:end]))
				begin, i = end, end-1
			}
		}
	}
	if rest := strings.TrimSpace(text[begin:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// heldRow is a row of the table: a page, how a sentence of it begins, and the tests
// that hold it.
type heldRow struct {
	line        int
	page, begin string
	tests       []string
}

func readHeld(text string) (rows []heldRow, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 {
			return nil, fmt.Errorf("line %d has not three parts with ` | ` between", n)
		}
		rows = append(rows, heldRow{n, parts[0], parts[1], strings.Split(parts[2], ", ")})
	}
	return rows, nil
}

// checkHeld compares sentences, by page, with the rows.
func checkHeld(pages map[string][]string, rows []heldRow, exists func(test string) bool) (faults []string) {
	held := map[string]int{}
	for _, r := range rows {
		found := 0
		for _, s := range pages[r.page] {
			if strings.HasPrefix(s, r.begin) {
				found++
				held[r.page+" "+s]++
			}
		}
		if found != 1 {
			faults = append(faults, fmt.Sprintf("line %d: %d sentences of %s begin with %q", r.line, found, r.page, r.begin))
		}
		for _, test := range r.tests {
			if !exists(test) {
				faults = append(faults, fmt.Sprintf("line %d: there is no test %s", r.line, test))
			}
		}
	}
	for page, all := range pages {
		for _, s := range all {
			if n := held[page+" "+s]; n != 1 {
				faults = append(faults, fmt.Sprintf("%s: %d rows hold %q", page, n, s))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// testExists says whether a test is in the tree: a script, or a function of a package
// whose path is relative to the top.
func testExists(t *testing.T, root, test string) bool {
	t.Helper()
	if strings.HasSuffix(test, ".txtar") {
		_, err := os.Stat(filepath.Join(root, test))
		return err == nil && filepath.Dir(test) == "daemon/testdata/script"
	}
	i := strings.LastIndex(test, ".")
	if i < 0 || !strings.HasPrefix(test[i+1:], "Test") {
		return false
	}
	files, err := filepath.Glob(filepath.Join(root, test[:i], "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test[i+1:]+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// TestDocsAreHeld: each sentence of the sections has one row in testdata/held.txt,
// each row begins like one sentence, and the tests that it names are there.
func TestDocsAreHeld(t *testing.T) {
	root := repositoryRoot(t)
	pages := map[string][]string{}
	for _, s := range heldSections {
		text, err := os.ReadFile(filepath.Join(root, s.page))
		if err != nil {
			t.Fatal(err)
		}
		part, err := section(string(text), s.from, s.through)
		if err != nil {
			t.Fatalf("%s: %v", s.page, err)
		}
		all, rows := sentences(part)
		if !s.rows {
			pages[s.page] = append(pages[s.page], all...)
		}
		pages[s.page] = append(pages[s.page], rows...)
	}
	text, err := os.ReadFile("testdata/held.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readHeld(string(text))
	if err != nil {
		t.Fatalf("testdata/held.txt: %v", err)
	}
	for _, fault := range checkHeld(pages, rows, func(test string) bool { return testExists(t, root, test) }) {
		t.Error(fault)
	}
}

// TestHeldFindsWhatIsNot: a sentence without a row, a row without a sentence or with
// two, and a test that is not there are found.
func TestHeldFindsWhatIsNot(t *testing.T) {
	const page = "# A\n\n## B\n\nOne `a. b` is. Two is\nlong (so. Three.) Four [x](y.md#z):\n\n- **T.** Five.\n- Five and\n  more.\n\n### C\n\n" +
		"| h | k |\n|---|---|\n| `a` | b |\n| | c. d |\n\nSix.** Seven\n\n## D\n\nEight.\n"
	part, err := section(page, "## B", "### C")
	if err != nil {
		t.Fatal(err)
	}
	all, rows := sentences(part)
	if want := []string{"One `a. b` is.", "Two is long (so.", "Three.)", "Four [x](y.md#z):", "Five.", "Five and more.", "Six.**", "Seven"}; !slices.Equal(all, want) {
		t.Errorf("sentences %q, want %q", all, want)
	}
	if want := []string{"`a`; b", "c. d"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	for _, missing := range [][2]string{{"## X", "### C"}, {"## B", "### X"}} {
		if _, err := section(page, missing[0], missing[1]); err == nil {
			t.Errorf("%q is found", missing)
		}
	}
	there := func(test string) bool { return test == "a.TestA" }
	for text, want := range map[string][]string{
		"P | Fiv | a.TestA\nP | One | a.TestA":                                  {`line 1: 2 sentences of P begin with "Fiv"`},
		"P | Five. | a.TestA\nP | Five a | a.TestA, a.TestB\nP | One | a.TestA": {"line 2: there is no test a.TestB"},
		"P | Five. | a.TestA\nP | Five a | a.TestA":                             {`P: 0 rows hold "One."`},
		"# a remark\n\nP | Five. | a.TestA\nP | Five a | a.TestA\nP | On | a.TestA\nP | One | a.TestA\nQ | One | a.TestA": {
			`P: 2 rows hold "One."`, `line 7: 0 sentences of Q begin with "One"`},
		"P | Five. | a.TestA\nP | Five a | a.TestA\nP | One. | a.TestA": nil,
	} {
		rows, err := readHeld(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := checkHeld(map[string][]string{"P": {"One.", "Five.", "Five and more."}}, rows, there); !slices.Equal(got, want) {
			t.Errorf("%s\ngot %q, want %q", text, got, want)
		}
	}
	if _, err := readHeld("P | One"); err == nil {
		t.Error("a row of two parts is read")
	}
	root := repositoryRoot(t)
	for test, want := range map[string]bool{
		"daemon.TestDocsAreHeld": true, "daemon.TestDocs": false, "daemon/testdata/script/files.txtar": true, "daemon/testdata/script/none.txtar": false,
		"daemon.section": false, "sandbox.TestDocsAreHeld": false, "README.md": false,
	} {
		if got := testExists(t, root, test); got != want {
			t.Errorf("%s: got %t", test, got)
		}
	}
}

// tableOf is the table of a page whose first column has the given title, without its
// head.
func tableOf(t *testing.T, page, title string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n| "+title+" |")
	if !found {
		t.Fatalf("%s has no table of %q", page, title)
	}
	for i, line := range strings.Split(rest, "\n") {
		if i < 2 {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			return rows
		}
		rows = append(rows, cells(line))
	}
	return rows
}

// pathsOf are the paths that a cell of a table names, without those in brackets.
func pathsOf(cell string) []string {
	return quoted(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(cell, ""))
}

// TestTheClassesOfThePage: the table of classes in docs/sandbox.md gives each path the
// class that it has by its name, at the top of a project and below, and leaves out no
// path that has one but files that shells begin with.
func TestTheClassesOfThePage(t *testing.T) {
	class, classes, named := "", map[string]bool{}, map[string]bool{}
	for _, row := range tableOf(t, "docs/sandbox.md", "class") {
		if row[0] != "" {
			class = row[0]
		}
		classes[class] = true
		for _, at := range pathsOf(row[1]) {
			named[at] = true
			for _, at := range []string{at, at + "/x", "sub/" + at} {
				if got := (protect.Rules{}).Name(at); got.Class.String() != class {
					t.Errorf("%s is %s, and not %s", at, got.Class, class)
				}
			}
		}
	}
	for _, c := range []protect.Class{protect.Free, protect.Asked, protect.Refused} {
		if !classes[c.String()] {
			t.Errorf("the table has no row of what is %s", c)
		}
	}
	if len(classes) != 3 || len(named) < 25 {
		t.Errorf("read are %d paths of the classes %v", len(named), classes)
	}
	for _, f := range protect.Names() {
		if !named[f.Name] && f.Reason != (protect.Rules{}).Name(".bashrc").Reason {
			t.Errorf("%s is %s, and the table does not name it", f.Name, f.Class)
		}
	}
}

// TestThePathsBesideOthers: what docs/security.md says that Bothy does with paths
// that a command changed is their class in a project with a repository and one below
// it. Of a folder of those a file in it is changed.
func TestThePathsBesideOthers(t *testing.T) {
	project := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	const config = "[core]\n\trepositoryformatversion = 0\n"
	for _, git := range []string{".git", "sub/.git"} {
		for _, dir := range []string{"refs", "objects", "hooks"} {
			if err := os.MkdirAll(filepath.Join(project, git, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{"HEAD": "ref: refs/heads/x\n", "config": config, "index": "x"} {
			if err := os.WriteFile(filepath.Join(project, git, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	judged := func(at string, was protect.Kind, now string) protect.Class {
		return protect.Rules{}.Changes(project, []protect.Change{{Path: at, Was: was, Is: protect.File,
			Read:       func() ([]byte, error) { return []byte(now), nil },
			ReadBefore: func() ([]byte, error) { return os.ReadFile(filepath.Join(project, at)) }}})[0].Class
	}
	says := map[string]protect.Class{"not applied": protect.Refused, "a person is asked after the command": protect.Asked, "applied": protect.Free}
	tried := map[protect.Class]int{}
	for _, row := range tableOf(t, "docs/security.md", "path") {
		cell := row[1]
		cell, servers, _ := strings.Cut(cell, "; ")
		cell, _, _ = strings.Cut(cell, ", ")
		cell = strings.TrimSuffix(cell, " when the command has ended")
		want, known := says[cell]
		if !known {
			t.Errorf("%s: %q is none of what Bothy does", row[0], row[1])
			continue
		}
		if (servers == "about servers and branches a person is asked") != (judged(".git/config", protect.File, config+"[remote \"o\"]\n\turl = https://example.org/x\n") == protect.Asked &&
			slices.Contains(quoted(row[0]), ".git/config")) {
			t.Errorf("%s: of servers it says %q", row[0], servers)
		}
		for _, at := range quoted(row[0]) {
			was := protect.Nothing
			switch info, err := os.Stat(filepath.Join(project, at)); {
			case err != nil:
			case info.IsDir():
				at += "/x"
			default:
				was = protect.File
			}
			if got := judged(at, was, config+"\tfsmonitor = ./x\n"); got != want {
				t.Errorf("%s is %s, and %q is said of it", at, got, cell)
			}
			tried[want]++
		}
	}
	if tried[protect.Refused] < 15 || tried[protect.Asked] < 8 || tried[protect.Free] < 4 {
		t.Errorf("tried are %v", tried)
	}
	if got := judged("src/main.go", protect.Nothing, ""); got != protect.Free {
		t.Errorf("everything else is %s", got)
	}
}
