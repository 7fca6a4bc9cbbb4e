package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func output(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRead reads what the frameworks printed about small projects with tests that pass, fail and are left out, each by
// its own name and as the output of whatever it is.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		file, framework         string
		passed, failed, skipped int
		names                   []string // of the failures
		text                    string   // in that of the first
	}{
		{"go.json", Go, 3, 3, 1, []string{"example.com/adder TestAdd/one_and_two", "example.com/adder/broken", "example.com/adder/panics TestPanic"}, "Add(1, 2) = -1, want 3"},
		{"go.txt", Make, 0, 3, 0, []string{"example.com/adder TestAdd/one_and_two", "example.com/adder/broken", "example.com/adder/panics TestPanic"}, "Add(1, 2) = -1, want 3"},
		{"gov.txt", Make, 2, 1, 1, []string{"example.com/adder TestAdd/one_and_two"}, "want 3"},
		{"unittest.txt", Unittest, 1, 3, 2, []string{"test_error (tests.test_calc.CalcTest.test_error)", "test_add (tests.test_calc.CalcTest.test_add)", "test_sub (tests.test_calc.CalcTest.test_sub) (i=0)", "test_sub (tests.test_calc.CalcTest.test_sub) (i=2)"}, "KeyError: 'x'"},
		{"unittestv.txt", Unittest, 1, 3, 2, nil, ""},
		{"pytest.txt", Pytest, 2, 4, 2, []string{"ERROR at setup of test_fixture", "test_add", "test_param[2]", "TestGroup.test_in"}, "no fixture"},
		{"pytestq.txt", Pytest, 2, 4, 2, nil, ""},
		{"pytestv.txt", Pytest, 2, 4, 2, nil, ""},
		{"pytesterr.txt", Pytest, 0, 1, 0, []string{"ERROR collecting test_e.py"}, "No module named 'nothing'"},
		{"cargo.txt", Cargo, 2, 1, 1, []string{"tests::one_and_two"}, "left: -1"},
		{"node.txt", NPM, 1, 2, 2, []string{"one and two", "inner"}, "-1 !== 3"},
		{"nodespec.txt", NPM, 1, 2, 2, []string{"one and two", "inner"}, "-1 !== 3"},
		{"jest.txt", NPM, 1, 1, 2, []string{"group › one and two"}, "Expected: 3"},
		{"vitest.txt", NPM, 1, 1, 2, []string{"a.test.mjs > group > one and two"}, "expected -1 to be 3"},
		{"mocha.txt", NPM, 1, 1, 1, []string{"group one and two"}, "-1 == 3"},
		{"tape.txt", NPM, 1, 1, 0, []string{"sum"}, "operator: equal"},
		{"ava.txt", NPM, 0, 1, 1, []string{"one and two"}, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			for _, framework := range []string{c.framework, Configured} {
				got := Read(framework, output(t, c.file))
				if got.Passed != c.passed || got.Failed != c.failed || got.Skipped != c.skipped {
					t.Errorf("as %s: %d passed, %d failed, %d skipped", framework, got.Passed, got.Failed, got.Skipped)
				}
				var names []string
				for _, f := range got.Failures {
					names = append(names, f.Name)
				}
				if c.names != nil && !slices.Equal(names, c.names) {
					t.Errorf("as %s these failed: %q", framework, names)
				}
				if len(got.Failures) == 0 || !strings.Contains(got.Failures[0].Text, c.text) {
					t.Errorf("as %s the first says %+v", framework, got.Failures)
				}
			}
		})
	}
}

// TestNoneIsSeen: what ran no test counts none, whatever it says of itself.
func TestNoneIsSeen(t *testing.T) {
	for framework, printed := range map[string]string{
		Pytest:   "============================ no tests ran in 0.00s =============================\n",
		Unittest: "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nOK\n",
		Go:       `{"Action":"start","Package":"a"}` + "\n" + `{"Action":"output","Package":"a","Output":"?   \ta\t[no test files]\n"}` + "\n" + `{"Action":"skip","Package":"a"}`,
		Cargo:    "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
		NPM:      "TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n",
		Make:     "make: Nothing to be done for 'test'.\nok  \ta\t0.1s [no tests to run]\nall tests passed\n",
	} {
		if got := Read(framework, printed); !got.None() {
			t.Errorf("of %s: %+v", framework, got)
		}
	}
}

func TestWhatIsLongIsShortened(t *testing.T) {
	var b strings.Builder
	for range 100 {
		b.WriteString("---- a stdout ----\n" + strings.Repeat("x", 3*mostText) + "\n\n")
	}
	got := Read(Cargo, b.String()+"test result: FAILED. 0 passed; 100 failed; 0 ignored; 0 measured\n")
	if got.Failed != 100 || len(got.Failures) != mostFailures || len(got.Failures[0].Text) > mostText+100 || !strings.Contains(got.Failures[0].Text, "bytes are left out here") {
		t.Errorf("%d failed, %d are told, the first by %d bytes", got.Failed, len(got.Failures), len(got.Failures[0].Text))
	}
}

// FuzzRead: no output makes a reader fail, count below nothing, or tell more than fits.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(output(f, filepath.Base(file)))
	}
	f.Fuzz(func(t *testing.T, printed string) {
		for _, framework := range append(Frameworks(), Configured) {
			held(t, Read(framework, printed))
		}
	})
}

func FuzzJUnit(f *testing.F) {
	f.Add(output(f, "junit-pytest.xml"))
	f.Add("<testsuite><testcase name='a'><skipped/></testcase></testsuite>")
	f.Fuzz(func(t *testing.T, report string) {
		if got, err := JUnit(strings.NewReader(report)); err == nil {
			held(t, got)
		} else if sdk.OutcomeOf(err) != sdk.Validation || !got.None() {
			t.Errorf("%v, with %+v", err, got)
		}
	})
}

// held holds what is so of every count.
func held(t *testing.T, c Count) {
	t.Helper()
	if min(c.Passed, c.Failed, c.Skipped) < 0 || len(c.Failures) > mostFailures {
		t.Errorf("counted %+v", c)
	}
	for _, f := range c.Failures {
		if len(f.Name) > mostName || len(f.Text) > mostText+100 {
			t.Errorf("a failure of %d bytes", len(f.Name)+len(f.Text))
		}
	}
}

func TestJUnit(t *testing.T) {
	for name, c := range map[string]struct {
		report string
		want   [3]int
		first  string
		fault  string
	}{
		"of pytest":  {report: output(t, "junit-pytest.xml"), want: [3]int{2, 4, 2}, first: "test_calc test_add"},
		"one suite":  {report: `<testsuite tests="7"><properties/><testcase classname="A" name="b"/><system-out>x</system-out></testsuite>`, want: [3]int{1, 0, 0}},
		"nothing":    {report: "", fault: "no XML of JUnit"},
		"no report":  {report: "<html><testcase/></html>", fault: "begins with <html>"},
		"cut":        {report: "<testsuite><testcase name='a'>", fault: "no XML of JUnit"},
		"no element": {report: "passed", fault: "no XML of JUnit"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := JUnit(strings.NewReader(c.report))
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("said %v", err)
				}
				return
			}
			if err != nil || [3]int{got.Passed, got.Failed, got.Skipped} != c.want {
				t.Fatalf("%+v, %v", got, err)
			}
			if c.first != "" && got.Failures[0].Name != c.first {
				t.Errorf("%q failed", got.Failures[0].Name)
			}
		})
	}
}
