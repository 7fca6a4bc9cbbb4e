package suite

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bothyd/bothy/sdk"
)

// TestFind finds by which command the tests of projects run, or says what there is instead.
func TestFind(t *testing.T) {
	const unittest = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
	for name, c := range map[string]struct {
		files     map[string]string
		dir       string
		framework string
		want      Found
		fault     string
		outcome   sdk.Outcome
	}{
		"go":                           {files: map[string]string{"go.mod": "module a"}, want: Found{Go, "go test -json ./..."}},
		"cargo":                        {files: map[string]string{"Cargo.toml": ""}, want: Found{Cargo, "cargo test --workspace --no-fail-fast"}},
		"npm":                          {files: map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`}, want: Found{NPM, "npm test"}},
		"pytest by its file":           {files: map[string]string{"pytest.ini": ""}, want: Found{Pytest, "python3 -m pytest"}},
		"pytest by a dependency":       {files: map[string]string{"pyproject.toml": "[dependency-groups]\ndev = [\"pytest>=8\"]"}, want: Found{Pytest, "python3 -m pytest"}},
		"pytest by its tests":          {files: map[string]string{"tests/test_a.py": "def test_a():\n    pass\n"}, want: Found{Pytest, "python3 -m pytest"}},
		"pytest beside unittest":       {files: map[string]string{"conftest.py": "", "test_a.py": unittest}, want: Found{Pytest, "python3 -m pytest"}},
		"a virtual environment":        {files: map[string]string{"pytest.ini": "", ".venv/pyvenv.cfg": ""}, want: Found{Pytest, ".venv/bin/python -m pytest"}},
		"unittest":                     {files: map[string]string{"test_a.py": unittest}, want: Found{Unittest, "python3 -m unittest discover"}},
		"unittest in a package":        {files: map[string]string{"tests/__init__.py": "", "tests/test_a.py": unittest}, want: Found{Unittest, "python3 -m unittest discover"}},
		"unittest in a folder":         {files: map[string]string{"tests/test_a.py": unittest}, want: Found{Unittest, "python3 -m unittest discover -s tests"}},
		"make":                         {files: map[string]string{"Makefile": "all:\n\ncheck: all\n\t./check\n"}, want: Found{Make, "make check"}},
		"make test before check":       {files: map[string]string{"Makefile": "check: test\n\ntest:\n\t./check\n"}, want: Found{Make, "make test"}},
		"a variable is no target":      {files: map[string]string{"Makefile": "test := 1\ncheck = 2\n"}, fault: "no tests were found", outcome: sdk.NotFound},
		"make beside another":          {files: map[string]string{"Makefile": "test:\n", "go.mod": ""}, want: Found{Go, "go test -json ./..."}},
		"make by its name":             {files: map[string]string{"Makefile": "test:\n", "go.mod": ""}, framework: Make, want: Found{Make, "make test"}},
		"no script":                    {files: map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, fault: "no tests were found", outcome: sdk.NotFound},
		"broken package":               {files: map[string]string{"package.json": `{`}, fault: "no tests were found", outcome: sdk.NotFound},
		"two":                          {files: map[string]string{"go.mod": "", "package.json": `{"scripts":{"test":"x"}}`}, fault: "tests of go and npm in the root of the project: name one", outcome: sdk.Validation},
		"one of two":                   {files: map[string]string{"go.mod": "", "package.json": `{"scripts":{"test":"x"}}`}, framework: NPM, want: Found{NPM, "npm test"}},
		"none of that name":            {files: map[string]string{"go.mod": ""}, framework: Cargo, fault: "has tests of cargo", outcome: sdk.NotFound},
		"in a folder":                  {files: map[string]string{"a/go.mod": ""}, dir: "a", want: Found{Go, "go test -json ./..."}},
		"only in folders":              {files: map[string]string{"services/a/go.mod": "", "web/package.json": `{"scripts":{"test":"x"}}`, "node_modules/b/go.mod": ""}, fault: "name as dir one of web (npm), services/a (go)", outcome: sdk.NotFound},
		"no such folder":               {files: map[string]string{"go.mod": ""}, dir: "b", fault: `no folder "b"`, outcome: sdk.NotFound},
		"nothing":                      {files: map[string]string{"README.md": ""}, fault: "known are go, cargo, pytest, unittest, npm, make", outcome: sdk.NotFound},
		"a way out":                    {files: map[string]string{"go.mod": ""}, dir: "../x", fault: "no folder", outcome: sdk.NotFound},
		"tests that nobody recognises": {files: map[string]string{"test_a.py": "x = 1\n"}, fault: "no tests were found", outcome: sdk.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			project := fstest.MapFS{}
			for at, text := range c.files {
				project[at] = &fstest.MapFile{Data: []byte(text)}
			}
			got, err := Find(project, c.dir, c.framework)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || sdk.OutcomeOf(err) != c.outcome {
					t.Errorf("found %+v, %v (%s)", got, err, sdk.OutcomeOf(err))
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("found %+v, %v", got, err)
			}
		})
	}
}
