package shell

import (
	"strings"
	"testing"
)

func TestPlainOptions(t *testing.T) {
	for line, want := range map[string]string{
		"python3 -m unittest -v":          "python3 -m unittest | -v",
		"python3 -m unittest tests.a -q":  "python3 -m unittest tests.a | -q",
		"python3 -m unittest -k -v":       "python3 -m unittest -k -v | ", // -v is the value of -k
		"python3 -m unittest -- -v":       "python3 -m unittest -- -v | ",
		"python3 x.py -v":                 "python3 x.py -v | ", // the script's own
		"python3 -v -m unittest":          "python3 -v -m unittest | ",
		"/usr/bin/python3 -m unittest -v": "/usr/bin/python3 -m unittest -v | ",
		"go test -v ./... -args -v":       "go test ./... -args -v | -v",
		"go test -v=test2json ./...":      "go test -v=test2json ./... | ",
		"go run -v x.go":                  "go run -v x.go | ",
		"make -s -C sub -w":               "make -C sub -w | -s",
		"rm -v -f x":                      "rm -f x | -v",
		"git push -q origin main":         "git push origin main | -q",
		"git -C x push -q":                "git -C x push -q | ",
		"cat -nE /etc/hosts":              "cat /etc/hosts | -n -E",
		"ls -lR /etc":                     "ls -lR /etc | ", // -R reads more
		"ls -l --recursive /etc":          "ls --recursive /etc | -l",
		"tail -f /var/log/x":              "tail -f /var/log/x | ",
		"head -n 3 -q /etc/hosts":         "head -n 3 -q /etc/hosts | ",
		"grep -in x /etc/hosts":           "grep x /etc/hosts | -i -n",
		"sort -o /etc/x -u":               "sort -o /etc/x -u | ",
		"unknown -v":                      "unknown -v | ",
	} {
		rest, options := Bare(strings.Fields(line))
		if got := strings.Join(rest, " ") + " | " + strings.Join(options, " "); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	if rest, options := Bare(nil); len(rest)+len(options)+len(Plain(nil)) != 0 {
		t.Errorf("no words: %q, %q", rest, options)
	}
	if got := strings.Join(Plain([]string{"python3", "-m", "unittest"}), " "); got != "--quiet --verbose -q -v" {
		t.Errorf("got %q", got)
	}
}

// TestStandsAlone: where a command starts, and whether its words say all of what it does.
func TestStandsAlone(t *testing.T) {
	for line, want := range map[string]string{
		"make":                        "/workspace",
		"cd sub && make":              "/workspace/sub",
		"timeout 60 make":             "/workspace",
		"sh -c 'cd sub && make'":      "/workspace/sub",
		"make < input":                "/workspace loose",
		"cat x | make":                "/workspace loose",
		"env CC=evil make":            "/workspace loose",
		"xargs make":                  "/workspace loose",
		"find . -exec make ;":         "/workspace loose",
		"cd $x; make":                 "",
		"test -d sub && cd sub; make": "",
		"for d in a b; do cd /workspace/$d; make; done": "",
	} {
		r := Analyse(strings.ReplaceAll(line, " ;", " \\;"), start)
		found := false
		for _, c := range r.Commands {
			if len(c.Argv) == 0 || c.Argv[0] != "make" {
				continue
			}
			got := c.Dir
			if c.Loose {
				got += " loose"
			}
			if found = true; got != want {
				t.Errorf("%s: got %q, want %q", line, got, want)
			}
		}
		if !found {
			t.Errorf("%s: make was not seen", line)
		}
	}
}
