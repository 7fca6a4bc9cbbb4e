package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// tallied feeds events to a tally; each is one line of JSON without its braces.
func tallied(t *testing.T, commandErr error, events ...string) (summary, string) {
	t.Helper()
	var in, out bytes.Buffer
	for _, e := range events {
		in.WriteString("{" + e + "}\n")
	}
	tally := newTally("step", &out)
	if err := tally.read(&in, time.Hour); err != nil {
		t.Fatal(err)
	}
	return tally.finish(commandErr), out.String()
}

func TestTally(t *testing.T) {
	passed := func(names ...string) summary { return summary{Passed: len(names), Names: names} }
	cases := []struct {
		name       string
		commandErr error
		events     []string
		want       summary
		shows      string
	}{
		{
			name: "a test passes",
			events: []string{
				`"Action":"run","Package":"p","Test":"A"`,
				`"Action":"pass","Package":"p","Test":"A"`,
				`"Action":"pass","Package":"p","Elapsed":1.5`,
			},
			want:  passed("p.A"),
			shows: " ok   p (1, 1.5s)",
		},
		{
			name: "subtests count in the stead of their parent",
			events: []string{
				`"Action":"run","Package":"p","Test":"A"`,
				`"Action":"run","Package":"p","Test":"A/x"`,
				`"Action":"run","Package":"p","Test":"A/y"`,
				`"Action":"output","Package":"p","Test":"A/y","Output":"because\n"`,
				`"Action":"fail","Package":"p","Test":"A/y"`,
				`"Action":"pass","Package":"p","Test":"A/x"`,
				`"Action":"fail","Package":"p","Test":"A"`,
				`"Action":"fail","Package":"p"`,
			},
			commandErr: errors.New("exit status 1"),
			want:       summary{Passed: 1, Names: []string{"p.A/x"}, Failed: []result{{"p.A/y", "failed"}}},
			shows:      "because",
		},
		{
			name: "a parent that fails by itself counts",
			events: []string{
				`"Action":"run","Package":"p","Test":"A"`,
				`"Action":"run","Package":"p","Test":"A/x"`,
				`"Action":"pass","Package":"p","Test":"A/x"`,
				`"Action":"fail","Package":"p","Test":"A"`,
				`"Action":"fail","Package":"p"`,
			},
			commandErr: errors.New("exit status 1"),
			want:       summary{Passed: 1, Names: []string{"p.A/x"}, Failed: []result{{"p.A", "failed"}}},
			shows:      "FAIL  p",
		},
		{
			name: "a skip keeps its reason",
			events: []string{
				`"Action":"run","Package":"p","Test":"A"`,
				`"Action":"output","Package":"p","Test":"A","Output":"=== RUN   A\n"`,
				`"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:3: a log line\n"`,
				`"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: sandbox: no podman\n"`,
				`"Action":"output","Package":"p","Test":"A","Output":"--- SKIP: A (0.00s)\n"`,
				`"Action":"skip","Package":"p","Test":"A"`,
				`"Action":"pass","Package":"p"`,
			},
			want:  summary{Skipped: []result{{"p.A", "sandbox: no podman"}}},
			shows: " ok   p",
		},
		{
			name: "a package that does not build shows the compiler's words",
			events: []string{
				`"Action":"build-output","ImportPath":"p [p.test]","Output":"p/a.go:1: undefined: x\n"`,
				`"Action":"build-fail","ImportPath":"p [p.test]"`,
				`"Action":"start","Package":"p"`,
				`"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"`,
				`"Action":"fail","Package":"p","FailedBuild":"p [p.test]"`,
			},
			commandErr: errors.New("exit status 1"),
			want:       summary{Failed: []result{{"p", "does not build"}}},
			shows:      "undefined: x",
		},
		{
			name: "a test whose process ended under it failed",
			events: []string{
				`"Action":"run","Package":"p","Test":"A"`,
				`"Action":"output","Package":"p","Test":"A","Output":"panic: oh\n"`,
				`"Action":"fail","Package":"p"`,
			},
			commandErr: errors.New("exit status 1"),
			want:       summary{Failed: []result{{"p.A", "failed"}}},
			shows:      "panic: oh",
		},
		{
			name:       "a command that fails without a test to blame",
			commandErr: errors.New("exit status 1"),
			want:       summary{Failed: []result{{"step", "the command failed: exit status 1"}}},
		},
		{
			name:   "a package without tests is no skip",
			events: []string{`"Action":"skip","Package":"p"`},
			shows:  "(no tests)",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, shown := tallied(t, c.commandErr, c.events...)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("counts: got %+v, want %+v", got, c.want)
			}
			if !strings.Contains(shown, c.shows) {
				t.Errorf("output lacks %q:\n%s", c.shows, shown)
			}
		})
	}
}

func TestTallyPassesOnWhatIsNoEvent(t *testing.T) {
	var out bytes.Buffer
	if err := newTally("step", &out).read(strings.NewReader("go: downloading x\n"), time.Hour); err != nil {
		t.Fatal(err)
	}
	if out.String() != "go: downloading x\n" {
		t.Errorf("got %q", out.String())
	}
}

// TestTotal holds that a skip is forgotten once another step ran the test, that sandbox skips fail in CI and only
// there, and that the counts stand alone on the last line.
func TestTotal(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "1.json"), filepath.Join(dir, "2.json")
	for file, sum := range map[string]summary{
		first: {Passed: 1, Names: []string{"p.A"}, Skipped: []result{
			{"p.B", "needs two users"}, {"p.C", "sandbox: no podman"}, {"p.D", "no node"}}},
		second: {Passed: 1, Names: []string{"p.B"}, Skipped: []result{{"p.D", "no node"}}},
	} {
		if err := sum.save(file); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ci, last string
		fails    bool
	}{
		{"", "2 passed, 0 failed, 2 skipped", false},
		{"true", "2 passed, 1 failed, 1 skipped", true},
	} {
		t.Setenv("CI", c.ci)
		var out bytes.Buffer
		err := run([]string{"total", first, second}, &out)
		if (err != nil) != c.fails {
			t.Errorf("CI=%q: error %v", c.ci, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; last != c.last {
			t.Errorf("CI=%q: last line %q, want %q", c.ci, last, c.last)
		}
		if !strings.Contains(out.String(), "p.D: no node") {
			t.Errorf("CI=%q: no reason listed:\n%s", c.ci, out.String())
		}
	}
}

func TestTotalOfNothingFails(t *testing.T) {
	if err := run([]string{"total"}, &bytes.Buffer{}); err == nil {
		t.Error("a total without a single passed test succeeded")
	}
}

func TestStepRunsTheCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "step.json")
	script := `echo '{"Action":"run","Package":"p","Test":"A"}'; echo '{"Action":"pass","Package":"p","Test":"A"}'
		echo '{"Action":"pass","Package":"p"}'; exit `
	if err := run([]string{"step", "-into", file, "--", "sh", "-c", script + "0"}, &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
	if err := run([]string{"step", "-into", file, "--", "sh", "-c", script + "3"}, &bytes.Buffer{}); !errors.Is(err, errFailed) {
		t.Errorf("a failing command: got %v", err)
	}
	sum, err := load(file)
	if err != nil || sum.Passed != 1 || len(sum.Failed) != 1 {
		t.Errorf("saved %+v, %v", sum, err)
	}
}
