//go:build !race

package host

// callsOverSwaps and swapsUnderLoad are what TestSwapsLoseNoCall does.
const (
	callsOverSwaps = 100_000
	swapsUnderLoad = 100
)
