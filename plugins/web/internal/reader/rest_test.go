package reader

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestTakeMemory: what is taken is the allocator's to give, and none of it is back with the system.
func TestTakeMemory(t *testing.T) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	defer debug.SetMemoryLimit(limit)
	defer debug.SetGCPercent(percent)
	rest() // as a reader does, so that what is free is kept
	debug.FreeOSMemory()
	takeMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if free := m.HeapIdle - m.HeapReleased; free < taken*9/10 {
		t.Errorf("%d bytes are free, of %d that were taken", free, taken)
	}
}
