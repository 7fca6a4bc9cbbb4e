//go:build race

package host

// Under the race detector a call takes ten times as long: a tenth of the calls
// over a tenth of the swaps meets the same interleavings.
const (
	callsOverSwaps = 10_000
	swapsUnderLoad = 10
)
