package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An event is one line of `go test -json`, as `go doc test2json` describes it. Build output has an ImportPath
// and no Package.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// A unit is a test, or with an empty test name the package itself, while its events come in.
type unit struct {
	pkg, test string
	output    []string
	outcome   string // pass, fail, skip; empty while it runs
	parent    bool   // has subtests: those are counted in its stead
	badChild  bool   // one of them failed
}

func (u *unit) name() string {
	if u.test == "" {
		return u.pkg
	}
	return u.pkg + "." + u.test
}

// A tally follows the events of one step.
type tally struct {
	step   string
	out    io.Writer
	units  map[string]*unit
	order  []*unit
	builds map[string][]string // compiler output by import path
	sum    summary
}

func newTally(step string, out io.Writer) *tally {
	return &tally{step: step, out: out, units: map[string]*unit{}, builds: map[string][]string{}}
}

// read takes events until the input ends, and says what is still running whenever nothing was said for a while.
func (t *tally) read(in io.Reader, quiet time.Duration) error {
	lines := make(chan []byte)
	var scanErr error
	go func() {
		defer close(lines)
		reader := bufio.NewReaderSize(in, 1<<20)
		for {
			line, err := reader.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				if err != io.EOF {
					scanErr = fmt.Errorf("read test events: %w", err)
				}
				return
			}
		}
	}()
	ticker := time.NewTicker(quiet)
	defer ticker.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return scanErr
			}
			if t.line(line) {
				ticker.Reset(quiet)
			}
		case <-ticker.C:
			t.progress()
		}
	}
}

// line takes one line of input and reports whether it printed something. What is no event is passed on.
func (t *tally) line(line []byte) bool {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		fmt.Fprintf(t.out, "%s", line)
		return true
	}
	switch e.Action {
	case "build-output":
		t.builds[e.ImportPath] = append(t.builds[e.ImportPath], e.Output)
	case "run":
		t.unit(e)
	case "output":
		u := t.unit(e)
		u.output = append(u.output, e.Output)
	case "pass", "fail", "skip":
		u := t.unit(e)
		u.outcome = e.Action
		if e.Test == "" {
			t.closePackage(u, e)
			return true
		}
	}
	return false
}

// unit finds or starts what an event is about, and tells the parents of a subtest.
func (t *tally) unit(e event) *unit {
	key := e.Package + "." + e.Test
	u := t.units[key]
	if u == nil {
		u = &unit{pkg: e.Package, test: e.Test}
		t.units[key] = u
		t.order = append(t.order, u)
		if parent := t.parent(u); parent != nil {
			parent.parent = true
		}
	}
	if e.Action == "fail" {
		for p := t.parent(u); p != nil; p = t.parent(p) {
			p.badChild = true
		}
	}
	return u
}

func (t *tally) parent(u *unit) *unit {
	i := strings.LastIndex(u.test, "/")
	if i < 0 {
		return nil
	}
	return t.units[u.pkg+"."+u.test[:i]]
}

// closePackage counts a package's tests once it is done, and prints one line for it, with the output of what failed.
func (t *tally) closePackage(pkg *unit, e event) {
	before := t.sum
	failed := false
	for _, u := range t.order {
		if u.pkg != pkg.pkg || u.test == "" {
			continue
		}
		if u.outcome == "" { // the test process ended under it
			u.outcome = "fail"
		}
		failed = t.count(u) || failed
	}
	t.order = slices.DeleteFunc(t.order, func(u *unit) bool { return u.pkg == pkg.pkg })
	if pkg.outcome == "fail" && !failed {
		reason := "failed outside of its tests"
		if e.FailedBuild != "" {
			reason = "does not build"
			pkg.output = append(t.builds[e.FailedBuild], pkg.output...)
		}
		t.fail(pkg, reason)
		failed = true
	}
	ran := t.sum.Passed - before.Passed + len(t.sum.Failed) - len(before.Failed) + len(t.sum.Skipped) - len(before.Skipped)
	switch {
	case failed:
		fmt.Fprintf(t.out, "FAIL  %s\n", pkg.pkg)
	case ran == 0:
		fmt.Fprintf(t.out, " --   %s (no tests)\n", pkg.pkg)
	case strings.Contains(strings.Join(pkg.output, ""), "\t(cached)"):
		fmt.Fprintf(t.out, " ok   %s (%d, as before)\n", pkg.pkg, ran)
	default:
		fmt.Fprintf(t.out, " ok   %s (%d, %.1fs)\n", pkg.pkg, ran, e.Elapsed)
	}
}

// count puts one finished test into the sum and reports whether it failed. A test with subtests counts only when
// it failed although none of them did.
func (t *tally) count(u *unit) bool {
	switch {
	case u.outcome == "fail" && u.badChild:
		fmt.Fprint(t.out, strings.Join(u.output, ""))
		return true
	case u.outcome == "fail":
		t.fail(u, "failed")
		return true
	case u.outcome == "skip":
		t.sum.Skipped = append(t.sum.Skipped, result{u.name(), skipReason(u.output)})
	case !u.parent:
		t.sum.Passed++
		t.sum.Names = append(t.sum.Names, u.name())
	}
	return false
}

func (t *tally) fail(u *unit, reason string) {
	fmt.Fprintf(t.out, "---- %s\n%s", u.name(), strings.Join(u.output, ""))
	t.sum.Failed = append(t.sum.Failed, result{u.name(), reason})
}

// progress names what runs, so that a long step is never silent.
func (t *tally) progress() {
	var running []string
	for _, u := range t.order {
		if u.test != "" && u.outcome == "" && !u.parent {
			running = append(running, u.name())
		}
	}
	if len(running) == 0 {
		fmt.Fprintf(t.out, "      %s: compiling, which takes minutes the first time\n", t.step)
		return
	}
	fmt.Fprintf(t.out, "      %s: running %s\n", t.step, strings.Join(running[:min(len(running), 3)], ", "))
}

// finish returns the counts. A command that failed with no test to blame is a failure of its own.
func (t *tally) finish(commandErr error) summary {
	if commandErr != nil && len(t.sum.Failed) == 0 {
		t.sum.Failed = append(t.sum.Failed, result{t.step, "the command failed: " + commandErr.Error()})
	}
	return t.sum
}

var (
	framing = regexp.MustCompile(`^\s*(=== |--- )`)
	origin  = regexp.MustCompile(`^[\w.-]+\.go:\d+: `)
)

// skipReason is what a test last said before it skipped, without the file and line in front of it.
func skipReason(output []string) string {
	var said []string
	for _, line := range strings.Split(strings.Join(output, ""), "\n") {
		if line == "" || framing.MatchString(line) {
			continue
		}
		text := strings.TrimSpace(line)
		if origin.MatchString(text) {
			said = said[:0]
			text = origin.ReplaceAllString(text, "")
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}
