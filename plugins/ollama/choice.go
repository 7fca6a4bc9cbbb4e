package main

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// sized is a model and its parameters in billions; +Inf is unknown.
type sized struct {
	sdk.Model
	billions float64
}

// choiceOrder puts the model to take first: those that can call tools, then
// those of which it is not known, then the rest; among equals the smallest, for
// it answers soonest, and one of unknown size last.
func choiceOrder(list []sized) []sdk.Model {
	slices.SortStableFunc(list, func(a, b sized) int {
		return cmp.Or(cmp.Compare(toolRank(a.Tools), toolRank(b.Tools)), cmp.Compare(a.billions, b.billions))
	})
	out := make([]sdk.Model, 0, len(list))
	for _, m := range list {
		out = append(out, m.Model)
	}
	return out
}

func toolRank(able *bool) int {
	switch {
	case able == nil:
		return 1
	case *able:
		return 0
	default:
		return 2
	}
}

// parseSize reads a parameter size: "8.0B", "334M", "1.5T", "8x7B" (a mixture
// counts with all its experts: 56), else +Inf.
func parseSize(s string) float64 {
	s = strings.ToUpper(strings.TrimSpace(s))
	number := strings.TrimRight(s, "KMBT")
	size, ok := map[string]float64{"K": 1e-6, "M": 1e-3, "B": 1, "T": 1e3}[s[len(number):]]
	if !ok {
		return math.Inf(1)
	}
	for _, factor := range strings.Split(number, "X") {
		n, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
		if err != nil || n <= 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return math.Inf(1)
		}
		size *= n
	}
	return size
}

// chats leaves out models that only embed. Capabilities decide where the
// server tells them; an old one tells no more than family and name.
func chats(name string, families, capabilities []string) bool {
	if capabilities != nil {
		return slices.Contains(capabilities, "completion")
	}
	if slices.Contains(families, "bert") || slices.Contains(families, "nomic-bert") {
		return false
	}
	return !strings.Contains(strings.ToLower(name), "embed")
}
