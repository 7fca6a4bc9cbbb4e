package sdk

import (
	"math/rand/v2"
	"time"
)

// Jittered spreads a wait by up to a fifth to both sides, so that what failed together does
// not come back together.
func Jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
