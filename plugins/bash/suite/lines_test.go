package suite

import (
	"runtime"
	"strings"
	"testing"
)

// TestReadIsLinear: what reading takes grows with an output as the output does, and by little more than a copy of it,
// whatever its lines are. Allocations are counted, for time is nobody's to promise.
func TestReadIsLinear(t *testing.T) {
	const size = 1 << 20
	for name, line := range map[string]string{
		"empty":    "\n",
		"short":    "x\n",
		"spaces":   strings.Repeat(" ", 79) + "\n",
		"one line": "x",
		"brackets": "{\n",
		"coloured": "\x1b[1mx\x1b[0m\n",
		"escapes":  "\x1b[",
		"returns":  "x\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			printed := strings.Repeat(line, size/len(line))
			if got := allocated(func() { Read(Configured, printed) }); got > 3*size {
				t.Errorf("%d bytes of output took %d of memory", len(printed), got)
			}
		})
	}
}

// TestFailuresAreReadOnce: the text of a failure that would not be told is not looked for.
func TestFailuresAreReadOnce(t *testing.T) {
	looked := 0
	var c Count
	for range 10 * mostFailures {
		c.failureUntil("a", "x\ny", func(line) bool { looked++; return false })
	}
	if looked != 2*mostFailures {
		t.Errorf("%d lines were looked at", looked)
	}
}

// TestDeepNames: a test is below the nearest one that there is, and a name that is nothing but slashes is not looked
// through to its end.
func TestDeepNames(t *testing.T) {
	p := goPackage{tests: map[string]*goTest{}}
	top := p.test("TestA")
	if p.above("TestA/b/c") != top || p.above("TestA") != nil || p.above("TestB/b") != nil {
		t.Error("the nearest test above one is another")
	}
	if p.above("TestA"+strings.Repeat("/x", mostAbove+1)) != nil {
		t.Error("it was looked for on every level")
	}
}

// allocated is how many bytes fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
