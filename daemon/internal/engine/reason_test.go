package engine

import "testing"

func TestCloseSaysWhatWasCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		step func(begun chan<- struct{}) step
		want string
	}{
		"in the middle":  {hanging, "the model's answer was cut off: the daemon is stopping"},
		"before a piece": {silent, "the model had not begun to answer yet: the daemon is stopping"},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := newHouse(t, c.step(begun))
			a := h.submit(Submission{})
			<-begun
			if err := h.engine.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if errs := h.entries(a.Run.ID, "log://turn_1/error/"); len(errs) != 1 || errs[0].Body != c.want {
				t.Errorf("the failure says %+v", errs)
			}
			h.check(a.Run.ID)
		})
	}
}
