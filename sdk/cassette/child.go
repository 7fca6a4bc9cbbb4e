package cassette

import (
	"fmt"
	"slices"
)

// Child is the conversation of another agent, to which a call of a step gave a task. Who plays a cassette plays it in
// the place of that agent's model: without it that would be asked.
type Child struct {
	Call     int       `json:"call"` // which one of the step, counted from 0
	Cassette *Cassette `json:"cassette"`
}

// ChildOf is the cassette of the work that a call of a step began, both counted from 0; nil where there is none.
func (c *Cassette) ChildOf(step, call int) *Cassette {
	if step < 0 || step >= len(c.Steps) {
		return nil
	}
	children := c.Steps[step].Children
	if i := slices.IndexFunc(children, func(x Child) bool { return x.Call == call }); i >= 0 {
		return children[i].Cassette
	}
	return nil
}

// eachChild calls do with the cassettes of a step's children, until it fails; the error says whose it is.
func (s *Step) eachChild(do func(*Cassette) error) error {
	for _, x := range s.Children {
		if err := do(x.Cassette); err != nil {
			return fmt.Errorf("the child of call %d, %w", x.Call+1, err)
		}
	}
	return nil
}

func (s *Step) checkChildren() error {
	next := 0
	for i, x := range s.Children {
		switch {
		case x.Cassette == nil:
			return fmt.Errorf("child %d: the cassette is missing", i+1)
		case x.Call < next:
			return fmt.Errorf("child %d: its call is %d; each call has one child at most, and they stand in the order of the calls, which are counted from 0", i+1, x.Call)
		}
		next = x.Call + 1
	}
	return s.eachChild((*Cassette).check)
}
