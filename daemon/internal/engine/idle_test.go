package engine

import (
	"fmt"
	"runtime"
	"testing"
)

// TestIdleRunsCostNothing: what is kept of a run goes when the run rests.
func TestIdleRunsCostNothing(t *testing.T) {
	h := newHouse(t)
	work := func(from, to int) {
		for i := from; i < to; i++ {
			h.models.mu.Lock()
			h.models.steps, h.models.requests = []step{calls(numbered("read", i))}, nil
			h.models.mu.Unlock()
			h.run(Submission{Run: fmt.Sprintf("r%d", i)})
		}
		h.untilIdle()
		h.store.setRefuse(nil)
		h.tools.made = nil
	}
	work(0, 20)
	memory, routines := resting()
	work(20, 120)
	grown, more := resting()
	if per := (int64(grown) - int64(memory)) / 100; per > 5<<10 {
		t.Errorf("an idle run costs %d bytes", per)
	}
	if more > routines+20 {
		t.Errorf("%d goroutines, %d before", more, routines)
	}
	e := h.engine
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(e.books)+len(e.workers)+e.guards.Watched() > 0 {
		t.Errorf("%d books, %d workers and %d guarded loops are left", len(e.books), len(e.workers), e.guards.Watched())
	}
}

func resting() (heap uint64, routines int) {
	for range 3 { // finalizers and pools need more than one
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}
