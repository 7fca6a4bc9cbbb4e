package view

import (
	"math"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Ratios are what servers count for each token of an estimate, by model. The zero value has seen none.
type Ratios struct {
	mu sync.Mutex
	of map[string]float64
}

// Counted is what a server counted for each token of a prompt that was estimated, uncalibrated, at raw tokens, to a thousandth. 0 is
// that its usage says nothing, or cannot be true.
func Counted(raw int, usage sdk.Usage) float64 {
	if usage.Prompt <= 0 || raw < 100 {
		return 0
	}
	// An estimate that is far too low is the dangerous one: a server that
	// counts only what it had not cached must not pull it down.
	return math.Ceil(min(max(float64(usage.Prompt)/float64(raw), 0.5), 4)*1000) / 1000
}

// Set has the estimates of a model be by a ratio that was observed before.
func (r *Ratios) Set(model string, ratio float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]float64{}
	}
	r.of[model] = ratio
}

// Of is the ratio of a model; 1 is one of which nothing was reported.
func (r *Ratios) Of(model string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ratio, ok := r.of[model]; ok {
		return ratio
	}
	return 1
}

// Scaled is an estimate by a ratio.
func Scaled(raw int, ratio float64) int { return int(math.Ceil(float64(raw) * ratio)) }
