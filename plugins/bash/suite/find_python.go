package suite

import (
	"path"
	"regexp"
	"strings"
)

// ofPytest are the files that speak of pytest, and how each does; nil is by being there.
var ofPytest = []struct {
	name string
	says *regexp.Regexp
}{
	{"pytest.ini", nil},
	{"conftest.py", nil},
	{"tests/conftest.py", nil},
	{"test/conftest.py", nil},
	{"pyproject.toml", regexp.MustCompile(`\bpytest\b`)},
	{"setup.cfg", regexp.MustCompile(`\bpytest\b`)},
	{"tox.ini", regexp.MustCompile(`\bpytest\b`)},
	{"setup.py", regexp.MustCompile(`\bpytest\b`)},
	{"requirements.txt", regexp.MustCompile(`(?m)^pytest\b`)},
	{"requirements-dev.txt", regexp.MustCompile(`(?m)^pytest\b`)},
	{"dev-requirements.txt", regexp.MustCompile(`(?m)^pytest\b`)},
	{"Pipfile", regexp.MustCompile(`(?m)^pytest\b`)},
}

// findPytest finds pytest where a file speaks of it, or tests are written that only it runs.
func findPytest(f folder) string {
	command := f.python() + " -m pytest"
	for _, one := range ofPytest {
		if one.says == nil && f.has(one.name) || one.says != nil && one.says.MatchString(f.read(one.name)) {
			return command
		}
	}
	for _, at := range f.pythonTests() {
		if text := f.read(at); importsPytest.MatchString(text) || !importsUnittest.MatchString(text) && testFunction.MatchString(text) {
			return command
		}
	}
	return ""
}

var (
	importsPytest   = regexp.MustCompile(`(?m)^\s*(import|from) pytest\b`)
	importsUnittest = regexp.MustCompile(`(?m)^\s*(import|from) (unittest|django\.test)\b`)
	testFunction    = regexp.MustCompile(`(?m)^(async )?def test_`)
)

// findUnittest finds tests of unittest, where nothing speaks of pytest.
func findUnittest(f folder) string {
	if findPytest(f) != "" {
		return ""
	}
	for _, at := range f.pythonTests() {
		if !importsUnittest.MatchString(f.read(at)) {
			continue
		}
		command := f.python() + " -m unittest discover"
		if dir := path.Dir(at); dir != "." && !f.has(path.Join(dir, "__init__.py")) { // which discovery would not enter
			command += " -s " + dir
		}
		return command
	}
	return ""
}

// pythonTests are files with tests in the folder, and in those of it that are for them.
func (f folder) pythonTests() (found []string) {
	for _, dir := range []string{".", "tests", "test"} {
		for _, e := range f.entries(dir) {
			name := e.Name()
			if strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test") || strings.HasSuffix(name, "_test.py")) && len(found) < 100 {
				found = append(found, path.Join(dir, name))
			}
		}
	}
	return found
}

// python is the interpreter of the folder's virtual environment, or else the one that is there.
func (f folder) python() string {
	for _, venv := range []string{".venv", "venv"} {
		if f.has(venv + "/pyvenv.cfg") {
			return venv + "/bin/python"
		}
	}
	return "python3"
}
