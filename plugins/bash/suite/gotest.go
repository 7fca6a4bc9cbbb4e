package suite

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// goTest is one test of Go while its output is read.
type goTest struct {
	output   strings.Builder
	ended    string // pass, fail or skip
	children bool
	below    bool // one of its children failed
}

// goPackage is one package of Go, with its tests in the order in which they began.
type goPackage struct {
	output strings.Builder
	tests  map[string]*goTest
	names  []string
	failed bool
	build  string // the package whose build failed
}

// goEvent is a line of `go test -json`.
type goEvent struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// goEvents reads `go test -json`. A test with others below it is counted by those.
func goEvents() reader {
	packages, builds := map[string]*goPackage{}, map[string]*strings.Builder{}
	var order []string
	var around []byte // the end of what is no event
	seen := false
	take := func(_ []string, l line) {
		e := goEventOf(l.text)
		if e == nil {
			if around = append(append(around, sdk.Tail(l.text, mostTail)...), '\n'); len(around) > 4*mostTail {
				around = append(around[:0], around[len(around)-mostTail:]...)
			}
			return
		}
		seen = true
		if e.ImportPath != "" {
			if builds[e.ImportPath] == nil {
				builds[e.ImportPath] = &strings.Builder{}
			}
			bounded(builds[e.ImportPath], e.Output)
			return
		}
		p := packages[e.Package]
		if p == nil {
			p = &goPackage{tests: map[string]*goTest{}}
			packages[e.Package], order = p, append(order, e.Package)
		}
		p.take(e)
	}
	return reader{[]rule{{take: take}}, func() Count {
		if !seen {
			return Count{}
		}
		var c Count
		var text strings.Builder
		for _, name := range order {
			p := packages[name]
			built := ""
			if b := builds[p.build]; b != nil {
				built = b.String()
			}
			p.count(&c, name, built, &text)
		}
		c.Text = strings.TrimSpace(text.String() + string(around))
		return c
	}}
}

// goEventOf is the event of Go that a line is, or nothing.
func goEventOf(text string) *goEvent {
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return nil
	}
	e := new(goEvent)
	if json.Unmarshal([]byte(text), e) != nil || e.Action == "" || e.Package+e.ImportPath == "" {
		return nil
	}
	return e
}

// take takes one event of the package.
func (p *goPackage) take(e *goEvent) {
	if e.Test == "" {
		switch e.Action {
		case "output":
			bounded(&p.output, e.Output)
		case "fail":
			p.failed, p.build = true, e.FailedBuild
		}
		return
	}
	t := p.test(e.Test)
	switch e.Action {
	case "output":
		bounded(&t.output, e.Output)
	case "pass", "fail", "skip":
		t.ended = e.Action
	}
}

// test is one of the package's, which its name makes a child of another.
func (p *goPackage) test(name string) *goTest {
	t := p.tests[name]
	if t == nil {
		t = &goTest{}
		p.tests[name], p.names = t, append(p.names, name)
	}
	return t
}

// mostAbove is how many levels above a test are looked for.
const mostAbove = 64

// above is the nearest test above one, or nothing.
func (p *goPackage) above(name string) *goTest {
	i := len(name)
	for range mostAbove { // a name may be an output of slashes
		if i = strings.LastIndexByte(name[:i], '/'); i <= 0 {
			return nil
		}
		if t := p.tests[name[:i]]; t != nil {
			return t
		}
	}
	return nil
}

// count adds the tests of the package. One that failed by none of its tests counts as one: it did not compile, or its
// process ended.
func (p *goPackage) count(c *Count, name, built string, text *strings.Builder) {
	for i := len(p.names) - 1; i >= 0; i-- { // children come behind
		child := p.names[i]
		if t := p.above(child); t != nil {
			t.children = true
			t.below = t.below || p.tests[child].ended == "fail" || p.tests[child].below
		}
	}
	failed := c.Failed
	for _, test := range p.names {
		switch t := p.tests[test]; {
		case t.ended == "fail" && !t.below, t.ended == "" && p.failed && !t.children:
			c.Failed++
			c.failure(name+" "+test, goSaid(t.output.String()))
			bounded(text, t.output.String())
		case t.children:
		case t.ended == "pass":
			c.Passed++
		case t.ended == "skip":
			c.Skipped++
		}
	}
	if p.failed && c.Failed == failed {
		c.Failed++
		c.failure(name, built+goSaid(p.output.String()))
	}
	bounded(text, built+p.output.String())
}

// goSaid is what a test printed, without what says that it began.
func goSaid(output string) string {
	var kept []string
	for line := range strings.Lines(output) {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "===":
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// bounded writes what still fits of a text.
func bounded(to *strings.Builder, text string) {
	const most = 1 << 20
	to.WriteString(text[:min(len(text), max(0, most-to.Len()))])
}

var (
	goSpeaks  = formOf("=", `^=== (?:RUN|CONT|NAME) +(\S+)$`)
	goEnd     = formOf("-", `^ *--- (PASS|FAIL|SKIP): (\S+) \(`)
	goPassed  = formOf("o", `^ok  \t(\S+)\t`)
	goFailed  = formOf("F", `^FAIL\t(\S+)(\t| \[)`)
	goNothing = "[no tests to run]"
)

// goText reads `go test` without -json: its packages are counted where it does not name its tests (-v).
func goText() reader {
	p := &goPackage{tests: map[string]*goTest{}}
	var c Count
	var speaks *goTest // with -v, whose lines come
	ended := func(name string, failed bool) {
		if len(p.names) == 0 && !failed {
			c.Passed++
		}
		p.failed = failed
		p.count(&c, name, "", &strings.Builder{})
		p, speaks = &goPackage{tests: map[string]*goTest{}}, nil
	}
	return reader{[]rule{
		{goSpeaks, func(m []string, _ line) { speaks = p.test(m[1]) }},
		{goEnd, func(m []string, l line) {
			t := p.test(m[2])
			t.ended = strings.ToLower(m[1])
			if speaks = nil; t.ended == "fail" && t.output.Len() == 0 {
				bounded(&t.output, block(l.rest, goEnds))
			}
		}},
		{goPassed, func(m []string, l line) {
			if !strings.Contains(l.text, goNothing) {
				ended(m[1], false)
			}
		}},
		{goFailed, func(m []string, _ line) { ended(m[1], true) }},
		{form{}, func(_ []string, l line) {
			if speaks != nil && !goEnds(l) {
				bounded(&speaks.output, l.text)
				bounded(&speaks.output, "\n")
			}
		}},
	}, func() Count { return c }}
}

// goEnds reports whether a line of `go test` ends what a test printed.
func goEnds(l line) bool {
	return goEnd.is(l) || l.text == "FAIL" || l.text == "PASS" || goPassed.is(l) || goFailed.is(l) || strings.HasPrefix(l.text, "=== ")
}

// Live is what people see while lines come: of the events of Go what packages print and what does not compile, and of
// all else the lines themselves.
func Live(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		switch e := goEventOf(strings.TrimRight(line, "\r\n")); {
		case e == nil:
			b.WriteString(line)
		case e.Test == "":
			b.WriteString(e.Output)
		}
	}
	return b.String()
}
