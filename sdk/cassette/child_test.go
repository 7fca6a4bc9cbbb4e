package cassette

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// withChild is a cassette of one step, whose call n has a child.
func withChild(n int, child *Cassette) *Cassette {
	c := &Cassette{Format: Format, Model: "m", Steps: []Step{NewStep([]sdk.Message{user("go")}, said("done"), nil)}}
	c.Steps[0].Children = []Child{{Call: n, Cassette: child}}
	return c
}

// TestChildrenAreKept: what a cassette has of children, and of theirs, is read as it was written.
func TestChildrenAreKept(t *testing.T) {
	raw, err := withChild(1, withChild(0, &Cassette{Format: Format, Model: "deepest", Steps: withChild(0, nil).Steps[:1:1]})).Encode()
	if err == nil {
		t.Errorf("a child without a cassette is written: %s", raw)
	}
	deepest, _ := recorded(t)
	if raw, err = withChild(1, withChild(0, deepest)).Encode(); err != nil {
		t.Fatal(err)
	}
	c, err := Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.ChildOf(0, 1).ChildOf(0, 0); got == nil || len(got.Steps) != len(deepest.Steps) {
		t.Errorf("read was %+v", got)
	}
	for _, at := range [][2]int{{0, 0}, {1, 1}, {-1, 1}, {0, 2}} {
		if c.ChildOf(at[0], at[1]) != nil {
			t.Errorf("call %d of step %d has a child", at[1], at[0])
		}
	}
	if again, err := c.Encode(); err != nil || !bytes.Equal(again, raw) {
		t.Errorf("written again it is another: %v\n%s\n%s", err, raw, again)
	}
}

// TestChildrenAreChecked: they are held to what every cassette is held to, and the error says whose it is.
func TestChildrenAreChecked(t *testing.T) {
	whole := withChild(0, &Cassette{Format: Format, Model: "m", Steps: []Step{NewStep([]sdk.Message{user("go")}, said("done"), nil)}})
	twice := withChild(2, whole)
	twice.Steps[0].Children = append(twice.Steps[0].Children, twice.Steps[0].Children...)
	for says, c := range map[string]*Cassette{
		"step 1, child 1: the cassette is missing":                                               withChild(0, nil),
		"step 1, child 1: its call is -1":                                                        withChild(-1, whole),
		"step 1, child 2: its call is 2; each call has one child":                                twice,
		"step 1, the child of call 4, there are no steps":                                        withChild(3, &Cassette{Format: Format, Model: "m"}),
		"step 1, the child of call 1, step 1, the child of call 3, step 1, child 1: its call is": withChild(0, withChild(2, withChild(-5, whole))),
	} {
		if _, err := c.Encode(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v lacks %q", err, says)
		}
	}
}

// TestStrictReachesChildren: their results count as well, and one that a child's cassette lacks is told.
func TestStrictReachesChildren(t *testing.T) {
	child, _ := recorded(t)
	c := withChild(0, child)
	if err := c.Strict(); err != nil {
		t.Fatal(err)
	}
	if r := c.ChildOf(0, 0).Steps[1].Request[1].Result; r.Any || r.Exact == nil || *r.Exact != "12:00" {
		t.Errorf("the result of a child is %+v", r)
	}
	lacks, err := Read(strings.NewReader(twoSteps))
	if err != nil {
		t.Fatal(err)
	}
	if err := withChild(0, lacks).Strict(); err == nil || !strings.Contains(err.Error(), "step 1, the child of call 1, step 2, request message 2") {
		t.Errorf("error %v", err)
	}
}
